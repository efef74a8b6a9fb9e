/* Threads that execute tasks beside the teams.
 *
 * Hidden helper threads: libomp's own, a team of their own that runs target tasks (target nowait). OMPT calls
 * the team's primary thread an initial thread and the others workers, but nobody wonders why they have no
 * work: they are parked unless they run a task. They are told by how they begin, before they are counted: the
 * primary thread has no code of the program on its stack, the workers' first implicit task is of its team.
 *
 * Free agents (OpenMP 6.0): threads of the pool, in no team as yet, that execute tasks of one (threadset(omp_pool)). They are
 * told by a task that begins without an implicit one. They count, and are busy, outside the team, while they execute one. */
#ifndef BLAME_OMPT_TOOL_HELPERS_H
#define BLAME_OMPT_TOOL_HELPERS_H

#include <stdbool.h>

#include <omp-tools.h>

struct thread;

/* An initial thread begins: it is counted, unless it is a helper. [owner] */
void helpers_know_initial(struct thread *thread);

/* A thread begins its first implicit task: a worker is counted, unless it is a helper. True for a helper,
 * which stays idle. [owner] */
bool helpers_begin_task(struct thread *thread, const ompt_data_t *parallel_data);

/* True if the thread is the helpers' primary thread; then parallel_data marks its team. The thread is NULL
 * when the runtime has not told its begin: libomp 14 and 16 do not tell that of the helpers' primary thread.
 * [owner] */
bool helpers_begin_team(const struct thread *thread, ompt_data_t *parallel_data);

/* A worker that has been in no team. [owner] */
bool helpers_is_agent(const struct thread *thread);

/* task_schedule, when the innermost level is not the prior task. False: of a free agent, which executes none any more. What the
 * runtime may call its prior task then is none of the program's. [owner] */
bool helpers_schedule(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

#endif
