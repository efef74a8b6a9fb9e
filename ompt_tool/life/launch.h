/* Who started the process, and what was done to it before the runtime started: by `blame run`, LLVM's runtime in the
 * place of GCC's, and variables for that case. */
#ifndef BLAME_OMPT_TOOL_LIFE_LAUNCH_H
#define BLAME_OMPT_TOOL_LIFE_LAUNCH_H

#include <stdbool.h>

/* True if the process may not be worth a profile: none of its regions has begun, and it is not the program
 * that the user named, or that does not itself need OpenMP. [init] */
bool launch_wants_region(void);

/* The runtime is about to read its environment: takes out what was meant for programs of GCC and is not needed: no object got this
 * runtime in the place of GCC's, or none calls what it would comment on. [init] */
void launch_restore_environment(void);

/* The file to which a profile's directory is told, if `blame run` waits behind the program: it makes the reports that could
 * not be made here; NULL: it does not. [any] */
const char *launch_notes(void);

#endif
