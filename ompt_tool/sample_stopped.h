/* The part of a sample in which the whole process stood still (session/stopped.h). */
#ifndef BLAME_OMPT_TOOL_SAMPLE_STOPPED_H
#define BLAME_OMPT_TOOL_SAMPLE_STOPPED_H

#include "blame/account.h"
#include "ompt_tool/session/thread.h"

/* False without room. [handler] */
bool sample_stopped(struct thread *thread, const struct delivery *delivery);

#endif
