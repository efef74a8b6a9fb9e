/* Finds out whether a system call filter (seccomp) would end the program at a call that the tool makes. */
#ifndef BLAME_OMPT_TOOL_LIFE_SANDBOX_H
#define BLAME_OMPT_TOOL_LIFE_SANDBOX_H

#include <stdbool.h>

/* Returns the name of a call at which the filter would end the program; NULL if there is none. Sets
 * *may_speak to true if the filter allows the calls that log_line() makes. [init] */
const char *sandbox_ends_at(bool *may_speak);

#endif
