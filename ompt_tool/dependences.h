/* Waiting for task dependences: a taskwait with depend clauses, and the task that encounters an undeferred
 * one. The runtime reports these waits by task_create alone, an event that programs of tiny tasks cause 10^7
 * times a second. So the tool asks for it only if the program has such waits. */
#ifndef BLAME_OMPT_TOOL_DEPENDENCES_H
#define BLAME_OMPT_TOOL_DEPENDENCES_H

#include <stdbool.h>

/* Returns true if any loaded object except the runtime refers to a runtime function that may wait for
 * dependences. Code that is loaded or compiled later is unknown here: its first such wait shows it
 * (callbacks.c). [init] */
bool dependences_are_waited_for(void);

#endif
