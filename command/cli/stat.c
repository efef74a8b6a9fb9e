/* `blame stat`: shows how much runs of the same program differ. */
#include <stdio.h>

#include "command/cli/cli.h"
#include "command/cli/open_profile.h"
#include "command/cli/run_set.h"
#include "command/compare/comparable.h"
#include "command/compare/compare.h"
#include "command/compare/stat_view.h"
#include "command/text/format.h"

enum format { FORMAT_TEXT, FORMAT_CSV };

static const struct option_word format[] = {
    {"text", "(default)"}, {"csv", "every context, with six metrics"}, {NULL, NULL}};

struct request {
    const char **operand;
    int operand_count;
    int view, format, metric, top;
    const char *output;
};

static const struct usage usage = {
    .command = "stat",
    .synopsis = "DIR... [options]",
    .about = "Shows medians, extremes and confidence intervals over several runs of one program. DIR is a profile\n"
             "directory, a *.blame file, or a directory that contains them.",
    .examples = "  mkdir runs; for i in 1 2 3 4 5 6; do blame run --out runs/amg ./amg; done\n"
                "  blame stat runs\n"
                "  blame stat runs --view flat --sort lock-wait --top 20\n"
                "  blame stat runs --format csv --output runs.csv",
    .operands = RUN_SET_OPERANDS,
};

static enum options_result read_stat_options(struct request *request, int argc, char **argv)
{
    const struct option_spec options[] = {
        {"--view", OPTION_WORD, &request->view, "VIEW", run_set_view, 0, 0, ""},
        {"--sort", OPTION_WORD, &request->metric, "METRIC", metric_words, 0, 0,
         "text: show the contexts with most of this metric first (default: idleness):"},
        environment_option,
        {"--top", OPTION_WHOLE, &request->top, "N", NULL, 0, 1000000,
         "text: the number of contexts to show_statistics (default: 10)"},
        {"--format", OPTION_WORD, &request->format, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0, "write to FILE instead of standard output"},
    };
    return options_read(&usage, OPTION_TABLE(options), argc, argv, request->operand, &request->operand_count);
}

static void print_stat(FILE *out, const struct request *request, const struct comparison *comparison)
{
    struct stat_style style = {.metric = (enum metric)request->metric,
                               .top = (size_t)request->top,
                               .columns = format_terminal_columns(out),
                               .utf8 = format_locale_is_utf8(),
                               .functions = request->view == VIEW_FLAT};
    if (request->format == FORMAT_CSV)
        stat_csv(out, comparison, style.metric);
    else
        stat_text(out, comparison, &style);
}

static int show_statistics(const struct request *request, const struct run_set *set)
{
    const char *const *name = (const char *const *)set->name;
    bool flat = request->view == VIEW_FLAT;
    const size_t side_count[SIDES] = {[SIDE_BASE] = set->count};
    struct comparison *comparison = comparison_new(set->profile, name, side_count, NORMALISE_NONE);
    struct out_file out;
    int status = CLI_BAD_INPUT;
    run_set_compare(set, flat ? NULL : comparison, flat ? comparison : NULL);
    if (out_file_open(&out, "stat", request->output)) {
        print_stat(out.stream, request, comparison);
        status = out_file_close(&out, true);
    }
    comparison_free(comparison);
    return status;
}

int cli_stat(int argc, char **argv)
{
    const char *operand[argc];
    struct request request = {.operand = operand, .metric = METRIC_IDLENESS, .top = 10};
    struct run_set set = {.command = "stat"};
    enum options_result parsed = read_stat_options(&request, argc, argv);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    int status = CLI_BAD_INPUT;
    if (run_set_add_all(&set, operand, request.operand_count)) {
        const char *const *name = (const char *const *)set.name;
        comparable_complain(stderr, "stat", set.profile, name, set.count);
        comparable_complain_repeats(stderr, "stat", set.profile, name, set.count);
        status = show_statistics(&request, &set);
    }
    run_set_free(&set);
    return status;
}
