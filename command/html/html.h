/* Writes report.html: one self-contained page with a profile's numbers and the script that shows them. */
#ifndef BLAME_COMMAND_HTML_HTML_H
#define BLAME_COMMAND_HTML_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/findings/findings.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/tables/waits.h"

/* maximum number of rows, unless the user asks for more; a browser would take too long */
#define HTML_ROWS 100000
/* maximum number of locks: those with the longest waits */
#define HTML_LOCKS 5000
/* maximum number of phases: those with the longest exact time */
#define HTML_PHASES 5000
/* maximum number of phases with a series of their executions */
#define HTML_SERIES 20
/* maximum number of points in a series; a point combines as many executions as necessary */
#define HTML_SERIES_POINTS 2000

/* maximum number of columns in the map of a job's ranks; more ranks share columns */
#define HTML_MAP_RANKS 10000
/* maximum number of cells in the map */
#define HTML_MAP_CELLS 131072
/* maximum number of threads of a rank that have a row in the map */
#define HTML_MAP_THREADS 256
/* maximum number of rows with their differences between a job's ranks: those that differ most */
#define HTML_SPREADS 5000
/* maximum number of rows with their own time bins: those with the most time. The time of any other row is
 * counted for its nearest ancestor that has bins */
#define HTML_TIME_ROWS 4000
/* maximum number of a job's threads in the table: the first ones. The map contains all threads */
#define HTML_THREADS 5000

/* The content of a page: a profile and the tables made from it. */
struct html_input {
    const struct profile *profile;
    const struct rows *rows;
    const struct lock_table *locks;
    const struct wait_table *waits;
    const struct findings *findings;  /* NULL: the user did not ask for findings */
    const struct phase_table *phases; /* NULL if the program has no phases */
};

struct html_options {
    const char *title;      /* NULL: the command */
    const char *source_dir; /* folder that is searched first for source files; NULL: none */
    bool no_source;
    /* rows with a smaller share of every metric are folded; negative: as few as necessary */
    double least_percent;
};

/* Size of the written page, and what it leaves out. */
struct html_result {
    /* rows in the page; rows of the profile; rows of the profile that were folded */
    size_t rows, rows_total, rows_left_out;
    double least_percent; /* the share that was applied; 0: nothing was folded */
    size_t locks_left_out;
    size_t sources, sources_missing;
};

/* Writes the page. Returns false, with errno, if writing failed. */
bool html_write(FILE *out, const struct html_input *input, const struct html_options *options,
                struct html_result *result);

#endif
