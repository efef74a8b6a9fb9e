/* `blame tune`: searches for the setting with which a program is fastest. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/run_options.h"
#include "cli/cli.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "cli/specialise.h"
#include "cli/tune.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define DATABASE "blame.db"
#define RUNS     100
#define PAIRS    8
#define WAIT_S   60
#define MOST_INPUTS 32
#define LEAST    8 /* runs beside the pairs: the first, two that tell how times scatter, and one race */

enum { FORMAT_TEXT, FORMAT_CSV };
static const struct option_word format[] = {{"text", "(default)"}, {"csv", "every run"}, {NULL, NULL}};

static const struct usage usage = {
    .command = "tune",
    .synopsis = "[options] [--] program [argument ...]",
    .about = "Searches for the setting with which a program is fastest: threads, wait policy, binding, schedule of\n"
             "schedule(runtime), or what --space names. Begins where the findings of the first run point. What seems to be\n"
             "best is held against the program as it is in runs of its own, in turn: the gain has an interval.\n"
             "With --specialise nothing is run: it learns from searches that are in the database which setting is best for\n"
             "which input, validates it on inputs left out, and writes it as code: a C header, and functions of a shell beside\n"
             "it. Where it does no better than the default it says so, with status 3, and writes nothing.",
    .examples = "  blame tune ./amg -n 100\n"
                "  blame tune --space amg.space --check 'grep -q converged' ./amg -block @{block}\n"
                "  blame tune --minutes 30 --limit 60 --input n=100 ./amg -n 100\n"
                "  blame tune --specialise triangle.h --application triangle\n"
                "  . ./triangle.sh; triangle_apply 2000; ./triangle 2000",
    .operands_none = true,
    .operand = "program",
    .operands = "is a program and its arguments",
    .is_program = true,
};

static enum options_result read_options(struct tune_request *request, int argc, char **argv, const char **operand, int *operands)
{
    int form = FORMAT_TEXT;
    const struct option_spec options[] = {
        {"--space", OPTION_TEXT, &request->space, "FILE", NULL, 0, 0, "what can be set (docs/tuning.md); default: threads, wait, bind, schedule"},
        {"--runs", OPTION_WHOLE, &request->runs, "N", NULL, LEAST, 100000, "at most N runs of the program (default 100)"},
        {"--minutes", OPTION_NUMBER, &request->minutes, "M", NULL, 0.01, 1e5, "and at most M minutes (default: as long as it takes)"},
        {"--pairs", OPTION_WHOLE, &request->pairs, "N", NULL, 3, 1000, "so many pairs of runs show the gain (default 8)"},
        {"--limit", OPTION_NUMBER, &request->limit_s, "SECONDS", NULL, 0.01, 1e6, "a run that takes longer is ended, and its setting left"},
        {"--check", OPTION_TEXT, &request->check, "COMMAND", NULL, 0, 0, "gets a run's output; if it fails, the run went wrong"},
        {"--build", OPTION_TEXT, &request->build, "COMMAND", NULL, 0, 0, "makes a variant, with @{NAME} in it and in the program's path"},
        {"--input", OPTION_LIST, &request->input, "KEY=VALUE", NULL, 0, 0, "what tells this input from others; may be repeated"},
        {"--specialise", OPTION_TEXT, &request->specialise, "FILE", NULL, 0, 0, "write FILE.h and FILE.sh, which choose settings by an input's features"},
        {"--db", OPTION_TEXT, &request->database, "FILE", NULL, 0, 0, "every run is a trial of it (default: BLAME_DB, or else blame.db)"},
        {"--application", OPTION_TEXT, &request->application, "NAME", NULL, 0, 0, "there the program is called NAME"},
        {"--seed", OPTION_WHOLE, &request->seed, "N", NULL, 1, 2147483647, "of the order of runs (default: of the clock)"},
        {"--dry-run", OPTION_FLAG, &request->dry_run, NULL, NULL, 0, 0, "only say what can be set"},
        {"--format", OPTION_WORD, &form, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0, "write there, not to standard output"},
    };
    enum options_result result = options_read(&usage, options, sizeof options / sizeof *options, argc, argv, operand, operands);
    request->csv = form == FORMAT_CSV;
    return result;
}

static bool check_request(const struct tune_request *request, int operands)
{
    if (!operands == !request->specialise) {
        fprintf(stderr, "blame tune: %s; accepted %s, or --specialise alone\n", operands ? "--specialise runs no program" : "no program given", usage.operands);
        return false;
    }
    for (size_t i = 0; i < request->input.count; i++) {
        const char *kept;
        if (!run_option_meta(request->input.item[i], &kept)) {
            fprintf(stderr, "blame tune: --input %s: accepted is " RUN_OPTION_META_ACCEPTED "\n", request->input.item[i]);
            return false;
        }
    }
    if (request->input.count > MOST_INPUTS) {
        fprintf(stderr, "blame tune: --input %s: accepted are at most %d\n", request->input.item[MOST_INPUTS], MOST_INPUTS);
        return false;
    }
    if (request->runs < 2 * request->pairs + LEAST) {
        fprintf(stderr, "blame tune: --runs %d: accepted are %d and more with --pairs %d\n", request->runs, 2 * request->pairs + LEAST, request->pairs);
        return false;
    }
    return true;
}

static bool read_space(struct tuning *tuning)
{
    const char *path = tuning->request->space;
    char why[700];
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!path)
        space_make(&tuning->space, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    else if (!file)
        fprintf(stderr, "blame tune: %s: %s\n", path, strerror(errno));
    bool good = !path || (file && space_read(&tuning->space, file, path, why, sizeof why));
    if (file && !good)
        fprintf(stderr, "blame tune: %s\n", why);
    if (file)
        fclose(file);
    if (good && tuning->request->build) {
        free(tuning->space.build);
        tuning->space.build = memory_text("%s", tuning->request->build);
    }
    return good;
}

/* Every @{NAME} is a parameter, and every parameter stands somewhere. */
static bool check_words(const struct tuning *tuning)
{
    const struct search_setting any = {{0}};
    const struct space *space = &tuning->space;
    char why[200];
    bool used[SEARCH_DIMENSIONS] = {false};
    for (char *const *word = tuning->request->program;; word++) {
        const char *text = *word ? *word : space->build;
        char *expanded = text ? space_expand(space, &any, text, why, sizeof why) : NULL;
        if (text && !expanded) {
            fprintf(stderr, "blame tune: %s\n", why);
            return false;
        }
        free(expanded);
        for (size_t i = 0; text && i < space->count; i++)
            used[i] |= space_mentions(space, i, text);
        if (!*word)
            break;
    }
    for (size_t i = 0; i < space->count; i++)
        if (space->dimension[i].kind == SPACE_PARAMETER && !used[i]) {
            fprintf(stderr, "blame tune: %s: the parameter %s changes nothing; put @{%s} into an argument\n", tuning->request->space, space->dimension[i].name,
                    space->dimension[i].name);
            return false;
        }
    return true;
}

static int print(const struct tuning *tuning, bool plan)
{
    struct out_file out;
    if (!out_file_open(&out, "tune", tuning->request->output))
        return CLI_BAD_INPUT;
    if (plan)
        tune_plan_text(out.stream, tuning);
    else if (tuning->request->csv)
        tune_csv(out.stream, tuning);
    else
        tune_text(out.stream, tuning);
    return out_file_close(&out, true);
}

static int tune(struct tuning *tuning)
{
    if (!read_space(tuning))
        return CLI_BAD_INPUT;
    if (!check_words(tuning))
        return CLI_BAD_USAGE;
    if (tuning->request->dry_run)
        return print(tuning, true);
    ssize_t bytes = readlink("/proc/self/exe", tuning->blame, sizeof tuning->blame - 1);
    tuning->blame[bytes > 0 ? bytes : 0] = '\0';
    snprintf(tuning->id, sizeof tuning->id, "%08lx%04x", (unsigned long)time(NULL), (unsigned)getpid() & 0xffff);
    tuning->begin_s = tune_now_s();
    if (!tune_all(tuning)) {
        char *clean = format_clean(tuning->failure, true);
        fprintf(stderr, "blame tune: %s: as it is: %s\n", tuning->request->program[0], clean);
        free(clean);
        return CLI_BAD_INPUT;
    }
    return print(tuning, false);
}

static int specialise(const struct tune_request *request)
{
#ifdef BLAME_TRIALS
    return cli_specialise(&(struct specialise_request){.database = request->database, .application = request->application, .file = request->specialise, .wait_s = WAIT_S});
#else
    fprintf(stderr, "blame tune: --specialise %s: this blame was built without SQLite; build it where libsqlite3-dev is\n", request->specialise);
    return CLI_BAD_INPUT;
#endif
}

int cli_tune(int argc, char **argv)
{
    const char *operand[argc + 1], *input[argc], *variable = getenv("BLAME_DB");
    int operands = 0;
    struct tune_request request = {.database = variable && *variable ? variable : DATABASE, .input = {input, 0}, .runs = RUNS, .pairs = PAIRS,
                                   .seed = (int)(time(NULL) & INT_MAX)};
    enum options_result parsed = read_options(&request, argc, argv, operand, &operands);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (!check_request(&request, operands))
        return CLI_BAD_USAGE;
    if (request.specialise)
        return specialise(&request);
    operand[operands] = NULL;
    request.program = (char *const *)operand;
    struct tuning tuning = {.request = &request};
    int status = tune(&tuning);
    tune_free(&tuning);
    return status;
}
