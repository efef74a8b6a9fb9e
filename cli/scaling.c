/* `blame scaling`: which code keeps a program from scaling. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/open_profile.h"
#include "cli/run_set.h"
#include "compare/comparable.h"
#include "compare/scaling.h"
#include "compare/scaling_html.h"
#include "compare/scaling_view.h"
#include "report/text/format.h"
#include "report/text/memory.h"

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_HTML };
enum by { BY_THREADS, BY_RANKS };

static const struct option_word format[] = {{"text", "(default)"}, {"csv", "every context at every number"}, {"html", "a page with plots"}, {NULL, NULL}};
static const struct option_word by[] = {{"threads", "(default)"}, {"ranks", "of jobs"}, {NULL, NULL}};

struct request {
    const char **operand;
    int operand_count;
    int view, format, by, weak, top;
    const char *output, *where, *database;
};

static const struct usage usage = {
    .command = "scaling",
    .synopsis = "DIR... [options]",
    .about = "How a program grows with its threads, and which code keeps it from scaling. DIR is a profile directory, a\n"
             "*.blame file, or a folder of profile directories; their runs differ in their number of threads (or ranks).",
    .examples = "  mkdir runs; for n in 1 2 4 8; do OMP_NUM_THREADS=$n blame run --out runs/amg-$n ./amg; done\n"
                "  blame scaling runs\n"
                "  blame scaling --where \"application = 'amg' and experiment = 'node7'\"\n"
                "  blame scaling runs --view flat --format csv --output scaling.csv\n"
                "  blame scaling runs --format html --output scaling.html",
    .operands_none = true,
    .operands = RUN_SET_OPERANDS,
};

static enum options_result read_options(struct request *request, int argc, char **argv)
{
    const struct option_spec options[] = {
        {"--view", OPTION_WORD, &request->view, "VIEW", run_set_view, 0, 0, ""},
        {"--by", OPTION_WORD, &request->by, "NUMBER", by, 0, 0, "what runs differ in:"},
        {"--weak", OPTION_FLAG, &request->weak, NULL, NULL, 0, 0, "with twice the threads there is twice as much to do (else: as much)"},
        {"--where", OPTION_TEXT, &request->where, "SQL", NULL, 0, 0, "runs are a database's trials of which this is true (blame db list)"},
        {"--db", OPTION_TEXT, &request->database, "FILE", NULL, 0, 0, "that database (default: BLAME_DB, or else blame.db)"},
        environment_option,
        {"--top", OPTION_WHOLE, &request->top, "N", NULL, 0, 1000000, "text, html: this many contexts (default 10)"},
        {"--format", OPTION_WORD, &request->format, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0, "write there, not to standard output"},
    };
    return options_read(&usage, options, sizeof options / sizeof *options, argc, argv, request->operand, &request->operand_count);
}

/* By run; NULL after a message: they do not differ. malloc'ed. */
static double *numbers(const struct request *request, const struct run_set *set)
{
    double *p = memory_array(set->count, sizeof *p);
    bool differ = false;
    for (size_t run = 0; run < set->count; run++) {
        const struct profile_header *header = &set->profile[run]->header;
        uint32_t ranks = header->merged > 1 ? header->merged : 1;
        p[run] = request->by == BY_RANKS ? ranks : header->threads_max ? header->threads_max : 1;
        differ |= p[run] != p[0];
    }
    if (differ)
        return p;
    fprintf(stderr, "blame scaling: %s: all %zu runs have %s %s; give runs that differ in that, or --by %s\n", set->name[0], set->count,
            DECIMAL(p[0], 0), by[request->by].word, by[!request->by].word);
    free(p);
    return NULL;
}

static int print(const struct request *request, const struct scaling *scaling, const char *title)
{
    struct out_file out;
    if (!out_file_open(&out, "scaling", request->output))
        return CLI_BAD_INPUT;
    struct scaling_style style = {.by = by[request->by].word, .top = (size_t)request->top, .columns = format_terminal_columns(out.stream),
                                  .utf8 = format_locale_is_utf8()};
    if (request->format == FORMAT_CSV)
        scaling_csv(out.stream, scaling, &style);
    else if (request->format == FORMAT_HTML)
        scaling_html(out.stream, scaling, &style, title);
    else
        scaling_text(out.stream, scaling, &style);
    return out_file_close(&out, true);
}

static int show(const struct request *request, const struct run_set *set, const double *p)
{
    const char *const *name = (const char *const *)set->name;
    bool flat = request->view == VIEW_FLAT;
    const size_t side_count[SIDES] = {[SIDE_BASE] = set->count};
    struct comparison *comparison = comparison_new(set->profile, name, side_count, NORMALISE_NONE);
    run_set_compare(set, flat ? NULL : comparison, flat ? comparison : NULL);
    struct scaling *scaling = scaling_new(comparison, p, request->weak);
    char *title = memory_text("%s: scaling", set->profile[0]->header.program);
    int status = print(request, scaling, title);
    free(title);
    scaling_free(scaling);
    comparison_free(comparison);
    return status;
}

static bool add_runs(const struct request *request, struct run_set *set)
{
    if (request->where && !run_set_add_trials(set, request->database, request->where))
        return false;
    return !request->operand_count || run_set_add_all(set, request->operand, request->operand_count);
}

int cli_scaling(int argc, char **argv)
{
    const char *operand[argc], *variable = getenv("BLAME_DB");
    struct request request = {.operand = operand, .top = 10, .database = variable && *variable ? variable : RUN_SET_DATABASE};
    struct run_set set = {.command = "scaling"};
    enum options_result parsed = read_options(&request, argc, argv);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (!request.operand_count && !request.where) {
        fputs("blame scaling: no profile given; accepted " RUN_SET_OPERANDS ", or --where SQL\n", stderr);
        return CLI_BAD_USAGE;
    }
    double *p = add_runs(&request, &set) ? numbers(&request, &set) : NULL;
    int status = CLI_BAD_INPUT;
    if (p) {
        const char *const *name = (const char *const *)set.name;
        comparable_complain_but_size(stderr, "scaling", set.profile, name, set.count);
        comparable_complain_repeats(stderr, "scaling", set.profile, name, set.count);
        status = show(&request, &set, p);
    }
    free(p);
    run_set_free(&set);
    return status;
}
