/* Threads that execute tasks outside the program's teams.
 *
 * Hidden helper threads form a team of libomp's own that runs target tasks (target nowait). OMPT calls its
 * primary thread an initial thread and the others workers, yet nobody expects work of them: they are parked
 * unless they run a task. They are recognised by how they begin, before they are counted: the primary thread
 * has no code of the program on its stack, and the workers' first implicit task is in its team.
 *
 * Free agents (OpenMP 6.0) are threads of the pool, so far in no team, that execute tasks of a team
 * (threadset(omp_pool)). They are recognised by a task that begins without an implicit one. They count, and
 * are busy, outside the team, while they execute a task. */
#ifndef BLAME_OMPT_TOOL_HELPERS_H
#define BLAME_OMPT_TOOL_HELPERS_H

#include <stdbool.h>

#include <omp-tools.h>

struct thread;

/* Counts an initial thread at its start, unless it is a helper. [owner] */
void helpers_know_initial(struct thread *thread);

/* Counts a worker at its first implicit task, unless it is a helper. Returns true for a helper, which stays
 * idle. [owner] */
bool helpers_begin_task(struct thread *thread, const ompt_data_t *parallel_data);

/* Returns true if the thread is the helpers' primary thread; parallel_data then marks its team. thread is
 * NULL if the runtime has not reported its start: libomp 14 and 16 do not report the start of the helpers'
 * primary thread. [owner] */
bool helpers_begin_team(const struct thread *thread, ompt_data_t *parallel_data);

/* Returns true for a worker that has been in no team. [owner] */
bool helpers_is_agent(const struct thread *thread);

/* Handles task_schedule when the innermost level is not the prior task. Returns false for a free agent that
 * executes no task any more; what the runtime then calls its prior task is not a task of the program. [owner] */
bool helpers_schedule(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

#endif
