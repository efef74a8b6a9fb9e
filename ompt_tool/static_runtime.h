/* A copy of libgomp that is linked into the program itself: no tool sees into it. */
#ifndef BLAME_OMPT_TOOL_STATIC_RUNTIME_H
#define BLAME_OMPT_TOOL_STATIC_RUNTIME_H

#include <stdbool.h>

/* Whether the program has one. A program that needs a shared runtime is not searched. [init] */
bool static_runtime_is_there(void);

#endif
