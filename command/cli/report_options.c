/* The options of `blame report`, and which of them can be combined. */
#include "command/cli/open_profile.h"
#include "command/cli/report.h"
#include "command/views/arrange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option_word report_view[] = {
    {"top-down", "call paths from main down (default)"},
    {"bottom-up", "functions by their own cost, with their callers below"},
    {"flat", "functions by their own cost, with their source lines below"},
    {"threads", "what each thread did with its time"},
    {"locks", "which locks threads waited for, and which code held them"},
    {"waits", "where threads waited, and which code kept them waiting"},
    {"findings", "what to look at first, with evidence and advice"},
    {"phases", "the phases and events that the program marked, and the code that ran in them"},
    {"ranks", "what each rank of a job did with the time of its threads"},
    {"spread", "code whose cost differs most between the ranks of a job"},
    {"balance", "which ranks of a job keep others waiting, including ranks on other nodes"},
    {"timeline", "what each thread did when, and which code others waited for"},
    {"culprits", "which code others waited for, and when"},
    {NULL, NULL},
};
const char *const report_view_title[] = {"Top-down", "Bottom-up", "Flat",     "Threads", "Locks",
                                         "Waits",    "Findings",  "Phases",   "Ranks",   "Spread",
                                         "Balance",  "Timeline",  "Culprits", NULL};

static const struct option_word by[] = {
    {"function", "(default)"},
    {"file", "source files"},
    {"module", "the program and its libraries"},
    {"construct", "parallel regions, tasks and runtime entries"},
    {NULL, NULL},
};
static const struct option_word format[] = {
    {"text", "(default)"},
    {"csv", "the columns of profile.csv"},
    {"folded", "call paths with one metric, for flame graphs"},
    {NULL, NULL},
};
static const struct option_word percent[] = {
    {"absolute", "of the whole program's effort (default)"},
    {"relative", "of the row's own effort"},
    {NULL, NULL},
};
static const struct option_word colour[] = {
    {"auto", "on a terminal, unless NO_COLOR is set (default)"},
    {"always", "also in files"},
    {"never", "nowhere"},
    {NULL, NULL},
};

static const struct usage usage = {
    .command = "report",
    .synopsis = "[DIR] [options]",
    .about = "Shows a profile in the terminal. DIR is a profile directory, a job's directory, or a measurement file "
             "(*.blame).\n"
             "Without DIR, blame shows the newest profile in the current directory.",
    .examples = "  blame report\n"
                "  blame report blame-amg-4711 --view bottom-up --sort lock-wait\n"
                "  blame report blame-amg-4711 --focus relax --hide '^__kmpc' --source\n"
                "  blame report blame-amg-4711 --view flat --by file --columns work,idleness,idleness%\n"
                "  blame report blame-amg-4711 --format folded | flamegraph.pl > idleness.svg",
    .operands_most = 1,
    .operands_newest = true,
    .operands = "a profile directory or a *.blame file",
    .groups = (const struct option_word[]){{"--view", "Common options"},
                                           {"--focus", "Which rows are shown"},
                                           {"--columns", "Which numbers are shown"},
                                           {"--format", "How the report is written"},
                                           {NULL, NULL}},
};

enum {
    TREES = 1 << VIEW_TOP_DOWN | 1 << VIEW_BOTTOM_UP | 1 << VIEW_FLAT,
    LINES = 1 << VIEW_TOP_DOWN | 1 << VIEW_FLAT,
    TABLES = 1 << VIEW_LOCKS | 1 << VIEW_WAITS,
};

/* Prints "works with --view A, B" for the set bits of `views`. */
static void print_view_names(int views)
{
    fputs("works with --view", stderr);
    for (int view = 0, count = 0; view < VIEW_COUNT; view++)
        if (views & 1 << view)
            fprintf(stderr, "%s %s", count++ ? "," : "", report_view[view].word);
}

static bool fits_view(const struct report_request *request, const char *option, const char *value, bool given,
                      int views)
{
    if (!given || views & 1 << request->view)
        return true;
    fprintf(stderr, "blame report: %s%s%s: ", option, value ? " " : "", value ? value : "");
    print_view_names(views);
    fprintf(stderr, ", not with %s\n", report_view[request->view].word);
    return false;
}

static bool fits_format(const struct report_request *request, const char *option, bool given)
{
    if (!given || request->format == FORMAT_TEXT)
        return true;
    fprintf(stderr, "blame report: %s: works with --format text, not with %s\n", option, format[request->format].word);
    return false;
}

/* Returns the metrics by which a view's table can be sorted, as bits of enum metric; -1 for a tree, which can
 * be sorted by all. */
static int metrics_of_view(int view)
{
    switch (view) {
    case VIEW_THREADS:
        return 1 << METRIC_IDLENESS | 1 << METRIC_WORK | 1 << METRIC_OVERHEAD | 1 << METRIC_LOCK_WAIT |
               1 << METRIC_SAMPLES | 1 << METRIC_NO_CORE | 1 << METRIC_BLOCKED | 1 << METRIC_MPI_WAIT;
    case VIEW_LOCKS:
        return 1 << METRIC_LOCK_WAIT | 1 << METRIC_LOCK_WAIT_HERE | 1 << METRIC_SAMPLES;
    case VIEW_WAITS:
        return 1 << METRIC_IDLENESS | 1 << METRIC_LOCK_WAIT | 1 << METRIC_RANK_IDLENESS;
    case VIEW_SPREAD:
        return 1 << METRIC_WORK | 1 << METRIC_MPI_WAIT;
    case VIEW_FINDINGS:
    case VIEW_PHASES:
    case VIEW_RANKS:
    case VIEW_BALANCE:
    case VIEW_TIMELINE:
    case VIEW_CULPRITS:
        return 0;
    default:
        return -1;
    }
}

static bool view_can_be_sorted(const struct report_request *request)
{
    int accepted = metrics_of_view(request->view);
    if (request->metric == NOT_GIVEN || accepted & 1 << request->metric)
        return true;
    if (accepted == 0) {
        fprintf(stderr, "blame report: --sort: does not work with --view %s, which always shows the %s first\n",
                report_view[request->view].word,
                request->view == VIEW_PHASES                                       ? "most exact seconds"
                : request->view == VIEW_TIMELINE || request->view == VIEW_CULPRITS ? "most blamed"
                                                                                   : "greatest share");
        return false;
    }
    fprintf(stderr, "blame report: --sort %s: with --view %s, expected one of",
            request->counter ? request->counter : metric_word[request->metric], report_view[request->view].word);
    for (int metric = 0, count = 0; metric < METRIC_NAMED; metric++)
        if (accepted & 1 << metric)
            fprintf(stderr, "%s %s", count++ ? "," : "", metric_word[metric]);
    fputc('\n', stderr);
    return false;
}

static bool report_options_fit(const struct report_request *request)
{
    return fits_view(request, "--format", "folded", request->format == FORMAT_FOLDED, TREES) &&
           fits_view(request, "--by", NULL, request->by != NOT_GIVEN, 1 << VIEW_FLAT) &&
           fits_view(request, "--min", NULL, request->least_percent >= 0,
                     TREES | TABLES | 1 << VIEW_FINDINGS | 1 << VIEW_PHASES | 1 << VIEW_SPREAD) &&
           fits_view(request, "--depth", NULL, request->depth != NOT_GIVEN, TREES | TABLES | 1 << VIEW_PHASES) &&
           fits_view(request, "--focus", NULL, request->focus, TREES | 1 << VIEW_WAITS) &&
           fits_view(request, "--hide", NULL, request->hide, TREES | 1 << VIEW_WAITS) &&
           fits_view(request, "--all", NULL, request->all,
                     1 << VIEW_RANKS | 1 << VIEW_BALANCE | 1 << VIEW_TIMELINE | 1 << VIEW_CULPRITS) &&
           fits_view(request, "--thread", NULL, request->thread != NOT_GIVEN, TREES | 1 << VIEW_WAITS) &&
           fits_view(request, "--columns", NULL, request->column_list, TREES) &&
           fits_view(request, "--percent", NULL, request->percent != NOT_GIVEN, TREES) &&
           fits_view(request, "--error", NULL, request->error, TREES) &&
           fits_view(request, "--source", NULL, request->source, LINES) &&
           fits_view(request, "--source-dir", NULL, request->source_directory, LINES) &&
           fits_format(request, "--columns", request->column_list) &&
           fits_format(request, "--percent", request->percent != NOT_GIVEN) &&
           (request->format == FORMAT_CSV || fits_format(request, "--error", request->error)) &&
           fits_format(request, "--source", request->source) &&
           fits_format(request, "--source-dir", request->source_directory) && view_can_be_sorted(request);
}

/* Compiles the regular expression of an option. After a failure and a message, returns false with *text NULL,
 * so that nothing is freed. */
static bool compile_option_regex(const char *option, const char **text, regex_t *expression)
{
    char error[256];
    int wrong = *text ? regcomp(expression, *text, REG_EXTENDED | REG_NOSUB) : 0;
    if (!wrong)
        return true;
    regerror(wrong, expression, error, sizeof error);
    fprintf(stderr, "blame report: %s %s: %s; expected a POSIX extended regular expression\n", option, *text, error);
    *text = NULL;
    return false;
}

bool report_options_measures(struct report_request *request, const struct rows *rows)
{
    char error[2048];
    enum metric metric;
    if (request->counter && !rows_find_metric(rows, request->counter, strlen(request->counter), &metric)) {
        char *names = rows_metric_names(rows);
        struct option_suggestion suggestion = {.typed = request->counter};
        for (size_t i = 0; i < METRIC_NAMED; i++)
            options_suggest(&suggestion, metric_word[i]);
        fprintf(stderr, "blame report: --sort %s:", request->counter);
        options_print_suggestion(&suggestion);
        fprintf(stderr, " expected one of %s\n", names);
        free(names);
        return false;
    }
    if (request->counter)
        request->metric = (int)metric;
    if (!request->column_list || view_columns_read(&request->columns, rows, request->column_list,
                                                   request->view != VIEW_TOP_DOWN, error, sizeof error))
        return true;
    fprintf(stderr, "blame report: --columns %s\n", error);
    return false;
}

static enum options_result check_report(struct report_request *request)
{
    bool focus = compile_option_regex("--focus", &request->focus, &request->focus_expression);
    bool hide = compile_option_regex("--hide", &request->hide, &request->hide_expression);
    request->source |= request->source_directory != NULL;
    return focus && hide && report_options_fit(request) ? OPTIONS_RUN : OPTIONS_WRONG;
}

/* Reads the operand and the values of the options. */
static enum options_result read_arguments(struct report_request *request, int argc, char **argv)
{
    struct option_name sort = {.word = NOT_GIVEN};
    const struct option_spec options[] = {
        {"--view", OPTION_WORD, &request->view, "VIEW", report_view, 0, 0, ""},
        {"--sort", OPTION_NAME, &sort, "METRIC", metric_words, 0, 0,
         "a counter of the profile, such as perf::PAGE-FAULTS, or one of these metrics (default: blame, the sum of "
         "idleness, overhead and lock-wait):"},
        {"--source", OPTION_FLAG, &request->source, NULL, NULL, 0, 0, "show source code beside the rows"},
        {"--source-dir", OPTION_TEXT, &request->source_directory, "DIR", NULL, 0, 0,
         "show source code, and look for the sources in DIR"},
        {"--min", OPTION_NUMBER, &request->least_percent, "PERCENT", NULL, 0, 100,
         "leave out rows below this share of the metric (default: 0.5 in text, otherwise 0)"},
        {"--depth", OPTION_WHOLE, &request->depth, "N", NULL, 1, 1000000,
         "leave out rows deeper than N. In the views locks and waits, 1 leaves out all contexts. In the view phases, "
         "the default is 2: each phase, and what its code calls"},
        {"--focus", OPTION_TEXT, &request->focus, "REGEX", NULL, 0, 0,
         "show only call paths with a row whose name or file matches this POSIX extended regular expression. "
         "Percentages are still of the whole program"},
        {"--hide", OPTION_TEXT, &request->hide, "REGEX", NULL, 0, 0,
         "leave out rows whose name or file matches this POSIX extended regular expression. Their cost is added to the "
         "line that called them"},
        {"--thread", OPTION_WHOLE, &request->thread, "N", NULL, 0, 1000000,
         "show only the samples of one thread, numbered as in threads.csv"},
        {"--rank", OPTION_WHOLE, &request->rank, "N", NULL, 0, 999999999,
         "show only one rank of a job, from its own "
         "file"},
        {"--all", OPTION_FLAG, &request->all, NULL, NULL, 0, 0,
         "ranks, balance, timeline, culprits: show every entry, however many there are"},
        {"--by", OPTION_WORD, &request->by, "WHAT", by, 0, 0, "what a row of the flat view is:"},
        {"--columns", OPTION_TEXT, &request->column_list, "LIST", NULL, 0, 0,
         "the metrics and counters to show, separated by commas: METRIC, METRIC:i (inclusive) or METRIC:e "
         "(exclusive), with % appended for percentages, as in work:i,idleness:e,idleness:i%"},
        {"--percent", OPTION_WORD, &request->percent, "KIND", percent, 0, 0, "what percentages refer to:"},
        {"--error", OPTION_FLAG, &request->error, NULL, NULL, 0, 0,
         "show the sampling error (95 %) beside each number"},
        environment_option,
        {"--format", OPTION_WORD, &request->format, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0,
         "write to FILE, which appears only when complete; - is standard output"},
        {"--color", OPTION_WORD, &request->colour, "WHEN", colour, 0, 0, ""},
        {"--width", OPTION_WHOLE, &request->width, "N", NULL, 60, 10000,
         "the width of the text in columns (default: the terminal's width, COLUMNS, or 100)"},
    };
    const char *operand[argc];
    int count;
    enum options_result result = options_read(&usage, OPTION_TABLE(options), argc, argv, operand, &count);
    request->input = result == OPTIONS_RUN ? operand[0] : NULL;
    request->counter = sort.other;
    request->metric = sort.other ? METRIC_COUNTER : sort.word;
    return result;
}

/* Returns true, after a message, if the user asks for a view that is now the command `blame fold`. */
static bool asks_for_fold(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *view = strncmp(argv[i], "--view=", 7) == 0  ? argv[i] + 7
                           : strcmp(argv[i - 1], "--view") == 0 ? argv[i]
                                                                : "";
        bool asked = strncmp(view, "folded:", 7) == 0 || strncmp(view, "outliers:", 9) == 0;
        if (asked) {
            fprintf(stderr, "blame report: --view %.*s: this is no view; use blame fold, on a run with --trace\n",
                    view[0] == 'f' ? 6 : 8, view);
            return true;
        }
    }
    return false;
}

enum options_result report_options_read(struct report_request *request, int argc, char **argv)
{
    *request = (struct report_request){.by = NOT_GIVEN,
                                       .metric = NOT_GIVEN,
                                       .percent = NOT_GIVEN,
                                       .least_percent = NOT_GIVEN,
                                       .depth = NOT_GIVEN,
                                       .thread = NOT_GIVEN,
                                       .rank = NOT_GIVEN,
                                       .width = NOT_GIVEN};
    if (asks_for_fold(argc, argv))
        return OPTIONS_WRONG;
    enum options_result result = read_arguments(request, argc, argv);
    if (result == OPTIONS_RUN)
        return check_report(request);
    request->focus = request->hide = NULL; /* not compiled */
    return result;
}

void report_options_free(struct report_request *request)
{
    if (request->focus)
        regfree(&request->focus_expression);
    if (request->hide)
        regfree(&request->hide_expression);
}
