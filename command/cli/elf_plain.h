/* Whether a program can do without the loader's answer about its libraries, which takes 1.5 ms and more. */
#ifndef BLAME_COMMAND_CLI_ELF_PLAIN_H
#define BLAME_COMMAND_CLI_ELF_PLAIN_H

#include <stdbool.h>

/* Returns true if none of the libraries that the program needs is an MPI library, AddressSanitizer's or, with `runtimes`,
 * an OpenMP runtime. Returns false if this is not certain: with LD_PRELOAD, DT_RPATH, another loader, or a library that is
 * neither in the folders of LD_LIBRARY_PATH and DT_RUNPATH nor in /etc/ld.so.cache. */
bool elf_is_plain(const char *path, bool runtimes);

#endif
