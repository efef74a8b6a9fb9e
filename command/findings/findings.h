/* Findings: what the numbers of a run say, by the rules of LMF13 section 3.1, each with its context, its
 * number, its rule. */
#ifndef BLAME_COMMAND_FINDINGS_FINDINGS_H
#define BLAME_COMMAND_FINDINGS_FINDINGS_H

#include <stddef.h>

#include "command/profile/profile.h"
#include "command/findings/finding.h"
#include "command/rows/row.h"
#include "command/tables/locks.h"
#include "command/tables/waits.h"

/* locks, waits: of the same rows. A run without findings has count 0. */
struct findings *findings_gather(const struct profile *profile, const struct rows *rows, const struct lock_table *locks,
                                 const struct wait_table *waits);
void findings_free(struct findings *findings);

#endif
