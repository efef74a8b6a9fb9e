/* Reads which version of GCC built a library. libgomp has no other version: it is a part of GCC. */
#ifndef BLAME_OMPT_TOOL_LIFE_COMPILER_H
#define BLAME_OMPT_TOOL_LIFE_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

/* Stores the version, such as 12.2.0, as the file's section .comment says it. Returns false if the file says
 * none. [init] */
bool compiler_version(const char *path, char *version, size_t bytes);

#endif
