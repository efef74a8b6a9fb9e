/* What `blame run` changed in the process before the runtime started. It replaces GCC's OpenMP runtime by
 * LLVM's, and sets environment variables for programs in which it does so. */
#ifndef BLAME_OMPT_TOOL_LIFE_LAUNCH_H
#define BLAME_OMPT_TOOL_LIFE_LAUNCH_H

#include <stdbool.h>

/* Returns true if the process gets no profile before it has begun a region. This holds under `blame run`,
 * except in the program that the user named if that program itself needs an OpenMP runtime. [init] */
bool launch_wants_region(void);

/* Removes those variables that were set for GCC programs and that this process does not need. Must be called
 * before the runtime reads its environment. If no object got this runtime in place of GCC's, none is needed.
 * If no object makes calls of which the runtime would warn, KMP_WARNINGS=0 is not needed. [init] */
void launch_restore_environment(void);

/* Returns the path of the file in which the profile's directory must be noted for `blame run`, which makes
 * the reports that this process cannot make. Returns NULL if no `blame run` waits for the end of the program.
 * [any] */
const char *launch_notes(void);

#endif
