/* Recovers from a fault in the sampling signal's handler: one sample is lost, and the program continues
 * (docs/concurrency.md). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_FAULT_H
#define BLAME_OMPT_TOOL_SAMPLING_FAULT_H

#include "ompt_tool/sampling/sample.h"

/* Installs a handler for each of SIGSEGV and SIGBUS that the program does not handle itself. Called once, at
 * the program's first region: by then, language runtimes and MPI have checked whether these signals have
 * handlers. [owner] */
void fault_watch(void);

/* Records the delivery. If the handler faults, the delivery counts as dropped, unless it was recorded before
 * the fault. [handler] */
void fault_record_sample(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);

/* The same for a sleeper (sleeper.h). [handler] */
void fault_record_sleeper(struct thread *thread, const struct delivery *delivery, bool by_cpu_timer,
                          const ucontext_t *context);

#endif
