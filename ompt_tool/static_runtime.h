/* A copy of libgomp that is linked into the program itself. It has no tool interface. */
#ifndef BLAME_OMPT_TOOL_STATIC_RUNTIME_H
#define BLAME_OMPT_TOOL_STATIC_RUNTIME_H

#include <stdbool.h>

/* Returns whether the program has one. Searches the program's constants, 1 ms for 5 MB of them, unless it needs a shared runtime. [init] */
bool static_runtime_is_there(void);

#endif
