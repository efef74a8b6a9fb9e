/* Facts about a program that `blame run` needs before it starts it. */
#ifndef BLAME_COMMAND_CLI_ELF_INFO_H
#define BLAME_COMMAND_CLI_ELF_INFO_H

#include <stdbool.h>
#include <stddef.h>

enum elf_kind {
    ELF_KIND_NONE,    /* no ELF file, for example a script */
    ELF_KIND_STATIC,  /* statically linked: no library can be loaded into it */
    ELF_KIND_FOREIGN, /* started by another loader than glibc's */
    ELF_KIND_DYNAMIC,
};

/* Returns the kind of a program, from its program headers. */
enum elf_kind elf_kind_of(const char *path);

/* The OpenMP runtime of a dynamic program, and its MPI. */
struct elf_openmp {
    bool needed;     /* whether it starts with an OpenMP runtime */
    bool mpi;        /* whether it starts with an MPI */
    bool own_first;  /* whether nothing may be preloaded, because a library must be the first one */
    bool gcc;        /* whether it gets libgomp.so.1 */
    bool moved;      /* whether it asks for libgomp.so.1 and gets libomp */
    char late[1024]; /* why libomp does not suit a library of the program; "" if it does */
};

/* Asks the loader, in the environment that the program will have. libomp: the library that our audit library
 * loads instead of libgomp.so.1, or "". */
void elf_openmp_of(const char *path, const char *libomp, struct elf_openmp *openmp);

/* Returns whether the program or one of its libraries has an OpenMP tool of its own (ompt_start_tool), which
 * the runtime asks first, and copies the owner's name. */
bool elf_own_tool_of(const char *path, char *owner, size_t bytes);

/* Returns whether the program looks for leaks at its end (AddressSanitizer, LeakSanitizer). The runtime's
 * memory for a tool would count as a leak, and the search crashes with an audit library and several threads. */
bool elf_finds_leaks(const char *path);

/* Returns whether the program uses MemorySanitizer, which does not start with an audit library. */
bool elf_checks_memory(const char *path);

/* Returns whether the program runs with more privileges than its user, in which case the loader preloads
 * nothing. */
bool elf_gains_privileges(const char *path);

#endif
