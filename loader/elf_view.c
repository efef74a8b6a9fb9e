#include "loader/elf_view.h"

#include "loader/text.h"

/* The loader has made some of a mapped object's addresses absolute, and left others as they are in the file. */
static uintptr_t address(const struct elf_view *view, uintptr_t value)
{
    return value < view->base ? view->base + value : value;
}

static void read_dynamic(struct elf_view *view, const ElfW(Dyn) * entry)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        uintptr_t at = address(view, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            view->symbols = (const ElfW(Sym) *)at;
            break;
        case DT_STRTAB:
            view->strings = (const char *)at;
            break;
        case DT_GNU_HASH:
            view->gnu_hash = (const uint32_t *)at;
            break;
        case DT_VERSYM:
            view->versions = (const ElfW(Versym) *)at;
            break;
        case DT_VERDEF:
            view->versions_defined = at;
            break;
        case DT_VERNEED:
            view->versions_needed = at;
            break;
        case DT_JMPREL:
            view->plt_relocations = at;
            break;
        case DT_PLTRELSZ:
            view->plt_relocations_bytes = entry->d_un.d_val;
            break;
        case DT_RELA:
            view->relocations = at;
            break;
        case DT_RELASZ:
            view->relocations_bytes = entry->d_un.d_val;
            break;
        case DT_RELACOUNT:
            view->relative_count = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

void elf_view_of_map(struct elf_view *view, const struct link_map *map)
{
    *view = (struct elf_view){.base = map->l_addr};
    if (map->l_ld)
        read_dynamic(view, map->l_ld);
}

bool elf_view_of_file(struct elf_view *view, const void *bytes, size_t count)
{
    const ElfW(Ehdr) *header = bytes;
    *view = (struct elf_view){.base = (uintptr_t)bytes};
    if (count < sizeof(*header) || header->e_ident[EI_MAG0] != ELFMAG0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(ElfW(Phdr)) ||
        header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > count)
        return false;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)((uintptr_t)bytes + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        /* Tables of symbols lie in the first segment, where addresses are the file's offsets. */
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0 && segments[i].p_vaddr != 0)
            return false;
        if (segments[i].p_type == PT_DYNAMIC && segments[i].p_offset + segments[i].p_filesz <= count)
            read_dynamic(view, (const ElfW(Dyn) *)((uintptr_t)bytes + segments[i].p_offset));
    }
    return view->symbols && view->strings && view->gnu_hash;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

const ElfW(Sym) * elf_view_find(const struct elf_view *view, const char *name)
{
    if (!view->gnu_hash || !view->symbols || !view->strings)
        return NULL;
    uint32_t bucket_count = view->gnu_hash[0], first = view->gnu_hash[1], hash = hash_of(name);
    const uint32_t *buckets =
        view->gnu_hash + 4 + view->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = buckets + bucket_count;
    uint32_t at = bucket_count ? buckets[hash % bucket_count] : 0;
    for (; at >= first && at; at++) {
        uint32_t other = chain[at - first];
        const ElfW(Sym) *symbol = &view->symbols[at];
        if ((other | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            text_equal(view->strings + symbol->st_name, name))
            return symbol;
        if (other & 1)
            break;
    }
    return NULL;
}

bool elf_view_needs(const struct elf_view *view, const struct link_map *map, const char *library)
{
    for (const ElfW(Dyn) *entry = map->l_ld; view->strings && entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && text_equal(view->strings + entry->d_un.d_val, library))
            return true;
    return false;
}

static bool defines_version(const struct elf_view *view, const char *name)
{
    uintptr_t at = view->versions_defined;
    while (at) {
        const ElfW(Verdef) *version = (const ElfW(Verdef) *)at;
        const ElfW(Verdaux) *first = (const ElfW(Verdaux) *)(at + version->vd_aux);
        if (text_equal(view->strings + first->vda_name, name))
            return true;
        at = version->vd_next ? at + version->vd_next : 0;
    }
    return false;
}

/* The loader refuses an object that names a version which its library lacks. */
static const char *lacks_version(const struct elf_view *runtime, const struct elf_view *needer,
                                 const char *library)
{
    uintptr_t at = needer->versions_needed;
    while (at) {
        const ElfW(Verneed) *file = (const ElfW(Verneed) *)at;
        uintptr_t name_at = at + file->vn_aux;
        bool ours = text_equal(text_file_name(needer->strings + file->vn_file), text_file_name(library));
        for (unsigned i = 0; ours && i < file->vn_cnt; i++) {
            const ElfW(Vernaux) *version = (const ElfW(Vernaux) *)name_at;
            const char *name = needer->strings + version->vna_name;
            if (!(version->vna_flags & VER_FLG_WEAK) && !defines_version(runtime, name))
                return name;
            name_at += version->vna_next;
        }
        at = file->vn_next ? at + file->vn_next : 0;
    }
    return NULL;
}

static bool is_runtimes(const char *name)
{
    static const char *const beginnings[] = {"GOMP_", "GOACC_", "omp_", "__kmpc_", "kmp_"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (text_after(name, beginnings[i]))
            return true;
    return false;
}

static void note_lack(struct elf_lack *lack, uint32_t symbol, const char *name)
{
    for (unsigned i = 0; i < lack->count; i++)
        if (lack->symbol[i] == symbol)
            return; /* of which there is another relocation */
    if (!lack->name)
        lack->name = name;
    if (lack->count < ELF_LACK_MOST)
        lack->symbol[lack->count++] = symbol;
}

/* Symbols that a library needs have no table of their own, but a relocation each. Weak ones may be missing. */
static void find_lacks(struct elf_lack *lack, const struct elf_view *needer, uintptr_t relocations,
                       size_t bytes, bool (*has)(const void *in, const char *name), const void *in)
{
    const ElfW(Rela) *relocation = (const ElfW(Rela) *)relocations;
    for (size_t i = 0; relocations && i < bytes / sizeof(*relocation); i++) {
        uint32_t number = (uint32_t)ELF64_R_SYM(relocation[i].r_info);
        const ElfW(Sym) *symbol = &needer->symbols[number];
        const char *name = needer->strings + symbol->st_name;
        if (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
            is_runtimes(name) && !has(in, name))
            note_lack(lack, number, name);
    }
}

bool elf_view_unmet(const struct elf_view *needer, bool (*has)(const void *in, const char *name),
                    const void *in, struct elf_lack *lack)
{
    lack->name = NULL;
    lack->count = 0;
    if (!needer->symbols || !needer->strings)
        return false;
    size_t relative_bytes = needer->relative_count * sizeof(ElfW(Rela));
    find_lacks(lack, needer, needer->plt_relocations, needer->plt_relocations_bytes, has, in);
    if (needer->relocations && needer->relocations_bytes >= relative_bytes)
        find_lacks(lack, needer, needer->relocations + relative_bytes,
                   needer->relocations_bytes - relative_bytes, has, in);
    return lack->name != NULL;
}

static bool has_symbol(const void *runtime, const char *name)
{
    return elf_view_find(runtime, name) != NULL;
}

bool elf_view_lacks(const struct elf_view *runtime, const struct elf_view *needer, const char *library,
                    struct elf_lack *lack)
{
    if (elf_view_unmet(needer, has_symbol, runtime, lack))
        return true;
    if (needer->symbols && needer->strings)
        lack->name = lacks_version(runtime, needer, library);
    lack->count = lack->name != NULL;
    return lack->name != NULL;
}
