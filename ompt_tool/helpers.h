/* Hidden helper threads: libomp's own, a team of their own that runs target tasks (target nowait). OMPT calls
 * the team's primary thread an initial thread and the others workers, but nobody wonders why they have no
 * work: they are parked unless they run a task. They are told by how they begin, before they are counted: the
 * primary thread has no code of the program on its stack, the workers' first implicit task is of its team. */
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

#endif
