/* Writes report.html: a single file that contains the numbers of a profile and the script that displays them. */
#ifndef BLAME_COMMAND_HTML_HTML_H
#define BLAME_COMMAND_HTML_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/findings/findings.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/tables/waits.h"
#include "command/tables/wakes.h"

/* maximum number of rows in the page, unless the user asks for more; with more rows, a browser takes too long */
#define HTML_ROWS 100000
/* maximum number of locks in the page; the locks with the longest waits are kept */
#define HTML_LOCKS 5000
/* maximum number of phases in the page; the phases with the longest exact time are kept */
#define HTML_PHASES 5000
/* maximum number of phases for which the page has a series: a curve over the phase's executions */
#define HTML_SERIES 20
/* maximum number of points in a series; if there are more executions, several share a point */
#define HTML_SERIES_POINTS 2000

/* maximum number of columns in the map of a job's ranks; if there are more ranks, several share a column */
#define HTML_MAP_RANKS 10000
/* maximum number of cells in the map of a job's ranks */
#define HTML_MAP_CELLS 131072
/* maximum number of threads of a rank that get a row in the map */
#define HTML_MAP_THREADS 256
/* maximum number of rows that show how their time differs between ranks; the rows that differ most are kept */
#define HTML_SPREADS 5000
/* maximum number of rows with time bins of their own; the rows with the most time are kept. The time of any
 * other row is added to its nearest ancestor with bins */
#define HTML_TIME_ROWS 4000
/* maximum number of threads of a job in the table of threads; the first threads are kept. The map contains
 * all threads */
#define HTML_THREADS 5000

/* The content of the page: a profile, and tables that were made from the profile. */
struct html_input {
    const struct profile *profile;
    const struct rows *rows;
    const struct lock_table *locks;
    const struct wait_table *waits;
    const struct wake_table *wakes;
    const struct findings *findings;  /* NULL: the user wants no findings */
    const struct phase_table *phases; /* NULL: the program has no phases */
};

struct html_options {
    const char *title;      /* title of the page; NULL: the command line of the program */
    const char *source_dir; /* directory in which source files are looked for first; NULL: none */
    bool no_source;
    /* rows with a smaller share of every metric are merged; negative: as few rows as necessary are merged */
    double least_percent;
};

/* The numbers of rows that the page contains and leaves out. */
struct html_result {
    /* number of rows in the page, in the profile, and in the profile but not in the page */
    size_t rows, rows_total, rows_left_out;
    double least_percent; /* rows with a smaller share were merged; 0: no row was merged */
    size_t locks_left_out;
    size_t sources, sources_missing;
};

/* Writes the page. Returns false and sets errno if writing failed. */
bool html_write(FILE *out, const struct html_input *input, const struct html_options *options,
                struct html_result *result);

#endif
