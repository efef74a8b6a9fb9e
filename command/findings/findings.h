/* Findings: conclusions from the numbers of a run, by the rules of LMF13 section 3.1. Each names its context,
 * its numbers and its rule. */
#ifndef BLAME_COMMAND_FINDINGS_FINDINGS_H
#define BLAME_COMMAND_FINDINGS_FINDINGS_H

#include <stddef.h>

#include "command/profile/profile.h"
#include "command/findings/finding.h"
#include "command/rows/row.h"
#include "command/tables/locks.h"
#include "command/tables/waits.h"

/* Returns the findings of a profile; their count may be 0. `locks` and `waits` must be tables of the same
 * rows. */
struct findings *findings_gather(const struct profile *profile, const struct rows *rows, const struct lock_table *locks,
                                 const struct wait_table *waits);
void findings_free(struct findings *findings);

#endif
