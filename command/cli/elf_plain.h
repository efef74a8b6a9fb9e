/* Whether a program can do without the loader's answer about its libraries, which takes 1.5 ms. */
#ifndef BLAME_COMMAND_CLI_ELF_PLAIN_H
#define BLAME_COMMAND_CLI_ELF_PLAIN_H

#include <stdbool.h>

/* Returns true if the program and all libraries that it needs are found by /etc/ld.so.cache alone, and none of them is an
 * OpenMP runtime, an MPI library, or AddressSanitizer's. Returns false if this is not certain: with LD_PRELOAD or
 * LD_LIBRARY_PATH, folders that the file names (DT_RUNPATH), or another loader. */
bool elf_is_plain(const char *path);

#endif
