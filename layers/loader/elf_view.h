/* The symbols of a library, from its dynamic section alone: mapped by the loader, or the bytes of its file.
 * An object may be damaged: what cannot be read counts as empty. */
#ifndef BLAME_LAYERS_LOADER_ELF_VIEW_H
#define BLAME_LAYERS_LOADER_ELF_VIEW_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_view {
    uintptr_t base; /* added to link-time addresses */
    uintptr_t end;  /* end of a file's bytes; 0: a mapped object */
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    uintptr_t versions_defined, versions_needed; /* addresses of tables, or 0 */
    uintptr_t plt_relocations, relocations;      /* addresses of ElfW(Rela)[], or 0 */
    size_t plt_relocations_bytes, relocations_bytes, relative_count;
};

/* Forgets which pages of mapped objects can be read. The kernel is asked once for each page, and again after
 * objects may have been unmapped. [init] */
void elf_view_forget_pages(void);

/* Makes the view of a mapped object. [init] */
void elf_view_of_map(struct elf_view *view, const struct link_map *map);

/* Makes the view of a whole file in memory. Returns false if the bytes are not a library with a symbol table.
 * [init] */
bool elf_view_of_file(struct elf_view *view, const void *bytes, size_t count);

/* Returns the definition of that name, or NULL. [init] */
const ElfW(Sym) * elf_view_find(const struct elf_view *view, const char *name);

/* Returns whether the object names that library among those that it needs. [init] */
bool elf_view_needs(const struct elf_view *view, const struct link_map *map, const char *library);

#define ELF_LACK_MOST 64

/* What an object asks of an OpenMP runtime and does not get. */
struct elf_lack {
    const char *name; /* the first of them: a symbol or a version */
    unsigned count;   /* counted up to ELF_LACK_MOST */
    uint32_t symbol[ELF_LACK_MOST];
};

/* Returns whether has() does not find some name that `needer` asks of an OpenMP runtime. [init] */
bool elf_view_unmet(const struct elf_view *needer, bool (*has)(const void *in, const char *name), const void *in,
                    struct elf_lack *lack);

/* Returns whether `runtime`, which `needer` knows by the name `library`, lacks something that it needs:
 * symbols, or otherwise a version. [init] */
bool elf_view_lacks(const struct elf_view *runtime, const struct elf_view *needer, const char *library,
                    struct elf_lack *lack);

#endif
