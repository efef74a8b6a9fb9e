/* Threads that execute tasks but belong to none of the program's teams.
 *
 * Hidden helper threads are a team of libomp's own that executes target tasks (target nowait). OMPT calls its
 * primary thread an initial thread and the others workers, but the program has no other work for them: they
 * count as parked while they execute no task. They are recognised at their start, before they are counted.
 * The primary thread has no code of the program on its stack, and the workers' first implicit task belongs to
 * the primary thread's team.
 *
 * Free agents (OpenMP 6.0) are threads of the runtime's pool that execute tasks of a team
 * (threadset(omp_pool)) before they have been in any team. They are recognised when a task begins in a thread
 * that has begun no implicit task. While they execute a task, they count as busy threads outside the team. */
#ifndef BLAME_OMPT_TOOL_HELPERS_H
#define BLAME_OMPT_TOOL_HELPERS_H

#include <stdbool.h>

#include <omp-tools.h>

struct thread;

/* Counts a new initial thread as one of the program's threads, unless it is a hidden helper. [owner] */
void helpers_know_initial(struct thread *thread);

/* Counts a worker at its first implicit task, unless it is a hidden helper. Returns true for a hidden helper,
 * which stays IDLE. [owner] */
bool helpers_begin_task(struct thread *thread, const ompt_data_t *parallel_data);

/* Returns true if the thread is the helpers' primary thread, which begins their team, and then marks
 * parallel_data as that team's. `thread` is NULL if the runtime has not reported the thread's start: libomp
 * 14 and 16 do not report the start of the helpers' primary thread. [owner] */
bool helpers_begin_team(const struct thread *thread, ompt_data_t *parallel_data);

/* Returns true for a free agent: a worker that has been in no team. [owner] */
bool helpers_is_agent(const struct thread *thread);

/* Handles the event task_schedule when `prior` is not the thread's innermost level. Returns false for a free
 * agent that no longer executes a task: the task that the runtime then names in `next` is not a task of the
 * program. [owner] */
bool helpers_schedule(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

#endif
