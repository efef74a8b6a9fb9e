/* When a thread is sampled: once in each period, at a moment of it that is drawn anew each time: every moment is as likely
 * as any other, whatever the program does when. The periods are the process's, the same for all threads; a thread's first
 * one, which it begins in, is the rest of one. In each the samples of 2^n threads are spread over its 2^n parts, one in each;
 * which thread's is in which is drawn anew, too, and where in it (docs/accounting.md, cct/timeline/moment.h). Nothing is kept of what was drawn,
 * as it is a hash of the period's begin. */
#ifndef BLAME_OMPT_TOOL_SESSION_MOMENTS_H
#define BLAME_OMPT_TOOL_SESSION_MOMENTS_H

#include <stdint.h>

struct moments {
    uint64_t period_ns;
    uint64_t begin_ns;  /* of the first period that had no sample yet, */
    uint64_t missed_ns; /* its part before the thread began, 0 in all others, */
    uint64_t next_ns;   /* and its moment, */
    uint64_t second_ns; /* and that of the period behind it; 0: not drawn yet */
    uint64_t salt;      /* the draw is the hash of a period's begin and this */
    uint32_t thread;
};

/* There are no threads any more, in a forked child. [init] */
void moments_reset(void);

/* The thread of that number begins at begin_ns, the process's periods at start_ns, which lies before. [handler] */
void moments_start(struct moments *moments, uint64_t begin_ns, uint64_t period_ns, uint64_t start_ns, uint64_t seed,
                   uint32_t thread);

/* The moment of the period behind the next. [handler] */
uint64_t moments_second(struct moments *moments);

/* The next moment has come, and perhaps others by now_ns: returns how many, the last of them, and for how much of the
 * thread's time they stand. [handler] */
uint64_t moments_pass(struct moments *moments, uint64_t now_ns, uint64_t *last_ns, uint64_t *weight_ns);

/* How many of its moments from due_ns, which is one, on come less than ns, which is more than 0, behind it. [handler] */
uint64_t moments_within(const struct moments *moments, uint64_t due_ns, uint64_t ns);

#endif
