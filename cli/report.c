/* `blame report`: reads a measurement and prints one view of it. */
#include <stdbool.h>
#include <stdio.h>

#include "cct/profile_read.h"
#include "cli/cli.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "report/format.h"
#include "report/locks.h"
#include "report/rows.h"
#include "report/symbols.h"
#include "report/views.h"
#include "report/waits.h"
#include "report/write_csv.h"

enum view { VIEW_TOP_DOWN, VIEW_BOTTOM_UP, VIEW_FLAT, VIEW_THREADS, VIEW_LOCKS, VIEW_WAITS };
enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_FOLDED };

#define LEAST_PERCENT 0.5 /* of text views, unless --min says otherwise */

static const char *const view_name[] = {"top-down", "bottom-up", "flat", "threads", "locks", "waits", NULL};
static const char *const view_title[] = {"Top-down", "Bottom-up", "Flat", "Threads", "Locks", "Waits"};
static const char *const format_name[] = {"text", "csv", "folded", NULL};

struct request {
    const char *input;
    int view, format, measure; /* measure: -1 = not given */
    double least_percent;      /* -1 = not given */
};

static const struct usage usage = {
    .command = "report",
    .synopsis = "DIR [options]",
    .about = "DIR is a profile directory, or a measurement file (*.blame) in one.",
    .examples = "  blame report blame-amg-4711\n"
                "  blame report blame-amg-4711 --view bottom-up --sort lock-wait\n"
                "  blame report blame-amg-4711 --format folded | flamegraph.pl > idleness.svg",
    .operands_least = 1,
    .operands_most = 1,
    .operands = "a profile directory or a *.blame file",
};

static enum options_result parse_arguments(struct request *request, int argc, char **argv)
{
    const struct option_spec options[] = {
        {"--view", OPTION_WORD, &request->view, "VIEW", view_name, 0, 0,
         "top-down   the program from main on, callees below callers (default)\n"
         "bottom-up  functions by their own cost, callers below\n"
         "flat       functions by their own cost, source lines below\n"
         "threads    what each thread did with its time\n"
         "locks      who was waited for, and who held the lock\n"
         "waits      where threads waited, and whose code kept them waiting"},
        {"--format", OPTION_WORD, &request->format, "FORMAT", format_name, 0, 0,
         "text (default), csv (every row, the columns of profile.csv), or folded\n"
         "(stacks of one metric, for flame graphs)"},
        {"--sort", OPTION_WORD, &request->measure, "METRIC", measure_name, 0, 0,
         "idleness (default), work, overhead, lock-wait, lock-wait-here,\n"
         "core-idleness, shared-idleness, samples"},
        {"--min", OPTION_NUMBER, &request->least_percent, "PERCENT", NULL, 0, 100,
         "text: leave out rows below this share of the metric (default 0.5)"},
    };
    struct usage complete = usage;
    complete.options = options;
    complete.option_count = sizeof options / sizeof *options;
    const char *operand[argc];
    int count;
    enum options_result result = options_read(&complete, argc, argv, operand, &count);
    if (result != OPTIONS_RUN)
        return result;
    request->input = operand[0];
    if (request->format == FORMAT_FOLDED && request->view >= VIEW_THREADS) {
        fprintf(
            stderr,
            "blame report: --format folded: accepted with --view top-down, bottom-up, flat; not with %s\n",
            view_name[request->view]);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

/* Without --sort: idleness, or work where nothing idles. */
static enum measure choose_measure(const struct request *request, const struct rows *rows)
{
    const struct profile_metric *total = rows->row[0].inclusive;
    if (request->measure >= 0)
        return (enum measure)request->measure;
    return measure_value(rows, total, MEASURE_IDLENESS) > 0 ? MEASURE_IDLENESS : MEASURE_WORK;
}

/* Prints one of the tree views; false: no memory. `rows` may be reordered. */
static bool print_tree(const struct request *request, const struct profile *profile, struct rows *rows)
{
    enum measure measure = choose_measure(request, rows);
    bool text = request->format == FORMAT_TEXT;
    double total = measure_value(rows, rows->row[0].inclusive, measure);
    /* Whole tables are for machines: nothing is left out that was not asked for. */
    double percent = request->least_percent >= 0 ? request->least_percent : text ? LEAST_PERCENT : 0;
    struct view_style style = {.title = view_title[request->view],
                               .measure = measure,
                               .by_exclusive = request->view != VIEW_TOP_DOWN,
                               .least_percent = percent,
                               .columns = format_terminal_columns(stdout),
                               .utf8 = format_locale_is_utf8()};
    struct rows *view = rows;
    if (request->view == VIEW_BOTTOM_UP)
        view = view_bottom_up(rows, measure, 0.01 * percent * total);
    else if (request->view == VIEW_FLAT)
        view = view_flat(rows, measure);
    else if (text && !rows_order(rows, measure, false))
        view = NULL;
    bool good = view != NULL;
    if (good && view->incomplete)
        fprintf(stderr,
                "blame report: the bottom-up view has more than %d rows; callers beyond are left out: use "
                "--min\n",
                VIEW_CALLERS_ROWS);
    if (good && text)
        good = view_text(stdout, profile, view, &style);
    else if (good && request->format == FORMAT_FOLDED)
        good = view_folded(stdout, view, measure);
    else if (good)
        write_profile_csv(stdout, view);
    if (view != rows)
        rows_free(view);
    return good;
}

static bool print_locks(const struct request *request, const struct profile *profile, const struct rows *rows,
                        struct symbols *symbols)
{
    struct lock_table *table = locks_gather(profile, rows, symbols);
    bool good = table != NULL;
    if (good && request->format == FORMAT_CSV)
        good = write_locks_csv(stdout, table);
    else if (good)
        good = view_text_locks(stdout, profile, rows, table, format_terminal_columns(stdout),
                               format_locale_is_utf8());
    locks_free(table);
    return good;
}

static bool print_waits(const struct request *request, const struct profile *profile, const struct rows *rows,
                        struct symbols *symbols)
{
    struct lock_table *locks = locks_gather(profile, rows, symbols);
    struct wait_table *table = locks ? waits_gather(profile, rows, locks, symbols) : NULL;
    if (table && request->format == FORMAT_CSV)
        write_waits_csv(stdout, rows, table);
    else if (table)
        view_text_waits(stdout, profile, rows, table, format_terminal_columns(stdout),
                        format_locale_is_utf8());
    bool good = table != NULL;
    waits_free(table);
    locks_free(locks);
    return good;
}

static bool print_view(const struct request *request, const struct profile *profile)
{
    if (request->view == VIEW_THREADS) {
        if (request->format == FORMAT_CSV)
            write_threads_csv(stdout, profile);
        else
            view_text_threads(stdout, profile, format_terminal_columns(stdout), format_locale_is_utf8());
        return true;
    }
    struct symbols *symbols = symbols_open(profile->modules, profile->module_count);
    struct rows *rows = symbols ? rows_build(profile, symbols) : NULL;
    bool good = rows != NULL;
    if (good && request->view == VIEW_LOCKS)
        good = print_locks(request, profile, rows, symbols);
    else if (good && request->view == VIEW_WAITS)
        good = print_waits(request, profile, rows, symbols);
    else if (good)
        good = print_tree(request, profile, rows);
    rows_free(rows);
    if (symbols)
        symbols_close(symbols);
    return good;
}

int cli_report(int argc, char **argv)
{
    struct request request = {.measure = -1, .least_percent = -1};
    enum options_result parsed = parse_arguments(&request, argc, argv);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    struct out_file out;
    struct profile *profile = open_profile("report", request.input);
    if (!profile)
        return CLI_BAD_INPUT;
    out_file_open(&out, "report", NULL);
    bool good = print_view(&request, profile);
    profile_free(profile);
    return out_file_close(&out, good);
}
