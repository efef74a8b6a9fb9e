/* Decides by the thread's state what a sample counts as: work, overhead, idleness, lock wait or MPI wait
 * (docs/accounting.md). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLE_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLE_H

#include <stdint.h>
#include <ucontext.h>

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Records a delivery in the thread's tree and ledger. [handler] */
void sample_record(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);

/* Counts a delivery as dropped, by cause. [handler] */
void sample_drop(struct thread *thread, const struct delivery *delivery, enum profile_drop cause);

#endif
