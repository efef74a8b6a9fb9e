/* Begins and ends the measurement of a thread. */
#ifndef BLAME_OMPT_TOOL_LIFE_ATTACH_H
#define BLAME_OMPT_TOOL_LIFE_ATTACH_H

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Gives the calling thread a record, IDLE and not counted yet, and starts its timer. Returns NULL without
 * room. [owner] */
struct thread *attach_thread(enum profile_thread_kind kind);

/* Ends the calling thread's measurement, if it has one; another thread may take its record. [owner] */
void attach_end(struct thread *thread);

#endif
