/* Reads the symbols of a library by its dynamic section. The library is either mapped by the loader or a file
 * in memory. It may be damaged; what cannot be read counts as empty. */
#ifndef BLAME_LAYERS_LOADER_ELF_VIEW_H
#define BLAME_LAYERS_LOADER_ELF_VIEW_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_view {
    uintptr_t base; /* address in memory minus link-time address */
    uintptr_t end;  /* end of the file in memory; 0 for an object that the loader has mapped */
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    uintptr_t versions, versions_defined, versions_needed; /* addresses of the tables; 0: none */
    uintptr_t plt_relocations, relocations;                /* addresses of arrays of ElfW(Rela); 0: none */
    size_t plt_relocations_bytes, relocations_bytes, relative_count;
};

/* Discards what is known about readable pages. We ask the kernel only once about each page, so this must be
 * called after objects may have been unmapped. [init] */
void elf_view_forget_pages(void);

/* Makes a view of an object that the loader has mapped. [init] */
void elf_view_of_map(struct elf_view *view, const struct link_map *map);

/* Makes a view of a file in memory. Returns false if it is not a library with a symbol table. [init] */
bool elf_view_of_file(struct elf_view *view, const void *bytes, size_t count);

/* Returns the object's definition of the name; NULL if there is none. [init] */
const ElfW(Sym) * elf_view_find(const struct elf_view *view, const char *name);

/* Returns the definition to which references without a version are bound; NULL if there is none. [init] */
const ElfW(Sym) * elf_view_find_default(const struct elf_view *view, const char *name);

/* Returns the address of the object's function of this name; 0 if there is none. [init] */
uintptr_t elf_view_function(const struct elf_view *view, const char *name);

/* Returns true if the object needs the library (DT_NEEDED). [init] */
bool elf_view_needs(const struct elf_view *view, const struct link_map *map, const char *library);

/* Returns the string that an entry of the object's dynamic section names; "" if there is no such entry. [init] */
const char *elf_view_dynamic_string(const struct elf_view *view, const struct link_map *map, int64_t tag);

#define ELF_LACK_MOST 64

/* What an OpenMP runtime does not have although an object needs it. */
struct elf_lack {
    const char *name; /* first missing symbol or version */
    unsigned count;   /* number of missing symbols or versions, at most ELF_LACK_MOST */
    uint32_t symbol[ELF_LACK_MOST];
};

/* Returns true if has() does not find all names of an OpenMP runtime that `needer` imports. [init] */
bool elf_view_unmet(const struct elf_view *needer, bool (*has)(const void *in, const char *name), const void *in,
                    struct elf_lack *lack);

/* Returns true if has() does not find a name that `needer` calls through its procedure linkage table. The loader ends
 * a process that binds such a call; it does so at the start only if it binds everything then. [init] */
bool elf_view_unbound(const struct elf_view *needer, bool (*has)(const void *in, const char *name), const void *in);

/* Returns true if `runtime` lacks a version that `needer` needs from `library`. [init] */
bool elf_view_lacks_version(const struct elf_view *runtime, const struct elf_view *needer, const char *library,
                            struct elf_lack *lack);

/* Returns true if `runtime` lacks something that `needer` needs from `library`: symbols, or if it has all
 * symbols, a version. [init] */
bool elf_view_lacks(const struct elf_view *runtime, const struct elf_view *needer, const char *library,
                    struct elf_lack *lack);

#endif
