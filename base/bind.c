/* The constructor runs before our imports are bound, so it must not call imported functions. It is compiled
 * with BIND_FLAGS (Makefile), so that the compiler adds no such calls; scripts/check-imports.py verifies
 * this. The only name that the constructor uses with the loader's binding is `_r_debug`, the loader's list of
 * objects. */
#include "base/bind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "base/kernel.h"

#if defined(__x86_64__)
#define RELOCATES_FUNCTION(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define RELOCATES_FUNCTION(type)                                                                                       \
    ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#endif

/* true if our own code is built with a sanitizer, whose versions of these functions must be kept */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||               \
    __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define BIND_SANITIZED true
#else
#define BIND_SANITIZED false
#endif

#define LIBRARIES_MOST 16
#define VERSION_MASK                                                                                                   \
    0x7fff /* mask for the version's number in a DT_VERSYM entry; the bit above it hides the symbol from references without a version */

/* A loaded object, and the tables of its dynamic section. */
struct object {
    const struct link_map *map;
    const char *strings;
    const ElfW(Sym) * symbols;
    const uint32_t *hash;      /* DT_GNU_HASH */
    const uint16_t *versions;  /* DT_VERSYM */
    uintptr_t defined, needed; /* DT_VERDEF, DT_VERNEED */
    uintptr_t relocations[2];  /* DT_RELA, DT_JMPREL */
    size_t relocation_bytes[2];
};

/* The object whose imports are being bound, and the libraries that may define those imports. */
struct import {
    struct object object;
    struct object from[LIBRARIES_MOST]; /* DT_NEEDED */
    unsigned count;
    uintptr_t sealed, sealed_end; /* pages that the loader made read-only after relocation (RELRO) */
    bool unsealed;
};

/* libc, and those of its functions that this file uses, looked up in libc's own tables. */
static struct {
    struct object object; /* libc itself */
    const struct link_map *first;
    int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    unsigned long (*auxiliary)(unsigned long);
} libc;

static const char *left; /* bind_left() */

/* A list of the objects in one namespace; `next` leads to the other namespaces (glibc 2.35 and later). */
struct debug_list {
    struct r_debug base;
    const struct debug_list *next;
};

static bool bind_texts_equal(const char *one, const char *other)
{
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

static bool bind_text_begins_with(const char *text, const char *beginning)
{
    while (*beginning && *text == *beginning)
        text++, beginning++;
    return !*beginning;
}

/* Returns the address for an entry of the dynamic section. The loader has turned some entries into absolute
 * addresses and left others as they are in the file. */
static uintptr_t bind_absolute(const struct link_map *map, uintptr_t value)
{
    return value < map->l_addr ? map->l_addr + value : value;
}

static void bind_read_dynamic(struct object *object, const ElfW(Dyn) * entry)
{
    uintptr_t value = entry->d_un.d_val, at = bind_absolute(object->map, value);
    switch (entry->d_tag) {
    case DT_STRTAB:
        object->strings = (const char *)at;
        break;
    case DT_SYMTAB:
        object->symbols = (const ElfW(Sym) *)at;
        break;
    case DT_GNU_HASH:
        object->hash = (const uint32_t *)at;
        break;
    case DT_VERSYM:
        object->versions = (const uint16_t *)at;
        break;
    case DT_VERDEF:
        object->defined = at;
        break;
    case DT_VERNEED:
        object->needed = at;
        break;
    case DT_RELA:
        object->relocations[0] = at;
        break;
    case DT_RELASZ:
        object->relocation_bytes[0] = value;
        break;
    case DT_JMPREL:
        object->relocations[1] = at;
        break;
    case DT_PLTRELSZ:
        object->relocation_bytes[1] = value;
        break;
    default:
        break;
    }
}

/* Reads an object's dynamic section. Returns false if it lacks a table that lookups need. */
static bool bind_read_object(struct object *object, const struct link_map *map)
{
    *object = (struct object){.map = map};
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        bind_read_dynamic(object, entry);
    return object->strings && object->symbols && object->hash;
}

static const char *bind_version_needed(const struct object *object, uint32_t symbol)
{
    unsigned number = object->versions ? object->versions[symbol] & VERSION_MASK : VER_NDX_GLOBAL;
    if (number <= VER_NDX_GLOBAL || !object->needed)
        return NULL;
    for (const ElfW(Verneed) *file = (const void *)object->needed;;
         file = (const void *)((uintptr_t)file + file->vn_next)) {
        const ElfW(Vernaux) *version = (const void *)((uintptr_t)file + file->vn_aux);
        for (unsigned i = 0; i < file->vn_cnt; i++, version = (const void *)((uintptr_t)version + version->vna_next))
            if ((version->vna_other & VERSION_MASK) == number)
                return object->strings + version->vna_name;
        if (!file->vn_next)
            return NULL;
    }
}

/* Returns true if a definition has the wanted version. NULL means the version to which references without a
 * version are bound. */
static bool bind_has_version(const struct object *object, uint32_t symbol, const char *wanted)
{
    unsigned entry = object->versions ? object->versions[symbol] : VER_NDX_GLOBAL, number = entry & VERSION_MASK;
    if (!wanted)
        return number == entry && number != VER_NDX_LOCAL;
    for (const ElfW(Verdef) *version = (const void *)object->defined; version && number > VER_NDX_GLOBAL;
         version = (const void *)((uintptr_t)version + version->vd_next)) {
        const ElfW(Verdaux) *first = (const void *)((uintptr_t)version + version->vd_aux);
        if ((version->vd_ndx & VERSION_MASK) == number)
            return bind_texts_equal(object->strings + first->vda_name, wanted);
        if (!version->vd_next)
            break;
    }
    return false;
}

/* Returns the object's definition of name@version; NULL if there is none. */
static const ElfW(Sym) * bind_find_symbol(const struct object *object, const char *name, const char *version)
{
    uint32_t buckets = object->hash[0], first = object->hash[1], filters = object->hash[2], hash = 5381;
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (uint8_t)*at;
    const uint32_t *bucket = object->hash + 4 + filters * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t symbol = buckets ? bucket[hash % buckets] : 0;
    for (; symbol >= first && symbol; symbol++) {
        const ElfW(Sym) *found = &object->symbols[symbol];
        if ((chain[symbol - first] | 1) == (hash | 1) && found->st_shndx != SHN_UNDEF &&
            bind_texts_equal(object->strings + found->st_name, name) && bind_has_version(object, symbol, version))
            return found;
        if (chain[symbol - first] & 1)
            break;
    }
    return NULL;
}

/* Returns the address of a function; 0 if the symbol is data. For an indirect function, calls the resolver,
 * to which it passes the processor's capabilities on aarch64. */
static uintptr_t bind_function_address(const struct object *object, const ElfW(Sym) * symbol)
{
    uintptr_t address = object->map->l_addr + symbol->st_value;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
        return address;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
        return 0;
    unsigned long can = libc.auxiliary(AT_HWCAP);
    const unsigned long argument[3] = {sizeof(argument), can, libc.auxiliary(AT_HWCAP2)};
    return ((uintptr_t (*)(unsigned long, const unsigned long *))address)(can | 1ul << 62, argument);
}

static void *bind_find_libc_function(const struct object *object, const char *name)
{
    const ElfW(Sym) *symbol = bind_find_symbol(object, name, NULL);
    return symbol ? (void *)bind_function_address(object, symbol) : NULL;
}

/* Returns the first object in the list of the namespace that contains this library, and stores the library
 * itself in *own. Returns NULL if no list contains it. */
static const struct link_map *bind_list_of_own(const struct link_map **own)
{
    const struct debug_list *list = (const struct debug_list *)&_r_debug;
    for (; list && list->base.r_version > 0; list = list->base.r_version > 1 ? list->next : NULL)
        for (const struct link_map *map = list->base.r_map; map; map = map->l_next)
            if (map->l_ld == _DYNAMIC) {
                *own = map;
                return list->base.r_map;
            }
    return NULL;
}

/* Returns the object's soname. It is all that is read of most objects. */
static const char *bind_soname(const struct link_map *map)
{
    uintptr_t strings = 0, soname = 0;
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        strings = entry->d_tag == DT_STRTAB ? bind_absolute(map, entry->d_un.d_ptr) : strings;
        soname = entry->d_tag == DT_SONAME ? entry->d_un.d_val : soname;
    }
    return strings && soname ? (const char *)strings + soname : "";
}

static bool bind_find_library(struct object *object, const struct link_map *first, const char *name)
{
    for (const struct link_map *map = first; map; map = map->l_next)
        if (bind_texts_equal(bind_soname(map), name) && bind_read_object(object, map))
            return true;
    return false;
}

static int bind_find_sealed(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    struct import *import = argument;
    const struct link_map *map = import->object.map;
    uintptr_t page = libc.auxiliary(AT_PAGESZ), begin = 0, end = 0;
    bool same = false;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum && info->dlpi_addr == map->l_addr; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_DYNAMIC)
            same = info->dlpi_addr + part->p_vaddr == (uintptr_t)map->l_ld;
        if (part->p_type == PT_GNU_RELRO) {
            begin = (info->dlpi_addr + part->p_vaddr) & -page;
            end = (info->dlpi_addr + part->p_vaddr + part->p_memsz) & -page;
        }
    }
    if (same) {
        import->sealed = begin;
        import->sealed_end = end;
    }
    return same;
}

static bool bind_protect_sealed_pages(const struct import *import, int protection)
{
    return kernel_call(SYS_mprotect, (long)import->sealed, (long)(import->sealed_end - import->sealed), protection, 0,
                       0, 0) == 0;
}

/* Makes the page of an import slot writable if necessary. Returns true if the slot can now be written. */
static bool bind_unseal_import_slot(struct import *import, uintptr_t slot)
{
    if (slot >= import->sealed && slot < import->sealed_end && !import->unsealed)
        return import->unsealed = bind_protect_sealed_pages(import, PROT_READ | PROT_WRITE);
    return true;
}

static bool bind_is_heap_function(const char *name)
{
    static const char names[][20] = {"malloc", "calloc", "realloc", "free", "malloc_usable_size"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (bind_texts_equal(name, names[i]))
            return true;
    return false;
}

/* Returns the object that defines import number `number`, among the libraries that the importing object
 * needs; NULL if there is none. */
static const struct object *bind_find_import(const struct import *import, uint32_t number,
                                             const ElfW(Sym) * *definition)
{
    const struct object *object = &import->object;
    const char *name = object->strings + object->symbols[number].st_name,
               *version = bind_version_needed(object, number);
    *definition = &object->symbols[number];
    if ((*definition)->st_shndx != SHN_UNDEF)
        return object;
    for (unsigned i = 0; i < import->count; i++)
        if ((*definition = bind_find_symbol(&import->from[i], name, version)))
            return &import->from[i];
    return NULL;
}

static void bind_relocation(struct import *import, const ElfW(Rela) * relocation)
{
    uint32_t number = (uint32_t)ELF64_R_SYM(relocation->r_info);
    const ElfW(Sym) *wanted = &import->object.symbols[number], *definition;
    const char *name = import->object.strings + wanted->st_name;
    if (!number || !RELOCATES_FUNCTION(ELF64_R_TYPE(relocation->r_info)) || bind_is_heap_function(name))
        return;
    const struct object *home = bind_find_import(import, number, &definition);
    if (!home) {
        if (ELF64_ST_BIND(wanted->st_info) != STB_WEAK)
            left = name;
        return;
    }
    uintptr_t *slot = (uintptr_t *)(import->object.map->l_addr + relocation->r_offset);
    uintptr_t function = bind_function_address(home, definition), value = function + (uintptr_t)relocation->r_addend;
    if (!function || *slot == value)
        return;
    if (bind_unseal_import_slot(import, (uintptr_t)slot))
        store_relaxed(slot, value);
    else
        left = name;
}

static void bind_object(const struct link_map *first, const struct link_map *map)
{
    static struct import import; /* static, because these 2 kB are too much for a small stack */
    import.count = 0;
    import.sealed = import.sealed_end = 0;
    import.unsealed = false;
    if (!bind_read_object(&import.object, map)) {
        left = "";
        return;
    }
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && import.count < LIBRARIES_MOST)
            import.count +=
                bind_find_library(&import.from[import.count], first, import.object.strings + entry->d_un.d_val);
    libc.iterate(bind_find_sealed, &import);
    for (unsigned table = 0; table < 2; table++) {
        const ElfW(Rela) *relocations = (const ElfW(Rela) *)import.object.relocations[table];
        for (size_t i = 0; i < import.object.relocation_bytes[table] / sizeof(*relocations); i++)
            bind_relocation(&import, &relocations[i]);
    }
    if (import.unsealed)
        bind_protect_sealed_pages(&import, PROT_READ);
}

/* Binds an object, and up to `depth` levels of the libraries that it needs and that come with it: libunwind
 * (two libraries, one of which needs the other) and Zydis. */
static void bind_with_libraries(const struct link_map *map, unsigned depth)
{
    struct object object, library;
    bind_object(libc.first, map);
    if (depth == 0 || !bind_read_object(&object, map))
        return;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const char *name = object.strings + (entry->d_tag == DT_NEEDED ? entry->d_un.d_val : 0);
        if ((bind_text_begins_with(name, "libunwind") || bind_text_begins_with(name, "libZydis")) &&
            bind_find_library(&library, libc.first, name))
            bind_with_libraries(library.map, depth - 1);
    }
}

__attribute__((constructor(101))) static void bind_own(void)
{
    const struct link_map *own = NULL, *first = BIND_SANITIZED ? NULL : bind_list_of_own(&own);
    if (BIND_SANITIZED || (own && own == _r_debug.r_map))
        return; /* this code is linked into a program (a test), which must use the program's own functions */
    if (first && bind_find_library(&libc.object, first, "libc.so.6")) {
        libc.first = first;
        libc.auxiliary = (unsigned long (*)(unsigned long))bind_find_libc_function(&libc.object, "getauxval");
        libc.iterate = (int (*)(int (*)(struct dl_phdr_info *, size_t, void *), void *))bind_find_libc_function(
            &libc.object, "dl_iterate_phdr");
    }
    if (libc.auxiliary && libc.iterate)
        bind_with_libraries(own, 2);
    else
        left = "";
}

const char *bind_left(void)
{
    return left;
}

void *bind_find_in_libc(const char *name)
{
    struct object loader;
    if (!libc.first)
        return dlsym(RTLD_DEFAULT, name);
    void *found = bind_find_libc_function(&libc.object, name);
    for (const struct link_map *map = libc.first; map && !found; map = map->l_next)
        if (bind_text_begins_with(bind_soname(map), "ld-linux") && bind_read_object(&loader, map))
            found = bind_find_libc_function(&loader, name);
    return found;
}
