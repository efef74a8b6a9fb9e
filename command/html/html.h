/* report.html: one self-contained page with a profile's numbers and the script that shows them. */
#ifndef BLAME_COMMAND_HTML_HTML_H
#define BLAME_COMMAND_HTML_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/findings/findings.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/tables/waits.h"

/* Most rows of a page, unless the user asks for more: a browser would take too long. */
#define HTML_ROWS 100000
/* Most locks: those with the longest waits. */
#define HTML_LOCKS 5000
/* Most phases: those with the most exact seconds. */
#define HTML_PHASES 5000
/* Most phases with a series of their executions. */
#define HTML_SERIES 20
/* Most points of a series; a point stands for as many executions as necessary. */
#define HTML_SERIES_POINTS 2000

/* Most columns of the map of a job's ranks; further ranks share columns. */
#define HTML_MAP_RANKS 10000
/* Most cells of the map. */
#define HTML_MAP_CELLS 131072
/* Most threads of a rank with a row in the map. */
#define HTML_MAP_THREADS 256
/* Most rows of a job with their differences between ranks: those that differ most. */
#define HTML_SPREADS 5000
/* Most rows with their own bins of time: those with the most time. Other rows count for the rows above them. */
#define HTML_TIME_ROWS 4000
/* Most threads of a job in the table, the first ones. The map contains all. */
#define HTML_THREADS 5000

/* What a page shows: one profile and the tables made of it. */
struct html_input {
    const struct profile *profile;
    const struct rows *rows;
    const struct lock_table *locks;
    const struct wait_table *waits;
    const struct findings *findings;  /* NULL if findings were not requested */
    const struct phase_table *phases; /* NULL if the program has no phases */
};

struct html_options {
    const char *title;      /* NULL for the command */
    const char *source_dir; /* folder that is searched for sources first; NULL for none */
    bool no_source;
    double least_percent; /* rows below that share of every metric are folded; < 0: as many as must be */
};

/* Size of the written page. */
struct html_result {
    size_t rows, rows_total, rows_left_out; /* in the page; of the profile; folded of these */
    double least_percent;                   /* the share that was applied; 0 if nothing was left out */
    size_t locks_left_out;
    size_t sources, sources_missing;
};

/* Writes the page. Returns false if the stream is in error; errno says why. */
bool html_write(FILE *out, const struct html_input *input, const struct html_options *options,
                struct html_result *result);

#endif
