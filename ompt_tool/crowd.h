/* With many more threads than cores all of them are sampled less often. */
#ifndef BLAME_OMPT_TOOL_CROWD_H
#define BLAME_OMPT_TOOL_CROWD_H

#include <stdint.h>

#include "base/atomics.h"

extern uint64_t crowd_least_ns; /* crowd.c's */

/* Every thread's period now; 0: nobody is sampled yet. [handler] */
static inline uint64_t crowd_period_ns(void)
{
    return load_relaxed(&crowd_least_ns);
}

/* That many threads are sampled now. [owner] */
void crowd_grows(uint32_t threads);

/* The child of a fork begins with itself alone. [init] */
void crowd_forked(void);

#endif
