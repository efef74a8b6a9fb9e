/* The times at which a thread is sampled: one random moment in each sampling period.
 *
 * All times of a period are equally likely, whatever the program does. All threads of the process have the
 * same periods. A thread that begins during a period is first sampled in the rest of that period. For 2^n
 * threads, each period has 2^n parts, and one thread is sampled in each part. Which part a thread gets, and
 * its moment within that part, are drawn anew in each period (docs/accounting.md, cct/timeline/moment.h). A
 * draw is a hash of the period's start, so nothing is stored. */
#ifndef BLAME_OMPT_TOOL_SESSION_MOMENTS_H
#define BLAME_OMPT_TOOL_SESSION_MOMENTS_H

#include <stdint.h>

struct moments {
    uint64_t period_ns;
    uint64_t begin_ns;  /* start of the first period that has no sample yet */
    uint64_t missed_ns; /* ns of that period that had passed when the thread began; 0 in later periods */
    uint64_t next_ns;   /* time of that period's moment */
    uint64_t second_ns; /* time of the following period's moment; 0: not drawn yet */
    uint64_t salt;      /* number that is hashed together with a period's start */
    uint32_t thread;
};

/* Forgets the threads' numbers, in the child of a fork. [init] */
void moments_reset(void);

/* Starts the moments of thread number `thread` at begin_ns. The periods of the process begin at start_ns,
 * which must be earlier. [handler] */
void moments_start(struct moments *moments, uint64_t begin_ns, uint64_t period_ns, uint64_t start_ns, uint64_t seed,
                   uint32_t thread);

/* Begins a new period at now_ns, which ends with the current one. It has a moment of its own, whether or not the current
 * period's has come. Returns by how many ns the moments so far represent more time than has passed; negative: less.
 * [owner] */
int64_t moments_renew(struct moments *moments, uint64_t now_ns);

/* Returns the time of the moment after moments->next_ns. [handler] */
uint64_t moments_second(struct moments *moments);

/* Passes the next moment and all further ones up to now_ns, and returns their number. *last_ns becomes the
 * latest of them. *weight_ns becomes the time of the thread, in ns, that these moments represent. [handler] */
uint64_t moments_pass(struct moments *moments, uint64_t now_ns, uint64_t *last_ns, uint64_t *weight_ns);

/* Returns how many moments are less than `ns` after the one at due_ns, which is the first. `ns` must be above
 * 0. [handler] */
uint64_t moments_within(const struct moments *moments, uint64_t due_ns, uint64_t ns);

#endif
