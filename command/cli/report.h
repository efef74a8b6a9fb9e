/* The options of `blame report`. */
#ifndef BLAME_COMMAND_CLI_REPORT_H
#define BLAME_COMMAND_CLI_REPORT_H

#include <regex.h>
#include <stdbool.h>

#include "command/cli/options.h"
#include "command/profile/profile.h"
#include "command/views/style.h"

enum report_view {
    VIEW_TOP_DOWN,
    VIEW_BOTTOM_UP,
    VIEW_FLAT,
    VIEW_THREADS,
    VIEW_LOCKS,
    VIEW_WAITS,
    VIEW_FINDINGS,
    VIEW_PHASES,
    VIEW_RANKS,
    VIEW_SPREAD,
    VIEW_BALANCE,
    VIEW_TIMELINE,
    VIEW_CULPRITS,
    VIEW_COUNT
};
enum report_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_FOLDED };
enum { NOT_GIVEN = -1 };

/* NOT_GIVEN or NULL for options that are not given. */
struct report_request {
    const char *input, *output;
    int view, format, by, metric, percent, colour;
    double least_percent;
    int depth, thread, rank, width;
    const char *focus, *hide, *column_list, *source_directory;
    /* a name after --sort that is no metric; metric is METRIC_COUNTER until the profile is read */
    const char *counter;
    bool source, error, all;
    regex_t focus_expression, hide_expression; /* compiled if their texts are not NULL */
    struct view_columns columns;               /* filled in after the profile is read */
};

extern const struct option_word report_view[]; /* indexed by enum report_view */
extern const char *const report_view_title[];  /* the same */

/* Reads and checks the options. The caller calls report_options_free(), whatever the result. */
enum options_result report_options_read(struct report_request *request, int argc, char **argv);
/* Finds the metrics and counters of --sort and --columns in the profile's rows; false after a message. */
bool report_options_measures(struct report_request *request, const struct rows *rows);
void report_options_free(struct report_request *request);

#endif
