/* Decides which waits a thread notes when they end. Samples that are handled later ask what the thread was
 * doing at an earlier time (docs/accounting.md, "Which waits are noted").
 *
 * A thread that waits seldom notes all its waits. If waits follow each other quickly, the thread notes only
 * those that begin while a sample of any thread is due soon or overdue. */
#ifndef BLAME_BLAME_NOTES_H
#define BLAME_BLAME_NOTES_H

#include <stdint.h>

#include "base/clock.h"
#include "blame/state.h"

/* Times in units of the grace. A wait is noted if it begins more than one grace after the previous wait
 * began, because the previous wait may have outlasted the grace. A note costs some 20 ns in 5,000. */
#define NOTES_SOON 32u /* lead time before a sample is due */
#define NOTES_LOOK 4u  /* time between two looks for due samples */
/* a sample that is overdue by more than this is ignored, because it will not come */
#define NOTES_OVERDUE 200000u

/* Announces that the thread's next sample is due at due_ns; 0: unknown, or there is none. [handler] */
void notes_due(struct state_line *line, const struct clock_reading *clocks, uint64_t due_ns);

/* Returns the least number of ticks between the beginnings of two waits for the second to be noted; 0 if a
 * sample is due. Sets *look_ticks to the time of the next choice. [owner] */
uint64_t notes_choose(const struct state_line *line, uint64_t now_ticks, uint64_t *look_ticks);

/* Forgets everything, in the child of a fork. [init] */
void notes_reset(void);

#endif
