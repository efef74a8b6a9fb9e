/* Opens ELF files and reads their symbol tables. */
#ifndef BLAME_COMMAND_SYMBOLS_ELF_H
#define BLAME_COMMAND_SYMBOLS_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/map.h"

struct symbols_elf {
    int fd; /* file descriptor; -1: not open, or not a file on disk */
    Elf *elf;
    void *image; /* contents of the vDSO, allocated by malloc; NULL: a file on disk */
    const char *path;
};
/* Opens the file if it is a regular file in ELF format. */
bool symbols_elf_open(struct symbols_elf *file, const char *path);
bool symbols_elf_open_vdso(struct symbols_elf *file); /* Opens the vDSO of this process. */
void symbols_elf_close(struct symbols_elf *file);
Elf_Scn *symbols_elf_section(Elf *elf, const char *name, GElf_Shdr *header);
/* Returns the next section of the given type, or NULL if there is no more or elf is NULL. */
Elf_Scn *symbols_elf_next(Elf *elf, Elf_Scn *section, uint32_t type, GElf_Shdr *header);
bool symbols_elf_same_build(Elf *elf, const void *build_id, size_t bytes);
/* Finds the lowest and the highest address of all executable segments. */
bool symbols_elf_code_range(Elf *elf, uint64_t *low, uint64_t *high);
/* Returns a pointer to the bytes at vaddr, or NULL if the file does not contain them. *room is the number of
 * bytes from vaddr to the end of the segment in the file. */
const uint8_t *symbols_elf_bytes(Elf *elf, uint64_t vaddr, size_t *room);
/* Adds a hash of each name that the module imports. */
void symbols_elf_imports(Elf *elf, struct symbols_map *imports);

struct symbols_entry {
    uint64_t start, size;
    const char *name;
    uint8_t rank;  /* preference among the names of an address; the name with the lowest rank is preferred */
    bool exported; /* whether other modules can import the symbol by this name */
    bool chosen;   /* whether the best name of the address has been moved to the front */
};
struct symbols_table {
    struct symbols_entry *list;
    size_t count, room;
};
enum symbols_table_kind { SYMBOLS_FUNCTIONS, SYMBOLS_OBJECTS };
void symbols_table_add(struct symbols_table *table, Elf *elf, enum symbols_table_kind kind);
void symbols_table_sort(struct symbols_table *table);
/* A function, and its context, that tells whether the program's own modules import a name. */
struct symbols_asking {
    bool (*is_asked)(void *context, const char *name);
    void *context;
};
/* Returns the symbol that contains vaddr, with its best name, or NULL if there is none. The table must be
 * sorted. */
const struct symbols_entry *symbols_table_find(struct symbols_table *table, uint64_t vaddr,
                                               const struct symbols_asking *asking);

#endif
