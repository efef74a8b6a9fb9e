/* Threads come and go: from the first event of a thread to its last. */
#ifndef BLAME_OMPT_TOOL_LIFE_ATTACH_H
#define BLAME_OMPT_TOOL_LIFE_ATTACH_H

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Gives the calling thread, IDLE and not counted yet, a record and starts its timer; NULL when there is no
 * room. [owner] */
struct thread *attach_thread(enum profile_thread_kind kind);

/* Ends the calling thread's measurement, if it has one; its record may be taken by another. [owner] */
void attach_end(struct thread *thread);

#endif
