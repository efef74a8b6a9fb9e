/* Which waits a thread notes when they are over, for samples that ask later what it did then (docs/accounting.md, "Which
 * waits are noted").
 *
 * All, by a thread that waits seldom. Of waits that follow each other faster those that begin when a sample of any thread is
 * due soon, or is due and has not come yet. */
#ifndef BLAME_BLAME_NOTES_H
#define BLAME_BLAME_NOTES_H

#include <stdint.h>

#include "base/clock.h"
#include "blame/state.h"

/* In graces. A wait is noted if it begins more than one behind the begin of the one before, which may thus have lasted for
 * more than the grace: some 20 ns in 5,000. */
#define NOTES_SOON    32u     /* before a sample is due */
#define NOTES_LOOK    4u      /* from one look for due samples to the next */
#define NOTES_OVERDUE 200000u /* whose sample did not come for so long gets none */

/* The thread's next sample is due at due_ns; 0: that is not known, or there is none. [handler] */
void notes_due(struct state_line *line, const struct clock_reading *clocks, uint64_t due_ns);

/* How long after the begin of the one before a wait must begin to be noted, on clock_ticks(): 0, if a sample is due. When to
 * choose anew. [owner] */
uint64_t notes_choose(const struct state_line *line, uint64_t now_ticks, uint64_t *look_ticks);

/* Forgets everything: the child of a fork. [init] */
void notes_reset(void);

#endif
