/* Begins and ends the measurement of threads. */
#ifndef BLAME_OMPT_TOOL_LIFE_ATTACH_H
#define BLAME_OMPT_TOOL_LIFE_ATTACH_H

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Gives the calling thread a record and starts its timer. The thread is then idle and not yet counted.
 * Returns NULL if there is no room or the measurement has ended. [owner] */
struct thread *attach_thread(enum profile_thread_kind kind);

/* The same for a thread that no OpenMP runtime has reported. It works, and counts unless it works
 * beside teams. `stack` is an address on the thread's own stack, on which the caller may not run. [owner] */
struct thread *attach_plain_thread(enum profile_thread_kind kind, uintptr_t stack);

/* Counts the calling thread from now on, because a runtime has reported it. If the program began with a runtime, the
 * thread is then an initial thread like any other. [owner] */
void attach_join_teams(struct thread *thread);

/* Ends the calling thread's measurement, if there is one. Another thread may then get its record. [owner] */
void attach_end(struct thread *thread);

#endif
