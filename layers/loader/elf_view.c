#include "layers/loader/elf_view.h"

#include "layers/loader/kernel.h"
#include "layers/loader/text.h"

#define PAGE_BYTES     4096u /* this divides the page size of every system */
#define PAGES_KEPT     64u
#define PREFIX_BYTES   8      /* if a name has another prefix, elf_is_runtime_name() reads fewer bytes of it */
#define VERSIONS_MOST  4096   /* maximum number of versions that are checked */
#define VERSION_HIDDEN 0x8000 /* in a DT_VERSYM entry: only references to this version are bound to the symbol */

struct gnu_hash {
    uint32_t buckets, first, filters, shift;
};

/* numbers of pages that were found to be readable; page n is in entry n % PAGES_KEPT */
static uintptr_t pages_there[PAGES_KEPT];

void elf_view_forget_pages(void)
{
    for (unsigned i = 0; i < PAGES_KEPT; i++)
        pages_there[i] = 0;
}

static bool elf_page_is_there(uintptr_t page)
{
    uintptr_t *kept = &pages_there[page % PAGES_KEPT];
    if (*kept != page && kernel_is_readable(page * PAGE_BYTES))
        *kept = page;
    return *kept == page;
}

/* Returns true if the bytes can be read. For an object mapped by the loader, asks the kernel about each page,
 * because a mapping may extend beyond the end of its file. */
static bool elf_can_read(const struct elf_view *view, uintptr_t at, size_t bytes)
{
    if (at < PAGE_BYTES || at + bytes < at)
        return false;
    if (view->end)
        return at >= view->base && at + bytes <= view->end;
    for (uintptr_t page = at / PAGE_BYTES; page <= (at + bytes - 1) / PAGE_BYTES; page++)
        if (!elf_page_is_there(page))
            return false;
    return true;
}

/* Returns the address of an item in a table whose items have `bytes` bytes; NULL if it cannot be read. */
static const void *elf_table_item(const struct elf_view *view, uintptr_t table, uint64_t index, size_t bytes)
{
    uintptr_t at = table + index * bytes;
    return at % _Alignof(uint32_t) == 0 && elf_can_read(view, at, bytes) ? (const void *)at : NULL;
}

static const ElfW(Sym) * elf_symbol_of(const struct elf_view *view, uint32_t number)
{
    return elf_table_item(view, (uintptr_t)view->symbols, number, sizeof(ElfW(Sym)));
}

/* Returns a string from the string table; "" if the string does not end within readable memory. */
static const char *elf_string(const struct elf_view *view, uintptr_t place)
{
    uintptr_t begin = (uintptr_t)view->strings + place;
    for (uintptr_t at = begin; elf_can_read(view, at, 1); at++)
        if (!*(const char *)at)
            return (const char *)begin;
    return "";
}

/* Returns the address of a table; 0 if it is misaligned. In an object mapped by the loader, some entries are
 * already absolute addresses, others are as in the file. */
static uintptr_t elf_table_address(const struct elf_view *view, uintptr_t value, size_t alignment)
{
    uintptr_t at = value < view->base ? view->base + value : value;
    return at % alignment ? 0 : at;
}

static void elf_read_dynamic_entry(struct elf_view *view, const ElfW(Dyn) * entry)
{
    uintptr_t value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
    case DT_SYMTAB:
        view->symbols = (const ElfW(Sym) *)elf_table_address(view, value, _Alignof(ElfW(Sym)));
        break;
    case DT_STRTAB:
        view->strings = (const char *)elf_table_address(view, value, 1);
        break;
    case DT_GNU_HASH:
        view->gnu_hash = (const uint32_t *)elf_table_address(view, value, _Alignof(uint32_t));
        break;
    case DT_VERSYM:
        view->versions = elf_table_address(view, value, _Alignof(uint16_t));
        break;
    case DT_VERDEF:
        view->versions_defined = elf_table_address(view, value, 1);
        break;
    case DT_VERNEED:
        view->versions_needed = elf_table_address(view, value, 1);
        break;
    case DT_JMPREL:
        view->plt_relocations = elf_table_address(view, value, _Alignof(ElfW(Rela)));
        break;
    case DT_PLTRELSZ:
        view->plt_relocations_bytes = value;
        break;
    case DT_RELA:
        view->relocations = elf_table_address(view, value, _Alignof(ElfW(Rela)));
        break;
    case DT_RELASZ:
        view->relocations_bytes = value;
        break;
    case DT_RELACOUNT:
        view->relative_count = value;
        break;
    default:
        break;
    }
}

/* Reads at most `most` entries of the dynamic section. */
static void elf_read_dynamic_section(struct elf_view *view, const ElfW(Dyn) * entry, size_t most)
{
    for (size_t i = 0; i < most && entry[i].d_tag != DT_NULL; i++)
        elf_read_dynamic_entry(view, &entry[i]);
}

void elf_view_of_map(struct elf_view *view, const struct link_map *map)
{
    *view = (struct elf_view){.base = map->l_addr};
    if (map->l_ld)
        /* no limit is needed, because the loader has already read this section */
        elf_read_dynamic_section(view, map->l_ld, SIZE_MAX);
}

/* Returns true if the file has this many bytes at this offset, and the offset is aligned. */
static bool is_elf_file_part(const struct elf_view *view, uintptr_t offset, size_t bytes)
{
    size_t count = view->end - view->base;
    return offset <= count && bytes <= count - offset && (view->base + offset) % _Alignof(ElfW(Dyn)) == 0;
}

bool elf_view_of_file(struct elf_view *view, const void *bytes, size_t count)
{
    const ElfW(Ehdr) *header = bytes;
    *view = (struct elf_view){.base = (uintptr_t)bytes, .end = (uintptr_t)bytes + count};
    if (count < sizeof(*header) || header->e_ident[EI_MAG0] != ELFMAG0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_phentsize != sizeof(ElfW(Phdr)) ||
        !is_elf_file_part(view, header->e_phoff, header->e_phnum * sizeof(ElfW(Phdr))))
        return false;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)((uintptr_t)bytes + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        /* Symbol tables are in the first segment. Their addresses must equal their offsets in the file. */
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0 && segments[i].p_vaddr != 0)
            return false;
        if (segments[i].p_type == PT_DYNAMIC && is_elf_file_part(view, segments[i].p_offset, segments[i].p_filesz))
            elf_read_dynamic_section(view, (const ElfW(Dyn) *)((uintptr_t)bytes + segments[i].p_offset),
                                     segments[i].p_filesz / sizeof(ElfW(Dyn)));
    }
    return view->symbols && view->strings && view->gnu_hash;
}

static uint32_t elf_gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* Returns true if references without a version are bound to the symbol. */
static bool elf_is_default(const struct elf_view *view, uint32_t number)
{
    uintptr_t at = view->versions + number * sizeof(uint16_t);
    return !view->versions || !elf_can_read(view, at, sizeof(uint16_t)) || !(*(const uint16_t *)at & VERSION_HIDDEN);
}

/* only_default: passes over older versions. */
static const ElfW(Sym) * elf_find(const struct elf_view *view, const char *name, bool only_default)
{
    const struct gnu_hash *table = elf_table_item(view, (uintptr_t)view->gnu_hash, 0, sizeof(*table));
    if (!table || !table->buckets || !view->symbols || !view->strings)
        return NULL;
    uint32_t hash = elf_gnu_hash_of(name);
    uintptr_t buckets = (uintptr_t)(table + 1) + table->filters * sizeof(ElfW(Addr));
    uintptr_t chain = buckets + table->buckets * sizeof(uint32_t);
    const uint32_t *bucket = elf_table_item(view, buckets, hash % table->buckets, sizeof(*bucket)), *link;
    for (uint32_t at = bucket ? *bucket : 0; at >= table->first && at; at++) {
        if (!(link = elf_table_item(view, chain, at - table->first, sizeof(*link))))
            break;
        const ElfW(Sym) *symbol = (*link | 1) == (hash | 1) ? elf_symbol_of(view, at) : NULL;
        if (symbol && symbol->st_shndx != SHN_UNDEF && text_equal(elf_string(view, symbol->st_name), name) &&
            (!only_default || elf_is_default(view, at)))
            return symbol;
        if (*link & 1)
            break;
    }
    return NULL;
}

const ElfW(Sym) * elf_view_find(const struct elf_view *view, const char *name)
{
    return elf_find(view, name, false);
}

const ElfW(Sym) * elf_view_find_default(const struct elf_view *view, const char *name)
{
    return elf_find(view, name, true);
}

uintptr_t elf_view_function(const struct elf_view *view, const char *name)
{
    const ElfW(Sym) *symbol = elf_view_find(view, name);
    return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? view->base + symbol->st_value : 0;
}

bool elf_view_needs(const struct elf_view *view, const struct link_map *map, const char *library)
{
    for (const ElfW(Dyn) *entry = map->l_ld; view->strings && entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && text_equal(elf_string(view, entry->d_un.d_val), library))
            return true;
    return false;
}

const char *elf_view_dynamic_string(const struct elf_view *view, const struct link_map *map, int64_t tag)
{
    for (const ElfW(Dyn) *entry = map->l_ld; view->strings && entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return elf_string(view, entry->d_un.d_val);
    return "";
}

static bool elf_defines_version(const struct elf_view *view, const char *name)
{
    uintptr_t at = view->versions_defined;
    for (unsigned i = 0; at && i < VERSIONS_MOST; i++) {
        const ElfW(Verdef) *version = elf_table_item(view, at, 0, sizeof(*version));
        const ElfW(Verdaux) *first = version ? elf_table_item(view, at + version->vd_aux, 0, sizeof(*first)) : NULL;
        if (!first)
            return false;
        if (text_equal(elf_string(view, first->vda_name), name))
            return true;
        at = version->vd_next ? at + version->vd_next : 0;
    }
    return false;
}

/* Returns the first version that the runtime lacks. `at` is the list of the `count` versions that the object
 * needs from one file. Returns NULL if the runtime has them all. */
static const char *elf_lacks_version_of(const struct elf_view *runtime, const struct elf_view *needer, uintptr_t at,
                                        unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const ElfW(Vernaux) *version = elf_table_item(needer, at, 0, sizeof(*version));
        if (!version)
            return NULL;
        const char *name = elf_string(needer, version->vna_name);
        if (!(version->vna_flags & VER_FLG_WEAK) && !elf_defines_version(runtime, name))
            return name;
        at += version->vna_next;
    }
    return NULL;
}

/* Returns a version that the object needs from `library` and that the runtime lacks; NULL if there is none.
 * The loader rejects an object if the library lacks a version that the object names. */
static const char *elf_lacks_version(const struct elf_view *runtime, const struct elf_view *needer, const char *library)
{
    uintptr_t at = needer->versions_needed;
    for (unsigned i = 0; at && i < VERSIONS_MOST; i++) {
        const ElfW(Verneed) *file = elf_table_item(needer, at, 0, sizeof(*file));
        if (!file)
            return NULL;
        bool ours = text_equal(text_file_name(elf_string(needer, file->vn_file)), text_file_name(library));
        const char *name = ours ? elf_lacks_version_of(runtime, needer, at + file->vn_aux, file->vn_cnt) : NULL;
        if (name)
            return name;
        at = file->vn_next ? at + file->vn_next : 0;
    }
    return NULL;
}

static bool elf_is_runtime_name(const char *name)
{
    static const char *const beginnings[] = {"GOMP_", "GOACC_", "omp_", "__kmpc_", "kmp_"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (text_after(name, beginnings[i]))
            return true;
    return false;
}

static void elf_note_lack(struct elf_lack *lack, uint32_t symbol, const char *name)
{
    for (unsigned i = 0; i < lack->count; i++)
        if (lack->symbol[i] == symbol)
            return; /* there was an earlier relocation for this symbol */
    if (!lack->name)
        lack->name = name;
    if (lack->count < ELF_LACK_MOST)
        lack->symbol[lack->count++] = symbol;
}

/* Returns the name of a symbol that another object must define; "" for other symbols, and for names that do
 * not belong to an OpenMP runtime. */
static const char *elf_name_of_wanted_symbol(const struct elf_view *needer, uint32_t number)
{
    const ElfW(Sym) *symbol = elf_symbol_of(needer, number);
    if (!symbol || symbol->st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) != STB_GLOBAL)
        return "";
    uintptr_t name = (uintptr_t)needer->strings + symbol->st_name;
    if (elf_can_read(needer, name, PREFIX_BYTES) && !elf_is_runtime_name((const char *)name))
        return "";
    return elf_string(needer, symbol->st_name);
}

/* Adds to *lack the imported names that has() does not find. There is no table of imported symbols, but each
 * has a relocation. Weak symbols may be missing. */
static void elf_find_lacks(struct elf_lack *lack, const struct elf_view *needer, uintptr_t relocations, size_t bytes,
                           bool (*has)(const void *in, const char *name), const void *in)
{
    const ElfW(Rela) * relocation;
    for (size_t i = 0; i < bytes / sizeof(*relocation); i++) {
        if (!(relocation = elf_table_item(needer, relocations, i, sizeof(*relocation))))
            break;
        uint32_t number = (uint32_t)ELF64_R_SYM(relocation->r_info);
        const char *name = elf_name_of_wanted_symbol(needer, number);
        if (elf_is_runtime_name(name) && !has(in, name))
            elf_note_lack(lack, number, name);
    }
}

bool elf_view_unmet(const struct elf_view *needer, bool (*has)(const void *in, const char *name), const void *in,
                    struct elf_lack *lack)
{
    lack->name = NULL;
    lack->count = 0;
    if (!needer->symbols || !needer->strings)
        return false;
    size_t relative_bytes = needer->relative_count * sizeof(ElfW(Rela));
    elf_find_lacks(lack, needer, needer->plt_relocations, needer->plt_relocations_bytes, has, in);
    if (needer->relocations && needer->relative_count <= SIZE_MAX / sizeof(ElfW(Rela)) &&
        needer->relocations_bytes >= relative_bytes)
        elf_find_lacks(lack, needer, needer->relocations + relative_bytes, needer->relocations_bytes - relative_bytes,
                       has, in);
    return lack->name != NULL;
}

bool elf_view_unbound(const struct elf_view *needer, bool (*has)(const void *in, const char *name), const void *in)
{
    const ElfW(Rela) * relocation;
    for (size_t i = 0; needer->symbols && i < needer->plt_relocations_bytes / sizeof(*relocation); i++) {
        if (!(relocation = elf_table_item(needer, needer->plt_relocations, i, sizeof(*relocation))))
            break;
        const ElfW(Sym) *symbol = elf_symbol_of(needer, (uint32_t)ELF64_R_SYM(relocation->r_info));
        if (symbol && symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
            !has(in, elf_string(needer, symbol->st_name)))
            return true;
    }
    return false;
}

static bool elf_has_symbol(const void *runtime, const char *name)
{
    return elf_view_find(runtime, name) != NULL;
}

bool elf_view_lacks_version(const struct elf_view *runtime, const struct elf_view *needer, const char *library,
                            struct elf_lack *lack)
{
    lack->name = needer->symbols && needer->strings ? elf_lacks_version(runtime, needer, library) : NULL;
    lack->count = lack->name != NULL;
    return lack->name != NULL;
}

bool elf_view_lacks(const struct elf_view *runtime, const struct elf_view *needer, const char *library,
                    struct elf_lack *lack)
{
    return elf_view_unmet(needer, elf_has_symbol, runtime, lack) ||
           elf_view_lacks_version(runtime, needer, library, lack);
}
