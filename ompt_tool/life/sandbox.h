/* Whether an existing filter of system calls (seccomp) would end the program at a call of the tool. */
#ifndef BLAME_OMPT_TOOL_LIFE_SANDBOX_H
#define BLAME_OMPT_TOOL_LIFE_SANDBOX_H

#include <stdbool.h>

/* Returns the name of a call at which the filter would end the program, or NULL. *may_speak: log_line() needs
 * no such call. [init] */
const char *sandbox_ends_at(bool *may_speak);

#endif
