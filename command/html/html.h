/* report.html: one self-contained page with a profile's numbers, which the page's script shows. */
#ifndef BLAME_COMMAND_HTML_HTML_H
#define BLAME_COMMAND_HTML_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/findings/findings.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/tables/waits.h"

/* More rows than this are not put into a page unless that is asked for: a browser would take too long. */
#define HTML_ROWS 100000
/* Of locks the longest. */
#define HTML_LOCKS 5000
/* Of phases those with the most exact seconds, and of so many of them the series of their executions. */
#define HTML_PHASES 5000
#define HTML_SERIES 20
/* Points that a series has at most; each stands for as many executions as need be. */
#define HTML_SERIES_POINTS 2000

/* Of a job: columns and cells of the map of its ranks; more ranks share columns. Its threads beyond that number have no row. */
#define HTML_MAP_RANKS   10000
#define HTML_MAP_CELLS   131072
#define HTML_MAP_THREADS 256
/* Of a job's rows, how they differ between ranks: those that differ most. */
#define HTML_SPREADS 5000
/* Rows that have bins of time of their own: those with the most; the others' are in the rows above. */
#define HTML_TIME_ROWS 4000
/* Of a job's threads the first: the map has all. */
#define HTML_THREADS 5000

/* What is shown, all of one profile. */
struct html_input {
    const struct profile *profile;
    const struct rows *rows;
    const struct lock_table *locks;
    const struct wait_table *waits;
    const struct findings *findings;  /* NULL: none were looked for */
    const struct phase_table *phases; /* NULL: there are none */
};

struct html_options {
    const char *title;      /* NULL: the command */
    const char *source_dir; /* where sources are looked for first; NULL: only at their paths */
    bool no_source;
    double least_percent; /* rows below that share of every metric are folded; < 0: as many as must be */
};

/* What became of it. */
struct html_result {
    size_t rows, rows_total, rows_left_out; /* in the page; of the profile; folded of these */
    double least_percent;                   /* that was used, 0: nothing left out */
    size_t locks_left_out;
    size_t sources, sources_missing;
};

/* False: the stream is in error and errno says why. */
bool html_write(FILE *out, const struct html_input *input, const struct html_options *options,
                struct html_result *result);

#endif
