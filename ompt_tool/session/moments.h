/* The times at which a thread is sampled: one random moment in each period.
 *
 * Every moment of a period is equally likely, whatever the program does. All threads share the process's
 * periods. A thread's first period is the rest of the one in which it begins. The samples of 2^n threads are
 * spread over the 2^n parts of a period, one sample in each part; the thread's part, and the place in it, are
 * drawn anew for each period (docs/accounting.md, cct/timeline/moment.h). The draw is a hash of the period's
 * start: nothing needs to be stored. */
#ifndef BLAME_OMPT_TOOL_SESSION_MOMENTS_H
#define BLAME_OMPT_TOOL_SESSION_MOMENTS_H

#include <stdint.h>

struct moments {
    uint64_t period_ns;
    uint64_t begin_ns;  /* start of the first period without a sample */
    uint64_t missed_ns; /* ns of that period before the thread began; 0 in later periods */
    uint64_t next_ns;   /* moment of that period */
    uint64_t second_ns; /* moment of the following period; 0: not drawn yet */
    uint64_t salt;      /* hashed with a period's start to make the draw */
    uint32_t thread;
};

/* Forgets all threads, in a forked child. [init] */
void moments_reset(void);

/* Begins the moments of a thread with that number, at begin_ns. The process's periods begin at start_ns,
 * which must be earlier. [handler] */
void moments_start(struct moments *moments, uint64_t begin_ns, uint64_t period_ns, uint64_t start_ns, uint64_t seed,
                   uint32_t thread);

/* Returns the moment of the period after the next. [handler] */
uint64_t moments_second(struct moments *moments);

/* Passes the next moment, and all later ones up to now_ns. Returns how many; *last_ns is the last of them,
 * *weight_ns the thread's time that they stand for. [handler] */
uint64_t moments_pass(struct moments *moments, uint64_t now_ns, uint64_t *last_ns, uint64_t *weight_ns);

/* Returns how many moments, from the one at due_ns on, come less than ns after due_ns. ns must be above 0.
 * [handler] */
uint64_t moments_within(const struct moments *moments, uint64_t due_ns, uint64_t ns);

#endif
