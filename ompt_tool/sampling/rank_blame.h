/* Blames threads for the waiting of other MPI ranks (docs/accounting.md, "Across ranks"). A busy thread is blamed
 * for it. An idle thread is blamed only if no thread of its rank is busy. A thread that waits in MPI records for
 * how much of its waiting some rank is blamed. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_RANK_BLAME_H
#define BLAME_OMPT_TOOL_SAMPLING_RANK_BLAME_H

#include <stdint.h>

#include "blame/account.h"
#include "ompt_tool/session/thread.h"

/* Blames a busy thread, in the context of the node, for one moment of the delivery. The busy threads that
 * the census has counted share the blame. [handler] */
void rank_blame_busy(struct thread *thread, uint32_t node_idx, const struct delivery *delivery, uint32_t number,
                     struct census census);

/* Blames an idle thread. Within the thread's grace the blame is for its dispatch, and rank_blame_settle() books it
 * later. After the grace it goes to the node PROFILE_PSEUDO_NOBODY. [handler] */
void rank_blame_idle(struct thread *thread, const struct delivery *delivery, const struct idle_moment *idle);

/* Books the waiting that the thread's dispatch has caused, in the context of the node. If node_idx is 0, it is
 * lost. [owner] */
void rank_blame_settle(struct thread *thread, uint32_t node_idx);

/* Records, at the node of the thread's MPI call, for how much of its waiting some rank is blamed. [handler] */
void rank_blame_waiting(struct thread *thread, uint32_t node_idx, const struct delivery *delivery);

#endif
