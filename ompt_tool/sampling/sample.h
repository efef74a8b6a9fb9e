/* Decides by the thread's state what a sample counts as: work, overhead, idleness, lock wait or MPI wait
 * (docs/accounting.md). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLE_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Records a delivery in the thread's tree and ledger. [handler] */
void sample_record(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);

/* The two parts of sample_record() for a delivery that is recorded in several parts: sample_ask() asks for the core
 * once, sample_record_state() records a part by the thread's state. [handler] */
void sample_ask(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);
void sample_record_state(struct thread *thread, const struct delivery *delivery,
                         const ucontext_t *context); /* [handler] */

/* Records time during which the whole process was stopped. Returns false if memory is short. [handler] */
bool sample_book_stopped(struct thread *thread, const struct delivery *delivery);

/* Compares what has been recorded since the last call with what came before (blame/neighbours.h). Called when a delivery,
 * or a part of it with a state of its own, is recorded. [handler] */
void sample_compare(struct thread *thread);

/* Counts the delivery as delivered, and records it as time that the thread slept in this context, or lacked a core
 * there after the sleep. [handler] */
void sample_record_sleep(struct thread *thread, uint32_t node_idx, bool no_core, const struct delivery *delivery);

/* Counts a delivery as dropped, by cause. [handler] */
void sample_drop(struct thread *thread, const struct delivery *delivery, enum profile_drop cause);

#endif
