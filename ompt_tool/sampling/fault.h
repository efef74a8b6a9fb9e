/* The last safety net: if the tool's own handler faults, one sample is lost and the program continues
 * (docs/concurrency.md). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_FAULT_H
#define BLAME_OMPT_TOOL_SAMPLING_FAULT_H

#include "ompt_tool/sampling/sample.h"

/* Installs a handler for each fault signal (SIGSEGV, SIGBUS) that the program does not handle itself. Called
 * once, at the program's first region: by then the runtimes of languages and of MPI have checked whether
 * somebody handles these signals. [owner] */
void fault_watch(void);

/* Records the delivery. If the handler faults, the delivery counts as dropped, unless it was recorded before
 * the fault. [handler] */
void fault_record_sample(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);

#endif
