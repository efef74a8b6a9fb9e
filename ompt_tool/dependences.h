/* Who waits for dependences: taskwait with depend clauses, and the encountering task of an undeferred one. The runtime tells of these
 * waits by task_create alone, which in programs of tiny tasks is called 10^7 times a second. So it is asked for only where there are
 * such waits. */
#ifndef BLAME_OMPT_TOOL_DEPENDENCES_H
#define BLAME_OMPT_TOOL_DEPENDENCES_H

#include <stdbool.h>

/* True if anything that is loaded, but the runtime itself, refers to a function of the runtime that may wait for dependences. What is
 * loaded or compiled later is not known: its first such wait tells (callbacks.c). [init] */
bool dependences_are_waited_for(void);

#endif
