/* `blame report`: prints a view of a profile. */
#include "command/cli/report.h"

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/job_directory.h"
#include "command/cli/clean_stream.h"
#include "command/cli/cli.h"
#include "command/cli/job_files.h"
#include "command/cli/open_profile.h"
#include "command/cli/options.h"
#include "command/export/export.h"
#include "command/files/csv.h"
#include "command/findings/findings.h"
#include "command/rows/filter.h"
#include "command/rows/make.h"
#include "command/rows/metric.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/tables/waits.h"
#include "command/tables/wakes.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/source_text.h"
#include "command/views/arrange.h"
#include "command/views/lines.h"
#include "command/views/sort.h"
#include "command/views/style.h"
#include "command/views/text.h"

/* How much of a metric is in the call paths that --focus selects (part) and in the whole program (whole). */
struct report_focused {
    double part, whole;
    const char *title; /* the metric's or counter's title */
    bool seconds;
};

/* ---- notes ---- */

/* Prints that the view shows one thread, and which other threads' samples are in it. */

static void note_one_thread(FILE *notes, const struct report_request *request, const struct profile *profile)
{
    size_t sharing = 0;
    fprintf(notes, "--thread %d: only the samples of this thread; percentages refer to these samples, too.",
            request->thread);
    for (size_t i = 0; i < profile->thread_count; i++)
        sharing += profile->threads[i].tree == profile->tree;
    if (sharing > 1) {
        fputs(" They include samples of threads that ran before or after it:", notes);
        for (size_t i = 0; i < profile->thread_count; i++)
            if (profile->threads[i].tree == profile->tree && i != (size_t)request->thread)
                fprintf(notes, " %zu", i);
        putc('.', notes);
    }
    putc('\n', notes);
}

static void note_focus(FILE *notes, const struct report_request *request, const struct report_focused *focused)
{
    fprintf(notes, "--focus %s: only call paths with a matching row", request->focus);
    if (focused) {
        int decimals = focused->seconds ? 3 : 0;
        fprintf(notes, ": %s of the %s %s%s%s", DECIMAL(focused->part, decimals), DECIMAL(focused->whole, decimals),
                focused->seconds ? "s of " : "", focused->title, request->thread < 0 ? " in the whole program" : "");
    }
    fputs(focused ? ". Percentages are of the whole program.\n" : "; percentages are of these.\n", notes);
}

/* Returns the lines above a view that explain the chosen options, malloc'ed. `focused` is the share that
 * --focus selects; NULL if unknown. `rows` are the rows of a view with source lines; NULL for other views. */
static char *report_notes(const struct report_request *request, const struct profile *profile,
                          const struct report_focused *focused, const struct rows *rows)
{
    char *text;
    FILE *notes = memory_stream(&text);
    if (request->thread != NOT_GIVEN)
        note_one_thread(notes, request, profile);
    if (request->focus)
        note_focus(notes, request, focused);
    if (request->hide)
        fprintf(notes, "--hide %s: the cost of matching rows is added to the code that called them.\n", request->hide);
    if (rows && lines_are_missing(profile, rows))
        fputs("Note: " LINES_ADVICE ".\n", notes);
    memory_stream_close(notes);
    return text;
}

/* ---- the command ---- */

#define LEAST_PERCENT 0.5 /* default of --min for text output */
#define LOCKS_SHOWN   40  /* lines of a table in text output, unless options ask for more */
#define PLACES_SHOWN  30
#define PHASES_DEPTH  2
#define BELOW_SHOWN   3 /* contexts shown below each lock or wait place */

struct report {
    const struct report_request *request;
    const struct opened_profile *opened;
    struct rows *rows; /* the profile's rows, or those that --focus and --hide keep */
    FILE *out;
    struct view_style style;
};

static bool wants_colour(const struct report_request *request, FILE *out)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (request->colour)
        return request->colour == 1;
    return isatty(fileno(out)) && !(no_colour && *no_colour) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static enum metric choose_metric(const struct report *report)
{
    const struct report_request *request = report->request;
    if (request->metric != NOT_GIVEN)
        return (enum metric)request->metric;
    if (request->view > VIEW_FLAT)
        return request->view == VIEW_LOCKS ? METRIC_LOCK_WAIT : METRIC_EFFORT;
    return metric_default(report->rows);
}

static void start_report_style(struct report *report)
{
    const struct report_request *request = report->request;
    struct view_style *style = &report->style;
    *style = (struct view_style){
        .title = report_view_title[request->view],
        .by_exclusive = request->view != VIEW_TOP_DOWN,
        .relative = request->percent == 1,
        .columns = request->width != NOT_GIVEN ? (size_t)request->width : format_terminal_columns(report->out),
        .utf8 = format_locale_is_utf8(),
        .colour = wants_colour(request, report->out),
        .numbers = request->column_list ? &request->columns : NULL,
        .errors = request->error,
        .below = request->depth == 1 ? 0 : BELOW_SHOWN,
    };
    /* CSV is read by programs, so rows are left out only if options ask for it. */
    style->metric = choose_metric(report);
    style->least_percent = request->least_percent >= 0      ? request->least_percent
                           : request->format == FORMAT_TEXT ? LEAST_PERCENT
                                                            : 0;
}

/* Returns the rows of the requested view. May reorder report->rows, and may return them. */
static struct rows *arrange_report_rows(const struct report *report)
{
    const struct report_request *request = report->request;
    const struct view_style *style = &report->style;
    struct rows *rows = report->rows;
    uint32_t depth = request->depth == NOT_GIVEN ? UINT32_MAX : (uint32_t)request->depth;
    double total = rows_whole_value(rows, style->metric);
    if (request->view == VIEW_BOTTOM_UP)
        return view_bottom_up(rows, style->metric, 0.01 * style->least_percent * total, depth);
    if (request->view == VIEW_FLAT)
        return view_flat(rows, request->by == NOT_GIVEN ? FLAT_FUNCTION : (enum flat_by)request->by, style->metric);
    if (request->format == FORMAT_TEXT || request->metric != NOT_GIVEN)
        rows_order(rows, style->metric, false);
    return rows;
}

/* Removes the rows below --depth and, for CSV, those below --min. *deeper is the number of rows below
 * --depth. */
static void cut_report_rows(const struct report *report, struct rows *view, size_t *deeper)
{
    const struct view_style *style = &report->style;
    size_t count = view->count;
    if (report->request->depth != NOT_GIVEN)
        rows_limit_depth(view, (uint32_t)report->request->depth);
    *deeper = count - view->count;
    if (report->request->format == FORMAT_TEXT || style->least_percent <= 0)
        return;
    bool *visible = memory_array(view->count, sizeof *visible);
    rows_mark_shares(view, style->metric, style->by_exclusive, style->least_percent, visible);
    rows_keep(view, visible);
    free(visible);
}

/* Warns about `count` source files, the first of which is `path`. */
static void complain_source(const char *path, size_t count, const char *what)
{
    if (!count)
        return;
    char *clean = format_clean(path, true);
    fprintf(stderr, "blame report: %s%s: %s\n", clean, count > 1 ? " and others" : "", what);
    free(clean);
}

static void complain_sources(const struct source_text *sources)
{
    const char *first;
    size_t count = source_text_missing(sources, &first);
    complain_source(first, count,
                    "source not found, or it may not be shown; --source-dir DIR says where "
                    "sources are now");
    count = source_text_changed(sources, &first);
    complain_source(first, count, "this file changed after the run, so the lines shown may be wrong");
}

static void print_tree_text(struct report *report, const struct rows *view)
{
    const struct report_request *request = report->request;
    const struct profile *profile = report->opened->profile;
    struct view_style *style = &report->style;
    struct report_focused focused = {.part = row_value(report->rows, &report->rows->row[0], false, style->metric),
                                     .whole = rows_whole_value(report->rows, style->metric),
                                     .title = rows_metric_title(report->rows, style->metric),
                                     .seconds = style->metric != METRIC_SAMPLES && style->metric < METRIC_COUNTER};
    char *notes = report_notes(request, profile, &focused, report->opened->rows);
    style->notes = notes;
    if (request->source)
        style->sources = source_text_new(request->source_directory, source_shown_to_others(report->out),
                                         profile->header.start_realtime_ns);
    view_text(report->out, profile, view, style);
    if (style->sources)
        complain_sources(style->sources);
    source_text_free(style->sources);
    free(notes);
}

static void print_tree(struct report *report)
{
    struct view_style *style = &report->style;
    struct rows *view = arrange_report_rows(report);
    cut_report_rows(report, view, &style->deeper);
    if (view->incomplete)
        fprintf(stderr,
                "blame report: the bottom-up view has more than %d rows; further callers are left out: use --min, "
                "--depth or --focus\n",
                VIEW_CALLERS_ROWS);
    if (report->request->format == FORMAT_TEXT)
        print_tree_text(report, view);
    else if (report->request->format == FORMAT_FOLDED)
        export_folded(report->out, view, style->metric);
    else
        write_profile_csv(report->out, view, report->request->error);
    if (view != report->rows)
        rows_free(view);
}

static void print_threads(struct report *report)
{
    const struct profile *profile = report->opened->profile;
    bool sorted = report->request->metric != NOT_GIVEN;
    size_t *order = sorted ? view_sort_threads(profile, report->style.metric) : NULL;
    report->style.order = order;
    if (report->request->format == FORMAT_CSV)
        write_threads_csv(report->out, profile, order);
    else
        view_text_threads(report->out, profile, &report->style);
    free(order);
}

static void print_locks(struct report *report)
{
    const struct report_request *request = report->request;
    const struct opened_profile *opened = report->opened;
    struct lock_table *table = lock_table_gather(opened->profile, opened->rows, opened->symbols);
    bool limited = request->least_percent >= 0;
    struct view_cut left_out = view_sort_locks(table, report->style.metric, limited ? request->least_percent : 0);
    report->style.cut = &left_out;
    report->style.most = limited ? 0 : LOCKS_SHOWN;
    if (request->format == FORMAT_CSV)
        write_locks_csv(report->out, table);
    else
        view_text_locks(report->out, opened->profile, table, &report->style);
    lock_table_free(table);
}

static void print_waits(struct report *report)
{
    const struct report_request *request = report->request;
    const struct opened_profile *opened = report->opened;
    struct lock_table *locks = lock_table_gather(opened->profile, opened->rows, opened->symbols);
    struct wait_table *table = wait_table_gather(opened->profile, report->rows, locks, opened->symbols);
    struct wake_table *wakes = wake_table_gather(opened->profile, opened->rows, opened->symbols);
    char *notes = report_notes(request, opened->profile, NULL, NULL);
    struct view_cut left_out = view_sort_waits(table, report->style.metric, report->style.least_percent);
    report->style.notes = notes;
    report->style.cut = &left_out;
    report->style.most = request->least_percent >= 0 ? 0 : PLACES_SHOWN;
    if (request->format == FORMAT_CSV)
        write_waits_csv(report->out, report->rows, table);
    else
        view_text_waits(report->out, opened->profile, report->rows, table, &report->style);
    if (request->format != FORMAT_CSV)
        view_text_wakes(report->out, opened->rows, wakes, &report->style);
    free(notes);
    wake_table_free(wakes);
    wait_table_free(table);
    lock_table_free(locks);
}

static void print_findings_view(struct report *report)
{
    const struct opened_profile *opened = report->opened;
    double least = report->request->least_percent;
    struct lock_table *locks = lock_table_gather(opened->profile, opened->rows, opened->symbols);
    struct wait_table *waits = wait_table_gather(opened->profile, opened->rows, locks, opened->symbols);
    struct findings *findings = findings_gather(opened->profile, opened->rows, locks, waits);
    report->style.least_percent = least > 0 ? least : 0;
    if (report->request->format == FORMAT_CSV)
        write_findings_csv(report->out, findings, report->style.least_percent);
    else
        view_text_findings(report->out, opened->profile, findings, &report->style);
    findings_free(findings);
    wait_table_free(waits);
    lock_table_free(locks);
}

static void print_phases_view(struct report *report)
{
    const struct report_request *request = report->request;
    const struct profile *profile = report->opened->profile;
    struct phase_table *table = phases_gather(profile, report->rows);
    uint32_t depth = request->depth == NOT_GIVEN ? PHASES_DEPTH : (uint32_t)request->depth;
    if (request->format == FORMAT_CSV)
        write_phases_csv(report->out, report->rows, table);
    else
        view_text_phases(report->out, profile, report->rows, table, depth, &report->style);
    phases_free(table);
}

static void print_ranks_view(struct report *report)
{
    const struct profile *profile = report->opened->profile;
    report->style.all = report->request->all;
    if (report->request->format == FORMAT_CSV)
        write_ranks_csv(report->out, profile);
    else
        view_text_ranks(report->out, profile, &report->style);
}

static void print_spread_view(struct report *report)
{
    const struct profile *profile = report->opened->profile;
    if (report->request->format == FORMAT_CSV)
        write_spread_csv(report->out, profile, report->rows);
    else
        view_text_spread(report->out, profile, report->rows, &report->style);
}

static void print_balance(struct report *report)
{
    const struct opened_profile *opened = report->opened;
    report->style.all = report->request->all;
    if (report->request->format == FORMAT_CSV)
        write_balance_csv(report->out, opened->profile, opened->rows);
    else
        view_text_balance(report->out, opened->profile, opened->rows, &report->style);
}

static void print_timeline(struct report *report)
{
    const struct opened_profile *opened = report->opened;
    report->style.all = report->request->all;
    if (report->request->format == FORMAT_CSV)
        write_timeline_csv(report->out, opened->profile);
    else
        view_text_timeline(report->out, opened->profile, opened->rows, &report->style);
}

static void print_culprits(struct report *report)
{
    const struct opened_profile *opened = report->opened;
    report->style.all = report->request->all;
    if (report->request->format != FORMAT_CSV) {
        view_text_culprits(report->out, opened->profile, opened->rows, &report->style);
        return;
    }
    struct culprits culprits = culprits_gather(opened->profile, opened->rows, false);
    write_culprits_csv(report->out, opened->profile, opened->rows, &culprits);
    culprits_free(&culprits);
}

static void (*const print_view[VIEW_COUNT])(struct report *report) = {
    [VIEW_TOP_DOWN] = print_tree,          [VIEW_BOTTOM_UP] = print_tree,     [VIEW_FLAT] = print_tree,
    [VIEW_THREADS] = print_threads,        [VIEW_LOCKS] = print_locks,        [VIEW_WAITS] = print_waits,
    [VIEW_FINDINGS] = print_findings_view, [VIEW_PHASES] = print_phases_view, [VIEW_RANKS] = print_ranks_view,
    [VIEW_SPREAD] = print_spread_view,     [VIEW_BALANCE] = print_balance,    [VIEW_TIMELINE] = print_timeline,
    [VIEW_CULPRITS] = print_culprits,
};

/* Applies --focus and --hide to the rows. Returns false after a message if no row is left. */
static bool filter_report_rows(struct report *report)
{
    const struct report_request *request = report->request;
    const struct rows_filter filter = {.focus = request->focus ? &request->focus_expression : NULL,
                                       .hide = request->hide ? &request->hide_expression : NULL};
    report->rows = report->opened->rows;
    if (!filter.focus && !filter.hide)
        return true;
    report->rows = rows_filter(report->opened->rows, &filter);
    if (!request->focus || report->rows->count > 1)
        return true;
    fprintf(stderr, "blame report: --focus %s: in %s, no row with time has a matching name or file\n", request->focus,
            request->input);
    return false;
}

static bool open_report_input(const struct report_request *request, struct opened_profile *opened)
{
    bool of_jobs = request->view == VIEW_RANKS || request->view == VIEW_SPREAD || request->view == VIEW_BALANCE;
    if (request->view != VIEW_THREADS && request->view != VIEW_RANKS) {
        if (!open_thread_rows("report", request->input, request->thread, opened))
            return false;
    } else {
        *opened = (struct opened_profile){.input = request->input, .profile = open_profile("report", request->input)};
    }
    bool of_time = request->view == VIEW_TIMELINE || request->view == VIEW_CULPRITS;
    if (opened->profile && of_time && !opened->profile->timeline.bins) {
        fprintf(stderr,
                "blame report: --view %s: %s has no timeline, because it was measured with BLAME_TIMELINE=0 or by an "
                "older blame\n",
                report_view[request->view].word, request->input);
        close_profile(opened);
        return false;
    }
    if (!opened->profile || !of_jobs || opened->profile->header.merged)
        return opened->profile != NULL;
    fprintf(stderr, "blame report: --view %s: %s is the profile of one process; expected the directory of a job\n",
            report_view[request->view].word, request->input);
    close_profile(opened);
    return false;
}

/* Prints the view. On a terminal, CSV and folded output are cleaned of control characters; elsewhere they
 * contain names unchanged. */
static void print_report_to(struct report *report, FILE *out)
{
    bool data = report->request->format != FORMAT_TEXT && isatty(fileno(out));
    report->out = out;
    start_report_style(report);
    if (data)
        report->out = clean_stream(out);
    print_view[report->request->view](report);
    if (data)
        fclose(report->out);
}

/* Returns the path of the measurement file of the rank in --rank, or the operand without --rank; malloc'ed.
 * Returns NULL after a message. If several processes had this rank, the file is the first one's. */
static char *rank_measurement_path(const struct report_request *request)
{
    char name[40];
    if (request->rank == NOT_GIVEN)
        return memory_text("%s", request->input);
    snprintf(name, sizeof name, JOB_RANK_FORMAT, (unsigned)request->rank);
    char *file = memory_text("%s/%s", request->input, name);
    if (access(file, F_OK) == 0)
        return file;
    bool job = job_is_there(request->input);
    fprintf(stderr, "blame report: --rank %d: %s %s; expected %s\n", request->rank, request->input,
            job ? "has no file of this rank" : "is not the directory of a job",
            job ? "a rank that --view ranks names and whose file still exists" : "the directory of a job");
    free(file);
    return NULL;
}

static int run_report(struct report_request *request)
{
    struct opened_profile opened;
    struct out_file out;
    if (!check_source_dir("report", request->source_directory) || !open_report_input(request, &opened))
        return CLI_BAD_INPUT;
    struct report report = {.request = request, .opened = &opened};
    bool named = report_options_measures(request, opened.rows);
    int status = named ? CLI_BAD_INPUT : CLI_BAD_USAGE;
    if (named && filter_report_rows(&report) && out_file_open(&out, "report", request->output)) {
        print_report_to(&report, out.stream);
        status = out_file_close(&out, true);
    }
    if (report.rows != opened.rows)
        rows_free(report.rows);
    close_profile(&opened);
    return status;
}

int cli_report(int argc, char **argv)
{
    struct report_request request;
    enum options_result parsed = report_options_read(&request, argc, argv);
    int status = parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (parsed == OPTIONS_RUN) {
        char *input = rank_measurement_path(&request);
        request.input = input;
        status = input ? run_report(&request) : CLI_BAD_INPUT;
        free(input);
    }
    report_options_free(&request);
    return status;
}
