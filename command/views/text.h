/* Views as text. */
#ifndef BLAME_COMMAND_VIEWS_TEXT_H
#define BLAME_COMMAND_VIEWS_TEXT_H

#include <stdio.h>

#include "command/views/style.h"

struct findings;
struct lock_table;
struct phase_table;
struct wait_table;

/* rows: ordered by the style's metric. */
void view_text(FILE *out, const struct profile *profile, const struct rows *rows, const struct view_style *style);
void view_text_threads(FILE *out, const struct profile *profile, const struct view_style *style);
void view_text_ranks(FILE *out, const struct profile *profile, const struct view_style *style);
void view_text_efficiencies(FILE *out, const struct profile *profile, const struct view_style *style);
/* How rows differ between ranks. */
void view_text_spread(FILE *out, const struct profile *profile, const struct rows *rows,
                      const struct view_style *style);
/* What late ranks are charged of others' waiting. */
void view_text_balance(FILE *out, const struct profile *profile, const struct rows *rows,
                       const struct view_style *style);
void view_text_locks(FILE *out, const struct profile *profile, const struct lock_table *table,
                     const struct view_style *style);
void view_text_waits(FILE *out, const struct profile *profile, const struct rows *rows, const struct wait_table *table,
                     const struct view_style *style);

/* Below each phase what its code calls, `depth` levels with the phase's own; events and parameters, exact and
 * sampled. */
void view_text_phases(FILE *out, const struct profile *profile, const struct rows *rows,
                      const struct phase_table *table, uint32_t depth, const struct view_style *style);
/* Threads' states along time, and below them who was blamed; who was blamed alone. Only of a profile that has a timeline. */
void view_text_timeline(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct view_style *style);
void view_text_culprits(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct view_style *style);
void view_text_findings(FILE *out, const struct profile *profile, const struct findings *findings,
                        const struct view_style *style);

#endif
