/* The last net: a fault in the handler itself ends that sample, and not the program (design:
 * docs/concurrency.md). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_FAULT_H
#define BLAME_OMPT_TOOL_SAMPLING_FAULT_H

#include "ompt_tool/sampling/sample.h"

/* Once, at the program's first region: catches the faults that the program leaves to the kernel. By then the
 * runtimes of languages and message passing have looked whether anybody else does. [owner] */
void fault_watch(void);

/* Records the delivery. A fault of ours on the way counts it as lost, if it was not recorded before.
 * [handler] */
void fault_record_sample(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);

#endif
