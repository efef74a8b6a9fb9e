/* What `blame run` must know about a program before it starts the program. */
#ifndef BLAME_COMMAND_CLI_ELF_INFO_H
#define BLAME_COMMAND_CLI_ELF_INFO_H

#include <stdbool.h>
#include <stddef.h>

enum elf_kind {
    ELF_KIND_NONE,    /* no ELF file, for example a script */
    ELF_KIND_STATIC,  /* statically linked: no library can be loaded into it */
    ELF_KIND_FOREIGN, /* whose loader is not glibc's */
    ELF_KIND_DYNAMIC,
};

/* Returns the kind of a program, according to its program headers. */
enum elf_kind elf_kind_of(const char *path);

/* The OpenMP runtime and the MPI library that a dynamically linked program loads. */
struct elf_openmp {
    bool mpi; /* whether an MPI library is loaded before main */
    /* whether nothing may be preloaded, because AddressSanitizer's library must be the first */
    bool own_first;
    bool gcc;   /* whether libgomp.so.1 is loaded */
    bool moved; /* whether libomp is loaded in place of libgomp.so.1 */
};

/* Asks the loader, with the environment that the program will have. `libomp` is the path of the library that
 * our audit library loads in place of libgomp.so.1, or "". `runtimes`: whether OpenMP runtimes are of interest, too. */
void elf_openmp_of(const char *path, const char *libomp, bool runtimes, struct elf_openmp *openmp);

/* Returns whether the program or one of its libraries contains an OpenMP tool (ompt_start_tool). A runtime
 * prefers that tool to ours. Copies the path of the file that contains it. A program that loads no runtime before main
 * (elf_is_plain) counts as one without. */
bool elf_own_tool_of(const char *path, char *owner, size_t bytes);

/* Returns whether the program looks for memory leaks when it ends (AddressSanitizer, LeakSanitizer). It would
 * report the memory that the runtime allocates for a tool as a leak. With an audit library and several
 * threads, the leak search crashes. */
bool elf_finds_leaks(const char *path);

/* Returns whether the program uses MemorySanitizer, which does not start with an audit library. */
bool elf_checks_memory(const char *path);

/* Returns whether the program has more privileges than the user who starts it. The loader ignores LD_PRELOAD
 * for such a program. */
bool elf_gains_privileges(const char *path);

#endif
