/* What `blame run` did to the process before the runtime started: LLVM's runtime in the place of GCC's, and
 * variables for that case. */
#ifndef BLAME_OMPT_TOOL_LAUNCH_H
#define BLAME_OMPT_TOOL_LAUNCH_H

#include <stdbool.h>

/* True if the process may not be worth a profile: none of its regions has begun, and it is not the program
 * that the user named, or that does not itself need OpenMP. [init] */
bool launch_wants_region(void);

/* The runtime is about to read its environment: takes out what was meant for programs of GCC when no library
 * asked for GCC's runtime. [init] */
void launch_restore_environment(void);

#endif
