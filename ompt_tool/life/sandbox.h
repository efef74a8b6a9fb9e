/* Whether a filter of system calls (seccomp) that was there before the tool would end the program for what the tool calls. */
#ifndef BLAME_OMPT_TOOL_LIFE_SANDBOX_H
#define BLAME_OMPT_TOOL_LIFE_SANDBOX_H

#include <stdbool.h>

/* The name of a call that it would end the program at, or NULL. *may_speak: log_line() needs no such call. [init] */
const char *sandbox_ends_at(bool *may_speak);

#endif
