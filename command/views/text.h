/* Prints views as text. */
#ifndef BLAME_COMMAND_VIEWS_TEXT_H
#define BLAME_COMMAND_VIEWS_TEXT_H

#include <stdio.h>

#include "command/views/style.h"

struct findings;
struct lock_table;
struct phase_table;
struct wait_table;
struct wake_table;

/* Prints a tree of rows, which must be ordered by the style's metric. */
void view_text(FILE *out, const struct profile *profile, const struct rows *rows, const struct view_style *style);
void view_text_threads(FILE *out, const struct profile *profile, const struct view_style *style);
void view_text_ranks(FILE *out, const struct profile *profile, const struct view_style *style);
void view_text_efficiencies(FILE *out, const struct profile *profile, const struct view_style *style);
/* Prints how much rows differ between the ranks of a job. */
void view_text_spread(FILE *out, const struct profile *profile, const struct rows *rows,
                      const struct view_style *style);
/* Prints the waiting in collective calls that is charged to late ranks. */
void view_text_balance(FILE *out, const struct profile *profile, const struct rows *rows,
                       const struct view_style *style);
void view_text_locks(FILE *out, const struct profile *profile, const struct lock_table *table,
                     const struct view_style *style);
/* Prints who woke whom, after view_text_waits(). Prints nothing if that is unknown. */
void view_text_wakes(FILE *out, const struct rows *rows, const struct wake_table *table,
                     const struct view_style *style);
void view_text_waits(FILE *out, const struct profile *profile, const struct rows *rows, const struct wait_table *table,
                     const struct view_style *style);

/* Prints phases with the code that ran in them, `depth` levels including the phase itself, and the exact and
 * sampled times of events and parameters. */
void view_text_phases(FILE *out, const struct profile *profile, const struct rows *rows,
                      const struct phase_table *table, uint32_t depth, const struct view_style *style);
/* Print the threads' states over time and the code that was blamed, or only that code. The profile must have
 * a timeline. */
void view_text_timeline(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct view_style *style);
void view_text_culprits(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct view_style *style);
void view_text_findings(FILE *out, const struct profile *profile, const struct findings *findings,
                        const struct view_style *style);

#endif
