/* Core idleness of programs without a team (docs/accounting.md): what each sample adds to it, and what samples find out
 * about threads that sleep in calls that no layer reports. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_CORE_IDLE_H
#define BLAME_OMPT_TOOL_SAMPLING_CORE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/account.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"

/* Tells the other threads' samples whether this thread slept at the delivery's last moment, or spun. [handler] */
void core_idle_note_sleep(struct thread *thread, const struct delivery *delivery, bool spins);

/* Tells them that the thread is awake since that time, unless a layer will report that. [handler] */
void core_idle_note_awake(struct thread *thread, uint64_t ticks);

/* Books the cores that no thread used at one moment of the delivery. node_idx: the node that is to blame if the thread
 * ran, or was ready to. [handler] */
void core_idle_book(struct thread *thread, uint32_t node_idx, double p, struct census census, bool runs);

#endif
