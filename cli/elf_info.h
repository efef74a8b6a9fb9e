/* What `blame run` must know of a program before it starts it. */
#ifndef BLAME_CLI_ELF_INFO_H
#define BLAME_CLI_ELF_INFO_H

#include <stdbool.h>
#include <stddef.h>

enum elf_kind {
    ELF_KIND_NONE,   /* no ELF file: a script, say */
    ELF_KIND_STATIC, /* statically linked: no library can be loaded into it */
    ELF_KIND_DYNAMIC,
};

/* Looks at the file's program headers. [init] */
enum elf_kind elf_kind_of(const char *path);

/* Asks the loader which libraries a dynamic program will get; true if `library` is among them. [init] */
bool elf_loads(const char *path, const char *library);

/* Asks the loader which of GCC's OpenMP entry points a dynamic program would miss with the libraries in
 * folder before all others. True if there is one, its name in symbol. [init] */
bool elf_missing(const char *path, const char *folder, char *symbol, size_t bytes);

/* Whether it runs with privileges beyond its user's: the loader preloads nothing into it then. [init] */
bool elf_gains_privileges(const char *path);

#endif
