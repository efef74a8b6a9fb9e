/* Decides which waits a thread notes when they end. Samples that are handled later ask what the thread did at
 * an earlier time (docs/accounting.md, "Which waits are noted").
 *
 * A thread that waits seldom notes all its waits. Of waits in quick succession it notes those that begin
 * while a sample of any thread is overdue or due soon. */
#ifndef BLAME_BLAME_NOTES_H
#define BLAME_BLAME_NOTES_H

#include <stdint.h>

#include "base/clock.h"
#include "blame/state.h"

/* In graces. A wait is noted if it begins more than one grace after the previous wait began, since that wait
 * may have outlasted the grace. A note costs some 20 ns in 5,000. */
#define NOTES_SOON    32u     /* lead time before a sample is due */
#define NOTES_LOOK    4u      /* time from one look for due samples to the next */
#define NOTES_OVERDUE 200000u /* age at which a due sample is ignored: it will not come */

/* Announces the thread's next sample at due_ns; 0: unknown, or none. [handler] */
void notes_due(struct state_line *line, const struct clock_reading *clocks, uint64_t due_ns);

/* Returns the number of ticks after which a wait must follow the previous one to be noted; 0 if a sample is
 * due. *look_ticks receives the time for the next choice. [owner] */
uint64_t notes_choose(const struct state_line *line, uint64_t now_ticks, uint64_t *look_ticks);

/* Forgets everything, in the child of a fork. [init] */
void notes_reset(void);

#endif
