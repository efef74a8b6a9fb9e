/* The process's launcher, and what it changed before the runtime started: `blame run` puts LLVM's runtime in
 * the place of GCC's, and sets variables for that case. */
#ifndef BLAME_OMPT_TOOL_LIFE_LAUNCH_H
#define BLAME_OMPT_TOOL_LIFE_LAUNCH_H

#include <stdbool.h>

/* Returns true if the process may not be worth a profile until it begins a region: it is neither the program
 * that the user named nor one that itself needs OpenMP. [init] */
bool launch_wants_region(void);

/* Removes the variables that were meant for GCC programs and are not needed, before the runtime reads its
 * environment. They are not needed if no object got this runtime instead of GCC's, or if none calls what the
 * runtime would comment on. [init] */
void launch_restore_environment(void);

/* Returns the file for the profile's directory, if `blame run` waits for the program's end: it makes the
 * reports that could not be made here. NULL otherwise. [any] */
const char *launch_notes(void);

#endif
