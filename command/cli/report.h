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

/* Options that are not given are NOT_GIVEN or NULL. */
struct report_request {
    const char *input, *output;
    int view, format, by, metric, percent, colour;
    double least_percent;
    int depth, thread, rank, width;
    const char *focus, *hide, *column_list, *source_directory;
    /* the argument of --sort if it is not a metric's name, perhaps a counter's; `metric` is then
     * METRIC_COUNTER until the profile has been read */
    const char *counter;
    bool source, error, all;
    regex_t focus_expression, hide_expression; /* compiled from `focus` and `hide` unless these are NULL */
    struct view_columns columns;               /* set once the profile has been read */
};

extern const struct option_word report_view[]; /* indexed by enum report_view */
extern const char *const report_view_title[];  /* the same */

/* Reads and checks the options. The caller must call report_options_free(), whatever the result. */
enum options_result report_options_read(struct report_request *request, int argc, char **argv);
/* Looks up the metrics and counters in --sort and --columns among those of the profile. Returns false after a
 * message. */
bool report_options_measures(struct report_request *request, const struct rows *rows);
void report_options_free(struct report_request *request);

#endif
