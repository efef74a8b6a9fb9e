/* The options of `blame report`, and which of them go together. */
#include "command/cli/open_profile.h"
#include "command/cli/report.h"
#include "command/views/arrange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option_word report_view[] = {
    {"top-down", "the program from main on, callees below callers (default)"},
    {"bottom-up", "functions by their own cost, callers below"},
    {"flat", "functions by their own cost, source lines below"},
    {"threads", "what each thread did with its time"},
    {"locks", "who was waited for, and who held the lock"},
    {"waits", "where threads waited, and whose code kept them waiting"},
    {"findings", "what to look at first, with evidence and advice"},
    {"phases", "the program's phases and what their code calls; events,\nexact and sampled"},
    {"ranks", "what each rank of a job did with its threads' time"},
    {"spread", "rows by how they differ between a job's ranks"},
    {"balance", "which ranks of a job others wait for, also on other nodes, by\nthe ranks' sums"},
    {"timeline", "what each thread did when, and whose code others waited for"},
    {"culprits", "rows by when others waited for them"},
    {NULL, NULL},
};
const char *const report_view_title[] = {"Top-down", "Bottom-up", "Flat",     "Threads", "Locks",
                                         "Waits",    "Findings",  "Phases",   "Ranks",   "Spread",
                                         "Balance",  "Timeline",  "Culprits", NULL};

static const struct option_word by[] = {
    {"function", "(default)"},
    {"file", "all functions of a source file"},
    {"module", "of a program or library"},
    {"construct", "by the parallel region, task or entry of the\nruntime that code ran in"},
    {NULL, NULL},
};
static const struct option_word format[] = {
    {"text", "(default)"},
    {"csv", "the columns of profile.csv"},
    {"folded", "stacks of one metric, for flame graphs"},
    {NULL, NULL},
};
static const struct option_word percent[] = {
    {"absolute", "of the program's effort (default)"},
    {"relative", "of the row's own: how badly it uses its threads"},
    {NULL, NULL},
};
static const struct option_word colour[] = {
    {"auto", "on a terminal, unless NO_COLOR is set (default)"},
    {"always", "in files, too"},
    {"never", "nowhere"},
    {NULL, NULL},
};

static const struct usage usage = {
    .command = "report",
    .synopsis = "DIR [options]",
    .about = "DIR is a profile directory, a job's, or a measurement file (*.blame) in one.",
    .examples = "  blame report blame-amg-4711\n"
                "  blame report blame-amg-4711 --view bottom-up --sort lock-wait\n"
                "  blame report blame-amg-4711 --focus relax --hide '^__kmpc' --source\n"
                "  blame report blame-amg-4711 --view flat --by file --columns work,idleness,idleness%\n"
                "  blame report blame-amg-4711 --format folded | flamegraph.pl > idleness.svg",
    .operands_most = 1,
    .operands = "is a profile directory or a *.blame file",
};

enum {
    TREES = 1 << VIEW_TOP_DOWN | 1 << VIEW_BOTTOM_UP | 1 << VIEW_FLAT,
    LINES = 1 << VIEW_TOP_DOWN | 1 << VIEW_FLAT,
    TABLES = 1 << VIEW_LOCKS | 1 << VIEW_WAITS,
};

/* "with --view A, B" */
static void print_views(int views)
{
    fputs("accepted with --view", stderr);
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
    print_views(views);
    fprintf(stderr, "; not with %s\n", report_view[request->view].word);
    return false;
}

static bool fits_format(const struct report_request *request, const char *option, bool given)
{
    if (!given || request->format == FORMAT_TEXT)
        return true;
    fprintf(stderr, "blame report: %s: accepted with --format text; not with %s\n", option,
            format[request->format].word);
    return false;
}

/* What can be sorted by in tables that are no trees: bits of enum metric. */
static int metrics_of(int view)
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

static bool can_sort(const struct report_request *request)
{
    int accepted = metrics_of(request->view);
    if (request->metric == NOT_GIVEN || accepted & 1 << request->metric)
        return true;
    if (accepted == 0) {
        fprintf(stderr, "blame report: --sort: not accepted with --view %s, which has the %s first\n",
                report_view[request->view].word,
                request->view == VIEW_PHASES                                       ? "most exact seconds"
                : request->view == VIEW_TIMELINE || request->view == VIEW_CULPRITS ? "most blamed"
                                                                                   : "greatest share");
        return false;
    }
    fprintf(stderr, "blame report: --sort %s: with --view %s accepted are",
            request->counter ? request->counter : metric_word[request->metric], report_view[request->view].word);
    for (int metric = 0, count = 0; metric < METRIC_NAMED; metric++)
        if (accepted & 1 << metric)
            fprintf(stderr, "%s %s", count++ ? "," : "", metric_word[metric]);
    fputc('\n', stderr);
    return false;
}

static bool fits_together(const struct report_request *request)
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
           fits_format(request, "--source-dir", request->source_directory) && can_sort(request);
}

/* false after a message; *text is NULL then, as there is nothing to free. */
static bool compile(const char *option, const char **text, regex_t *expression)
{
    char error[256];
    int wrong = *text ? regcomp(expression, *text, REG_EXTENDED | REG_NOSUB) : 0;
    if (!wrong)
        return true;
    regerror(wrong, expression, error, sizeof error);
    fprintf(stderr, "blame report: %s %s: %s; accepted is a POSIX extended regular expression\n", option, *text, error);
    *text = NULL;
    return false;
}

bool report_options_measures(struct report_request *request, const struct rows *rows)
{
    char error[2048];
    enum metric metric;
    if (request->counter && !rows_find_metric(rows, request->counter, strlen(request->counter), &metric)) {
        char *names = rows_metric_names(rows);
        fprintf(stderr, "blame report: --sort %s: accepted are %s\n", request->counter, names);
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

static enum options_result check(struct report_request *request)
{
    bool focus = compile("--focus", &request->focus, &request->focus_expression);
    bool hide = compile("--hide", &request->hide, &request->hide_expression);
    request->source |= request->source_directory != NULL;
    return focus && hide && fits_together(request) ? OPTIONS_RUN : OPTIONS_WRONG;
}

/* Reads the operand and the options' values. */
static enum options_result read_arguments(struct report_request *request, int argc, char **argv)
{
    struct option_name sort = {.word = NOT_GIVEN};
    const struct option_spec options[] = {
        {"--view", OPTION_WORD, &request->view, "VIEW", report_view, 0, 0, ""},
        {"--by", OPTION_WORD, &request->by, "WHAT", by, 0, 0, "what rows of the flat view are:"},
        {"--sort", OPTION_NAME, &sort, "METRIC", metric_words, 0, 0,
         "default: blame, that is idleness + overhead + lock-wait; or one of\n"
         "the profile's counters, as perf::PAGE-FAULTS; or another of"},
        {"--min", OPTION_NUMBER, &request->least_percent, "PERCENT", NULL, 0, 100,
         "leave out rows below this share of the metric (default: text 0.5, else 0)"},
        {"--depth", OPTION_WHOLE, &request->depth, "N", NULL, 1, 1000000,
         "leave out rows deeper than N; locks, waits: 1 is without contexts;\n"
         "phases: default 2, a phase and what its code calls"},
        {"--focus", OPTION_TEXT, &request->focus, "REGEX", NULL, 0, 0,
         "only paths through rows whose name or file matches; per cent stay\n"
         "the whole program's (POSIX extended regular expression)"},
        {"--hide", OPTION_TEXT, &request->hide, "REGEX", NULL, 0, 0,
         "rows whose name or file matches vanish: their cost is that of the\n"
         "line that called them"},
        {"--thread", OPTION_WHOLE, &request->thread, "N", NULL, 0, 1000000,
         "what was blamed on one thread's samples; N as in threads.csv"},
        {"--all", OPTION_FLAG, &request->all, NULL, NULL, 0, 0,
         "ranks, balance, timeline, culprits: each of them, however many"},
        {"--rank", OPTION_WHOLE, &request->rank, "N", NULL, 0, 999999999, "one rank of a job, from its own file"},
        environment_option,
        {"--columns", OPTION_TEXT, &request->column_list, "LIST", NULL, 0, 0,
         "numbers to show: METRIC, METRIC:i (inclusive), METRIC:e (exclusive),\n"
         "with % behind for per cent: work:i,idleness:e,idleness:i%; counters\n"
         "by their names"},
        {"--percent", OPTION_WORD, &request->percent, "KIND", percent, 0, 0, "per cent are"},
        {"--error", OPTION_FLAG, &request->error, NULL, NULL, 0, 0,
         "beside each number how far sampling can have put it off (95 %)"},
        {"--source", OPTION_FLAG, &request->source, NULL, NULL, 0, 0, "source lines beside their rows"},
        {"--source-dir", OPTION_TEXT, &request->source_directory, "DIR", NULL, 0, 0,
         "the same, with sources that were moved to DIR"},
        {"--format", OPTION_WORD, &request->format, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0,
         "write there, whole or not at all (-o; - is standard output)"},
        {"--color", OPTION_WORD, &request->colour, "WHEN", colour, 0, 0, ""},
        {"--width", OPTION_WHOLE, &request->width, "N", NULL, 60, 10000,
         "columns of text (default: the terminal's, COLUMNS, or 100)"},
    };
    const char *operand[argc];
    int count;
    enum options_result result =
        options_read(&usage, options, sizeof options / sizeof *options, argc, argv, operand, &count);
    request->input = result == OPTIONS_RUN ? operand[0] : NULL;
    request->counter = sort.other;
    request->metric = sort.other ? METRIC_COUNTER : sort.word;
    return result;
}

/* True after a message: a view that went to another command. */
static bool asks_for_fold(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *view = strncmp(argv[i], "--view=", 7) == 0  ? argv[i] + 7
                           : strcmp(argv[i - 1], "--view") == 0 ? argv[i]
                                                                : "";
        bool asked = strncmp(view, "folded:", 7) == 0 || strncmp(view, "outliers:", 9) == 0;
        if (asked) {
            fprintf(stderr, "blame report: --view %.*s: is blame fold now, of a run with --trace\n",
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
        return check(request);
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
