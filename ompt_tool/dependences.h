/* Finds out whether the program may wait for task dependences: at a taskwait with depend clauses, or before
 * an undeferred task. The runtime reports these waits only by task_create, an event that programs with tiny
 * tasks cause 10^7 times a second. So the tool registers task_create only if the program may have such waits. */
#ifndef BLAME_OMPT_TOOL_DEPENDENCES_H
#define BLAME_OMPT_TOOL_DEPENDENCES_H

#include <stdbool.h>

/* Returns true if any loaded object except the runtime refers to a runtime function that may wait for
 * dependences. Code that is loaded or compiled later is not searched: callbacks.c notices its first such
 * wait. [init] */
bool dependences_are_waited_for(void);

#endif
