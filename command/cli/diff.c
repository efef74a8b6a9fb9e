/* `blame diff`: shows what became worse, where, and whether that is more than chance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli/cli.h"
#include "command/cli/lab.h"
#include "command/cli/open_profile.h"
#include "command/cli/run_set.h"
#include "command/compare/comparable.h"
#include "command/compare/compare.h"
#include "command/compare/diff_view.h"
#include "command/compare/limits.h"
#include "command/text/format.h"
#include "command/text/memory.h"

enum format { FORMAT_TEXT, FORMAT_CSV };

static const struct option_word format[] = {
    {"text", "(default)"}, {"csv", "every context, with all metrics"}, {NULL, NULL}};
static const struct option_word normalise[] = {
    {"none", "seconds (default)"},
    {"wall", "percentages of each run's time, for runs of different lengths"},
    {"work", "percentages of each run's work, for runs with different inputs"},
    {NULL, NULL},
};

struct request {
    struct option_list base, operand, fail_above;
    int view, format, normalise, metric, top;
    double least_percent;
    const char *output, *base_where, *database;
    struct limit *limit;
};

static const struct usage usage = {
    .command = "diff",
    .synopsis = "BASE NEW [options]",
    .about =
        "Shows what became slower or faster from BASE to NEW, in which code, and whether the change is significant.\n"
        "BASE and NEW are profile directories, *.blame files, or directories that contain them. The profiles in one\n"
        "directory are repeated runs, whose medians are compared. Contexts are matched by name, not by address.\n"
        "\n"
        "Exit status: 0 done, 1 the input cannot be used, 2 wrong usage, 3 a limit of --fail-above is exceeded.",
    .examples = "  blame diff blame-amg-4711 blame-amg-4712\n"
                "  blame diff runs/before runs/after --fail-above wall=5 --fail-above idleness@relax=10\n"
                "  blame diff --base a.1 --base a.2 --base a.3 b.1 b.2 b.3 --view flat --sort lock-wait\n"
                "  blame diff --base-where \"revision = '1.2'\" --fail-above wall=5 runs/new\n"
                "  blame diff old new --format csv --output changes.csv",
    .operands = "BASE and NEW: profile directories, *.blame files, or directories that contain them",
};

static enum options_result read_diff_options(struct request *request, int argc, char **argv)
{
    int operands;
    const struct option_spec options[] = {
        {"--base", OPTION_LIST, &request->base, "DIR", NULL, 0, 0,
         "a baseline run; may be repeated. With this option, all operands are new runs"},
        {"--base-where", OPTION_TEXT, &request->base_where, "SQL", NULL, 0, 0,
         "use all trials of a database that meet this condition as the baseline (see blame db). With this option, all "
         "operands are new runs"},
        {"--db", OPTION_TEXT, &request->database, "FILE", NULL, 0, 0,
         "the database of --base-where (default: BLAME_DB, or blame.db)"},
        {"--view", OPTION_WORD, &request->view, "VIEW", run_set_view, 0, 0, ""},
        {"--sort", OPTION_WORD, &request->metric, "METRIC", metric_words, 0, 0, "show only changes of this metric:"},
        {"--normalise", OPTION_WORD, &request->normalise, "BY", normalise, 0, 0, ""},
        environment_option,
        {"--min", OPTION_NUMBER, &request->least_percent, "PERCENT", NULL, 0, 100,
         "ignore changes below this share of the baseline's thread time, in the text and for limits (default: 0.5)"},
        {"--top", OPTION_WHOLE, &request->top, "N", NULL, 0, 1000000,
         "text: how many of the largest increases and of the largest decreases are shown (default: 10)"},
        {"--fail-above", OPTION_LIST, &request->fail_above, "LIMIT", NULL, 0, 0,
         "METRIC=PERCENT: exit with status 3 if METRIC, or the run time (wall), rose by more than that and by more "
         "than "
         "chance. METRIC@REGEX=PERCENT: the same for functions whose names match. May be repeated"},
        {"--format", OPTION_WORD, &request->format, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0, "write to FILE instead of standard output"},
    };
    enum options_result result =
        options_read(&usage, OPTION_TABLE(options), argc, argv, request->operand.item, &operands);
    request->operand.count = (size_t)operands;
    return result;
}

static enum options_result check_diff_request(struct request *request)
{
    const struct option_list *operand = &request->operand;
    if (request->base.count && request->base_where) {
        fputs("blame diff: --base-where and --base were both given; give only one of them\n", stderr);
        return OPTIONS_WRONG;
    }
    if (!request->base.count && !request->base_where && operand->count != 2) {
        fprintf(stderr,
                "blame diff: %zu profile%s given; expected two, BASE and NEW, or --base DIR for each baseline run, "
                "followed by the new runs\n",
                operand->count, operand->count == 1 ? "" : "s");
        return OPTIONS_WRONG;
    }
    for (size_t i = 0; i < request->fail_above.count; i++) {
        char error[600];
        if (!limit_read(&request->limit[i], request->fail_above.item[i], error, sizeof error)) {
            fprintf(stderr, "blame diff: --fail-above %s\n", error);
            return OPTIONS_WRONG;
        }
    }
    return OPTIONS_RUN;
}

static bool open_runs(const struct request *request, struct run_set *set, size_t side_count[SIDES])
{
    const struct option_list *base = &request->base, *operand = &request->operand;
    bool listed = base->count > 0;
    for (size_t i = 0; i < (listed ? base->count : 1); i++)
        if (!run_set_add(set, listed ? base->item[i] : operand->item[0]))
            return false;
    side_count[SIDE_BASE] = set->count;
    for (size_t i = listed ? 0 : 1; i < operand->count; i++)
        if (!run_set_add(set, operand->item[i]))
            return false;
    side_count[SIDE_NEW] = set->count - side_count[SIDE_BASE];
    return true;
}

static void complain_about_runs(const struct run_set *set, const size_t side_count[SIDES])
{
    const char *const *name = (const char *const *)set->name;
    size_t base = side_count[SIDE_BASE];
    comparable_complain(stderr, "diff", set->profile, name, set->count);
    comparable_complain_repeats(stderr, "diff", set->profile, name, base);
    comparable_complain_repeats(stderr, "diff", set->profile + base, name + base, set->count - base);
}

/* Returns CLI_WORSE if a limit is exceeded, CLI_BAD_INPUT if a limit could not be applied. */
static int report_limits(const struct request *request, const struct comparison *tree)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < request->fail_above.count; i++) {
        const struct limit *limit = &request->limit[i];
        char percent[FORMAT_NUMBER_BYTES + 2];
        if (limit->verdict == LIMIT_NO_CONTEXT) {
            fprintf(stderr,
                    "blame diff: --fail-above %s: no function of either side has such a name; blame diff "
                    "--format csv "
                    "lists them\n",
                    limit->text);
            status = status == CLI_DONE ? CLI_BAD_INPUT : status;
        }
        if (limit->verdict != LIMIT_EXCEEDED)
            continue;
        diff_number(percent, isinf(limit->change.percent) ? 0 : limit->change.percent, 1, true);
        char *culprit = limit->culprit_count ? comparison_label(tree, limit->culprit[0], 100, false) : NULL;
        fprintf(stderr, "blame diff: --fail-above %s: exceeded, %s%s%s%s\n", limit->text,
                isinf(limit->change.percent) ? "it was 0" : percent, isinf(limit->change.percent) ? "" : " %",
                culprit ? "; most by " : "", culprit ? culprit : "");
        free(culprit);
        status = CLI_WORSE;
    }
    return status;
}

static void print_diff(FILE *out, const struct request *request, const struct run_set *set,
                       const struct comparison *tree, const struct comparison *shown)
{
    struct diff_style style = {.metric = request->metric,
                               .least_percent = request->least_percent,
                               .top = (size_t)request->top,
                               .columns = format_terminal_columns(out),
                               .utf8 = format_locale_is_utf8(),
                               .functions = request->view == VIEW_FLAT};
    if (request->format == FORMAT_CSV) {
        diff_csv(out, shown, request->metric < 0 ? METRIC_IDLENESS : (enum metric)request->metric);
        return;
    }
    diff_text(out, shown, set->profile, &style);
    diff_limits_text(out, tree, request->limit, request->fail_above.count, &style);
}

static bool check_scales(const struct comparison *comparison)
{
    for (size_t run = 0; run < comparison->run_count; run++)
        if (comparison->run[run].scale <= 0) {
            fprintf(stderr, "blame diff: %s: has no %s to divide by; use --normalise none\n", comparison->run[run].name,
                    comparison->normalise == NORMALISE_WALL ? "wall time" : "work");
            return false;
        }
    return true;
}

static int compare_runs(const struct request *request, const struct run_set *set, const size_t side_count[SIDES])
{
    const char *const *name = (const char *const *)set->name;
    bool flat = request->view == VIEW_FLAT, needs_tree = !flat || request->fail_above.count;
    struct comparison *comparison[2] = {NULL, NULL}; /* tree, flat */
    for (int i = 0; i < 2; i++)
        if (i ? flat : needs_tree)
            comparison[i] = comparison_new(set->profile, name, side_count, (enum normalise)request->normalise);
    struct out_file out;
    int status = CLI_BAD_INPUT;
    run_set_compare(set, comparison[0], comparison[1]);
    if (check_scales(comparison[flat]) && out_file_open(&out, "diff", request->output)) {
        for (size_t i = 0; i < request->fail_above.count; i++)
            limit_judge(&request->limit[i], comparison[0], request->least_percent);
        print_diff(out.stream, request, set, comparison[0], comparison[flat]);
        status = out_file_close(&out, true);
        if (status == CLI_DONE)
            status = report_limits(request, comparison[0]);
    }
    comparison_free(comparison[0]);
    comparison_free(comparison[1]);
    return status;
}

int cli_diff(int argc, char **argv)
{
    const char *text[3 * argc];
    struct request request = {.base = {text, 0},
                              .operand = {text + argc, 0},
                              .fail_above = {text + 2 * argc, 0},
                              .metric = -1,
                              .top = 10,
                              .least_percent = 0.5,
                              .limit = memory_array((size_t)argc, sizeof(struct limit))};
    struct run_set set = {.command = "diff"};
    size_t side_count[SIDES];
    enum options_result parsed = read_diff_options(&request, argc, argv);
    int status = CLI_DONE;
    if (parsed == OPTIONS_RUN)
        parsed = check_diff_request(&request);
    /* lab/ runs this command again, with --base for each run of the base. */
    if (parsed == OPTIONS_RUN && request.base_where)
        status = lab_start(argc, argv);
    else if (parsed == OPTIONS_RUN) {
        bool opened = open_runs(&request, &set, side_count);
        if (opened)
            complain_about_runs(&set, side_count);
        status = opened ? compare_runs(&request, &set, side_count) : CLI_BAD_INPUT;
    }
    for (int i = 0; i < argc; i++)
        limit_free(&request.limit[i]);
    free(request.limit);
    run_set_free(&set);
    return parsed == OPTIONS_WRONG ? CLI_BAD_USAGE : status;
}
