/* Begins and ends the measurement of a thread. */
#ifndef BLAME_OMPT_TOOL_LIFE_ATTACH_H
#define BLAME_OMPT_TOOL_LIFE_ATTACH_H

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Gives the calling thread a record, IDLE and not counted yet, and starts its timer. Returns NULL if there is
 * no room or the measurement has ended. [owner] */
struct thread *attach_thread(enum profile_thread_kind kind);

/* Ends the calling thread's measurement, if it has one. Another thread may then take its record. [owner] */
void attach_end(struct thread *thread);

#endif
