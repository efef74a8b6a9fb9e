/* What `blame run` changed in the process before the runtime started. It replaces GCC's OpenMP runtime by
 * LLVM's, and sets environment variables for that case. */
#ifndef BLAME_OMPT_TOOL_LIFE_LAUNCH_H
#define BLAME_OMPT_TOOL_LIFE_LAUNCH_H

#include <stdbool.h>

/* Returns true if the process gets a profile only once it has begun a region. That is so under `blame run`,
 * except in the program that the user named if that program itself needs an OpenMP runtime. [init] */
bool launch_wants_region(void);

/* Removes the variables that were set for GCC programs and that this process does not need, before the
 * runtime reads its environment. It needs none if no object got this runtime instead of GCC's. It does not
 * need KMP_WARNINGS=0 if no object makes calls of which the runtime would warn. [init] */
void launch_restore_environment(void);

/* Returns the path of the file in which to note the profile's directory for `blame run`, which makes the
 * reports that this process cannot make. Returns NULL if no `blame run` waits for the program's end. [any] */
const char *launch_notes(void);

#endif
