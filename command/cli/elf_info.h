/* What `blame run` must know of a program before it starts it. */
#ifndef BLAME_COMMAND_CLI_ELF_INFO_H
#define BLAME_COMMAND_CLI_ELF_INFO_H

#include <stdbool.h>
#include <stddef.h>

enum elf_kind {
    ELF_KIND_NONE,    /* no ELF file: a script, say */
    ELF_KIND_STATIC,  /* statically linked: no library can be loaded into it */
    ELF_KIND_FOREIGN, /* another loader than glibc's starts it */
    ELF_KIND_DYNAMIC,
};

/* Looks at the file's program headers. */
enum elf_kind elf_kind_of(const char *path);

/* The OpenMP runtime of a dynamic program, and its MPI. */
struct elf_openmp {
    bool needed;     /* starts with one */
    bool mpi;        /* starts with an MPI */
    bool own_first;  /* starts with a library that ends it unless it is the first of all: nothing may be preloaded */
    bool gcc;        /* gets libgomp.so.1 */
    bool moved;      /* wants that, and gets libomp */
    char late[1024]; /* why libomp does not suit a library of the program, or "" */
};

/* Asks the loader, in the environment that the program will have; libomp: what our part of the loader gives
 * to programs that want libgomp.so.1, or "". */
void elf_openmp_of(const char *path, const char *libomp, struct elf_openmp *openmp);

/* Returns whether the program, or a library that it starts with, has a tool of its own (ompt_start_tool), and which; the runtime asks for
 * that first. */
bool elf_own_tool_of(const char *path, char *owner, size_t bytes);

/* Whether it looks for leaks as it ends (AddressSanitizer, LeakSanitizer): what the runtime has for a tool
 * would be one, and its search dies of a loader's audit library beside threads. */
bool elf_finds_leaks(const char *path);

/* Whether it is checked by MemorySanitizer: it does not start beside a loader's audit library. */
bool elf_checks_memory(const char *path);

/* Whether it runs with privileges beyond its user's: the loader preloads nothing into it then. */
bool elf_gains_privileges(const char *path);

#endif
