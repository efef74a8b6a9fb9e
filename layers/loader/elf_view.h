/* The symbols of a library, by its dynamic section alone: mapped by the loader, or its file's bytes. Whatever an object says of itself may be
 * damaged: what is not there is not read, and then has nothing. */
#ifndef BLAME_LAYERS_LOADER_ELF_VIEW_H
#define BLAME_LAYERS_LOADER_ELF_VIEW_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_view {
    uintptr_t base; /* added to link-time addresses */
    uintptr_t end;  /* of the bytes of a file; 0: an object that is mapped */
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    uintptr_t versions_defined, versions_needed; /* tables, or 0 */
    uintptr_t plt_relocations, relocations;      /* ElfW(Rela)[], or 0 */
    size_t plt_relocations_bytes, relocations_bytes, relative_count;
};

/* The kernel is asked once for each page of mapped objects, and anew when objects may have gone since. [init] */
void elf_view_forget_pages(void);

/* A mapped object. [init] */
void elf_view_of_map(struct elf_view *view, const struct link_map *map);

/* A file's bytes, all of them. False if they are no library with a table of symbols. [init] */
bool elf_view_of_file(struct elf_view *view, const void *bytes, size_t count);

/* The definition of that name, or NULL. [init] */
const ElfW(Sym) * elf_view_find(const struct elf_view *view, const char *name);

/* Whether it names that library among those that it needs. [init] */
bool elf_view_needs(const struct elf_view *view, const struct link_map *map, const char *library);

#define ELF_LACK_MOST 64

/* What an object asks of an OpenMP runtime, and is not there. */
struct elf_lack {
    const char *name; /* the first of them: a symbol, or a version */
    unsigned count;   /* at most ELF_LACK_MOST are counted */
    uint32_t symbol[ELF_LACK_MOST];
};

/* Whether has() does not find something that `needer` asks of an OpenMP runtime by name. [init] */
bool elf_view_unmet(const struct elf_view *needer, bool (*has)(const void *in, const char *name), const void *in,
                    struct elf_lack *lack);

/* Whether `runtime`, of which `needer` knows by the name `library`, does not have something of it: symbols, or else a
 * version. [init] */
bool elf_view_lacks(const struct elf_view *runtime, const struct elf_view *needer, const char *library,
                    struct elf_lack *lack);

#endif
