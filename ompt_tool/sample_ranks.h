/* What a sample has to do with other ranks' waiting in MPI: a busy thread's is blamed for it, an idle one's if its rank has none,
 * and one in MPI tells how much of it there is somebody to blame for (docs/accounting.md, "Across ranks"). */
#ifndef BLAME_OMPT_TOOL_SAMPLE_RANKS_H
#define BLAME_OMPT_TOOL_SAMPLE_RANKS_H

#include <stdint.h>

#include "ompt_tool/session/thread.h"

/* At that one of the delivery's moments the thread was one of so many busy ones of its process, in that context; 0: there is
 * none. [handler] */
void sample_ranks_busy(struct thread *thread, uint32_t node_idx, const struct delivery *delivery,
                       uint32_t number, uint32_t busy);

/* At its moments the thread was idle; dispatch is booked where sample_ranks_settle() says, else the blame is in a row of its own.
 * [handler] */
void sample_ranks_idle(struct thread *thread, const struct delivery *delivery, const struct idle_moment *idle);

/* What the thread's dispatch until now is blamed for belongs to that context; 0: to none, it is lost. [owner] */
void sample_ranks_settle(struct thread *thread, uint32_t node_idx);

/* At all of its moments the thread was in the call of MPI's with that node. [handler] */
void sample_ranks_waiting(struct thread *thread, uint32_t node_idx, const struct delivery *delivery);

#endif
