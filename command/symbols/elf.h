/* ELF files and their symbol tables. */
#ifndef BLAME_COMMAND_SYMBOLS_ELF_H
#define BLAME_COMMAND_SYMBOLS_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/map.h"

struct symbols_elf {
    int fd; /* -1: not open, or a file in memory */
    Elf *elf;
    void *image; /* malloc'ed contents of the vDSO; NULL: a file on disk */
    const char *path;
};
bool symbols_elf_open(struct symbols_elf *file, const char *path); /* opens only regular ELF files */
bool symbols_elf_open_vdso(struct symbols_elf *file);              /* opens this process's own vDSO */
void symbols_elf_close(struct symbols_elf *file);
Elf_Scn *symbols_elf_section(Elf *elf, const char *name, GElf_Shdr *header);
/* Returns the next section of a type; NULL at the end, and if elf is NULL. */
Elf_Scn *symbols_elf_next(Elf *elf, Elf_Scn *section, uint32_t type, GElf_Shdr *header);
bool symbols_elf_same_build(Elf *elf, const void *build_id, size_t bytes);
/* sets the range of all executable segments */
bool symbols_elf_code_range(Elf *elf, uint64_t *low, uint64_t *high);
/* Returns a pointer to the bytes at vaddr, NULL if the file does not contain them. *room is the number of
 * bytes from there to the end of the segment in the file. */
const uint8_t *symbols_elf_bytes(Elf *elf, uint64_t vaddr, size_t *room);
/* Adds hashes of the names that the module imports. */
void symbols_elf_imports(Elf *elf, struct symbols_map *imports);

struct symbols_entry {
    uint64_t start, size;
    const char *name;
    uint8_t rank;  /* preference among names of one address; lower numbers are preferred */
    bool exported; /* whether other modules can import the name */
    bool chosen;   /* whether this is the best name of its address, moved to the front */
};
struct symbols_table {
    struct symbols_entry *list;
    size_t count, room;
};
enum symbols_table_kind { SYMBOLS_FUNCTIONS, SYMBOLS_OBJECTS };
void symbols_table_add(struct symbols_table *table, Elf *elf, enum symbols_table_kind kind);
void symbols_table_sort(struct symbols_table *table);
/* Answers whether the program's own modules import an exported name. */
struct symbols_asking {
    bool (*is_asked)(void *context, const char *name);
    void *context;
};
/* Returns the symbol that contains vaddr, under its best name; NULL if there is none. The table must be
 * sorted. */
const struct symbols_entry *symbols_table_find(struct symbols_table *table, uint64_t vaddr,
                                               const struct symbols_asking *asking);

#endif
