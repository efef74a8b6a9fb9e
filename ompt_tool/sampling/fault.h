/* The last safety net: a fault in the handler ends the sample, not the program (design: docs/concurrency.md). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_FAULT_H
#define BLAME_OMPT_TOOL_SAMPLING_FAULT_H

#include "ompt_tool/sampling/sample.h"

/* Catches the faults that the program leaves to the kernel; called once, at the program's first region. By
 * then the runtimes of languages and of MPI have checked whether anybody else catches them. [owner] */
void fault_watch(void);

/* Records the delivery. A fault of the handler counts the delivery as lost, unless it was recorded before.
 * [handler] */
void fault_record_sample(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);

#endif
