/* Finds out whether the program may wait for task dependences: at a taskwait with depend clauses, or before
 * an undeferred task. The only event that reports such a wait is task_create. A program with tiny tasks
 * causes 10^7 of these a second, so the tool registers task_create only for programs that may have such
 * waits. */
#ifndef BLAME_OMPT_TOOL_DEPENDENCES_H
#define BLAME_OMPT_TOOL_DEPENDENCES_H

#include <stdbool.h>

/* Returns true if a loaded object, other than the runtime, refers to a runtime function that may wait for
 * dependences. Code that is loaded or compiled later is not searched: callbacks.c notices the first such wait
 * there. [init] */
bool dependences_are_waited_for(void);

#endif
