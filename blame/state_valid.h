/* Tests whether a state line has the invariants that its readers rely on. Debug builds and tests call this. */
#ifndef BLAME_BLAME_STATE_VALID_H
#define BLAME_BLAME_STATE_VALID_H

#include <stdbool.h>
#include <stdint.h>

#include "blame/state.h"

/* Returns true if the line has all its invariants:
 * - The state, the stamps and the kinds of wait places have values of their enumerations.
 * - holds_more is at least the number of locks in held[1] and above.
 * - No time in the line is later than now_ticks. Only the start of a hidden wait is in the future.
 * - Noted releases and waits are in the order of their ends, none ends before it begins, and noted_last is not
 *   before the last of them.
 * - A wait does not name a later instance of its region than the region's record has.
 * The caller is the line's thread, so that no word changes meanwhile, or that thread has ended. now_ticks is the
 * time of clock_ticks(). [owner] */
bool state_is_valid(const struct state_line *line, uint64_t now_ticks);

#endif
