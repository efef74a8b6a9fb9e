/* Threads that execute tasks without belonging to a team of the program.
 *
 * Hidden helper threads are a team that libomp creates to execute target tasks (target nowait). OMPT reports
 * its primary thread as an initial thread and the others as workers, but they do nothing else for the
 * program. They count as parked while they execute no task. They are recognised at their start, before they
 * are counted: the primary thread has no code of the program on its stack, and the first implicit task of the
 * workers belongs to the primary thread's team.
 *
 * Free agents (OpenMP 6.0) are threads of the runtime's pool that execute tasks of a team
 * (threadset(omp_pool)) before they have been in any team. A thread is a free agent if a task begins in it
 * before any implicit task. While it executes a task, it counts as a busy thread outside the team. */
#ifndef BLAME_OMPT_TOOL_HELPERS_H
#define BLAME_OMPT_TOOL_HELPERS_H

#include <stdbool.h>

#include <omp-tools.h>

struct thread;

/* Counts a new initial thread as one of the program's threads, unless it is a hidden helper. [owner] */
void helpers_know_initial(struct thread *thread);

/* Counts a worker as one of the program's threads at its first implicit task, unless it is a hidden helper.
 * Returns true for a hidden helper, which stays IDLE. [owner] */
bool helpers_begin_task(struct thread *thread, const ompt_data_t *parallel_data);

/* Returns true if the thread is the helpers' primary thread, which begins their team, and marks parallel_data
 * as that team's. `thread` is NULL if the thread's start was not reported: libomp 14 and 16 do not report it
 * for this thread. [owner] */
bool helpers_begin_team(const struct thread *thread, ompt_data_t *parallel_data);

/* Returns true for a free agent, which is a worker that has been in no team. [owner] */
bool helpers_is_agent(const struct thread *thread);

/* Handles a task_schedule event in which `prior` is not the thread's innermost task. Returns false for a free
 * agent whose task has ended: the runtime then reports in `next` a task that is not the program's. [owner] */
bool helpers_schedule(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

#endif
