/* The options of the commands that are written in Python (lab/). They are read here and passed on with their
 * types, and lab/blame_lab/command.py receives them. Help and error messages therefore need no interpreter,
 * and manual pages and completions are made for all commands in the same way. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/run_options.h"
#include "command/cli/cli.h"
#include "command/cli/lab.h"
#include "command/cli/options.h"
#include "command/cli/run_set.h"
#include "command/rows/metric.h"
#include "command/text/memory.h"

#define WORDS(...)                                                                                                     \
    (const struct option_word[])                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__,                                                                                                   \
        {                                                                                                              \
            NULL, NULL                                                                                                 \
        }                                                                                                              \
    }
#define WORD(word, about)                           {word, about},
#define DATABASE                                    "(default: BLAME_DB, or blame.db)"
#define METRIC_WORD(name, column, value, word, ...) {word, NULL},
#define HOW_MANY                                    1000000

enum {
    MOST_OPTIONS = 16,
    LEAST_RUNS = 8 /* fewest runs of a search, without the pairs at its end, as in lab/blame_lab/tune.py */
};

struct lab_option {
    struct option_spec spec; /* `to` is NULL here; cli_lab() sets it. */
    const char *otherwise;   /* default value; NULL: Python's None */
};

struct lab_command {
    struct usage usage;
    struct lab_option option[MOST_OPTIONS]; /* The entry after the last option has no name. */
};

static const struct lab_command commands[] = {
    {{.command = "db",
      .synopsis = "add DIR ... | list | show TRIAL ... | export [TRIAL ...] | prune [TRIAL ...] [options]",
      .about = "Keeps runs in a database, which is one SQLite file (docs/lab.md describes its tables).\n"
               "\n"
               "add       adds profiles, or directories of profiles, unless the database already has them\n"
               "list      lists the trials, the oldest first\n"
               "show      shows what is known about trials, and their most expensive contexts\n"
               "export    writes the contexts of trials with all metrics, as CSV\n"
               "prune     removes trials and their data, but no profiles\n"
               "\n"
               "A TRIAL is a number from the list, or the first digits of the id in a run's run.json. SQL is a "
               "condition on\n"
               "the columns of blame db list --format csv, or on names of metadata.",
      .examples = "  blame run --meta size=512 --meta revision=$(git rev-parse HEAD) ./amg\n"
                  "  blame db add blame-amg-*\n"
                  "  blame db list --where \"threads = 8 and host like 'node%' and size > 256\"\n"
                  "  blame db show 3\n"
                  "  blame db export 3 4 --output contexts.csv\n"
                  "  blame db prune --keep 100",
      .operand = "action",
      .operands = "one of add, list, show, export, prune"},
     {{{"--db", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "the database " DATABASE}, NULL},
      {{"--application", OPTION_TEXT, NULL, "NAME", NULL, 0, 0,
        "add: the application's name (default: the program's "
        "name)"},
       NULL},
      {{"--experiment", OPTION_TEXT, NULL, "NAME", NULL, 0, 0, "add: the experiment's name (default: default)"}, NULL},
      {{"--meta", OPTION_LIST, NULL, "KEY=VALUE", NULL, 0, 0,
        "add: a note about the run, such as revision=1f3c; may be repeated"},
       NULL},
      {{"--sums", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "add: store only sums, not the values of individual threads"},
       NULL},
      {{"--where", OPTION_TEXT, NULL, "SQL", NULL, 0, 0,
        "list, export, prune: only the trials that meet this "
        "condition"},
       NULL},
      {{"--top", OPTION_WHOLE, NULL, "N", NULL, 0, HOW_MANY, "show: the number of contexts to show (default: 10)"},
       "10"},
      {{"--locations", OPTION_FLAG, NULL, NULL, NULL, 0, 0,
        "export: also write the values of individual threads and ranks"},
       NULL},
      {{"--keep", OPTION_WHOLE, NULL, "N", NULL, 0, 1000000000,
        "prune: remove all but the newest N trials of each "
        "experiment"},
       NULL},
      {{"--dry-run", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "prune: only show which trials would be removed"}, NULL},
      {{"--format", OPTION_WORD, NULL, "FORMAT", WORDS({"text", "(default)"}, {"csv", "all columns"}), 0, 0, ""},
       "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0,
        "list, show, export: write to FILE instead of standard "
        "output"},
       NULL},
      {{"--wait", OPTION_WHOLE, NULL, "SECONDS", NULL, 0, 3600,
        "how many seconds to wait while other processes write to the database (default: 60)"},
       "60"}}},
    {{.command = "history",
      .synopsis = "[options]",
      .about =
          "Shows how a program's run time, or another metric, changed from revision to revision: which changes are\n"
          "significant, and in which code. The runs are those of a database (see blame db add).",
      .examples = "  blame run --meta revision=$(git rev-parse HEAD) ./amg; blame db add blame-amg-*\n"
                  "  blame history --where \"application = 'amg' and threads = 8\"\n"
                  "  git rev-list --reverse HEAD >order; blame history --order order --metric idleness --row solve",
      .operands_none = true},
     {{{"--db", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "the database " DATABASE}, NULL},
      {{"--where", OPTION_TEXT, NULL, "SQL", NULL, 0, 0,
        "only the trials that meet this condition, as in blame db "
        "list"},
       NULL},
      {{"--metric", OPTION_WORD, NULL, "METRIC",
        (const struct option_word[]){{"wall", NULL}, METRIC_TABLE(METRIC_WORD){NULL, NULL}}, 0, 0,
        "the metric to look at (default: wall, the run time):"},
       "wall"},
      {{"--row", OPTION_TEXT, NULL, "FUNCTION", NULL, 0, 0, "only in this function, from all callers; not with wall"},
       NULL},
      {{"--by", OPTION_TEXT, NULL, "KEY", NULL, 0, 0,
        "the metadata key that holds a run's revision (default: "
        "revision), or date"},
       "revision"},
      {{"--order", OPTION_TEXT, NULL, "FILE", NULL, 0, 0,
        "a file with the revisions, one per line, oldest first (default: the order of their first runs)"},
       NULL},
      {{"--least", OPTION_NUMBER, NULL, "PERCENT", NULL, 0, 1000, "ignore smaller changes (default: 1)"}, "1"},
      {{"--format", OPTION_WORD, NULL, "FORMAT", WORDS({"text", "(default)"}, {"csv", "every revision"}), 0, 0, ""},
       "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "write to FILE instead of standard output"}, NULL}}},
    {{.command = "scaling",
      .synopsis = "DIR... [options]",
      .about =
          "Shows how a program scales with its threads, and which code limits scaling. DIR is a profile directory, a\n"
          "*.blame file, or a directory that contains them. The runs differ in their number of threads or ranks.",
      .examples = "  mkdir runs; for n in 1 2 4 8; do OMP_NUM_THREADS=$n blame run --out runs/amg-$n ./amg; done\n"
                  "  blame scaling runs\n"
                  "  blame scaling --where \"application = 'amg' and experiment = 'node7'\"\n"
                  "  blame scaling runs --view flat --format csv --output scaling.csv\n"
                  "  blame scaling runs --format html --output scaling.html",
      .operands_none = true},
     {{{"--view", OPTION_WORD, NULL, "VIEW", run_set_view, 0, 0, ""}, "top-down"},
      {{"--by", OPTION_WORD, NULL, "NUMBER", WORDS({"threads", "(default)"}, {"ranks", "of jobs"}), 0, 0,
        "what the runs have different numbers of:"},
       "threads"},
      {{"--weak", OPTION_FLAG, NULL, NULL, NULL, 0, 0,
        "weak scaling: twice the threads do twice the work (default: the same work)"},
       NULL},
      {{"--where", OPTION_TEXT, NULL, "SQL", NULL, 0, 0,
        "take the runs from a database: all trials that meet this condition (see blame db)"},
       NULL},
      {{"--db", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "the database of --where " DATABASE}, NULL},
      {{"--environment", OPTION_WORD, NULL, "KIND", (const struct option_word[]){ENVIRONMENT_WORDS(WORD){NULL, NULL}},
        0, 0, "what counts as idleness (default: as chosen for the run):"},
       NULL},
      {{"--top", OPTION_WHOLE, NULL, "N", NULL, 0, HOW_MANY,
        "text, html: the number of contexts to show (default: "
        "10)"},
       "10"},
      {{"--format", OPTION_WORD, NULL, "FORMAT",
        WORDS({"text", "(default)"}, {"csv", "every context at every number of threads or ranks"},
              {"html", "a page with plots"}),
        0, 0, ""},
       "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "write to FILE instead of standard output"}, NULL}}},
    {{.command = "tune",
      .synopsis = "[options] [--] program [argument ...]",
      .about =
          "Searches for the fastest settings of a program: number of threads, wait policy, binding, the schedule of\n"
          "schedule(runtime) loops, or the parameters in --space. The search starts where the findings of the first\n"
          "run point. At the end the best setting and the original one run in turn, so that the gain has a confidence\n"
          "interval.\n"
          "\n"
          "With --specialise no program is run. From searches in the database, blame tune learns which setting is "
          "best\n"
          "for which input, checks that on inputs it has not seen, and writes a C header and shell functions that\n"
          "choose the setting. If they would be no better than the default, it says so, writes nothing and exits\n"
          "with status 3.",
      .examples = "  blame tune ./amg -n 100\n"
                  "  blame tune --space amg.space --check 'grep -q converged' ./amg -block @{block}\n"
                  "  blame tune --minutes 30 --limit 60 --input n=100 ./amg -n 100\n"
                  "  blame tune --specialise triangle.h --application triangle\n"
                  "  . ./triangle.sh; triangle_apply 2000; ./triangle 2000",
      .operands_none = true,
      .is_program = true},
     {{{"--space", OPTION_TEXT, NULL, "FILE", NULL, 0, 0,
        "a file with the parameters, described in docs/lab.md (default: threads, wait, bind, schedule)"},
       NULL},
      {{"--runs", OPTION_WHOLE, NULL, "N", NULL, LEAST_RUNS, 100000, "run the program at most N times (default: 100)"},
       "100"},
      {{"--minutes", OPTION_NUMBER, NULL, "M", NULL, 0.01, 1e5, "take at most M minutes (default: no limit)"}, NULL},
      {{"--pairs", OPTION_WHOLE, NULL, "N", NULL, 3, 1000,
        "the number of pairs of runs that measure the gain (default: 8, fewer if --runs is small)"},
       NULL},
      {{"--limit", OPTION_NUMBER, NULL, "SECONDS", NULL, 0.01, 1e6,
        "stop a run that takes longer, and reject its settings"},
       NULL},
      {{"--check", OPTION_TEXT, NULL, "COMMAND", NULL, 0, 0,
        "a command that reads a run's output; the run is invalid if the command fails"},
       NULL},
      {{"--build", OPTION_TEXT, NULL, "COMMAND", NULL, 0, 0,
        "a command that builds a variant; the command and the program's path contain @{NAME}"},
       NULL},
      {{"--input", OPTION_LIST, NULL, "KEY=VALUE", NULL, 0, 0,
        "a feature of the input, such as n=100; give the option once for each feature"},
       NULL},
      {{"--specialise", OPTION_TEXT, NULL, "FILE", NULL, 0, 0,
        "write FILE.h and FILE.sh, which choose settings by the features of an input"},
       NULL},
      {{"--db", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "the database that stores every run " DATABASE}, NULL},
      {{"--application", OPTION_TEXT, NULL, "NAME", NULL, 0, 0, "the program's name in the database"}, NULL},
      {{"--seed", OPTION_WHOLE, NULL, "N", NULL, 1, 2147483647,
        "the seed for the order of the runs (default: taken from the clock)"},
       NULL},
      {{"--dry-run", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "only show the parameters"}, NULL},
      {{"--format", OPTION_WORD, NULL, "FORMAT", WORDS({"text", "(default)"}, {"csv", "every run"}), 0, 0, ""}, "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "write to FILE instead of standard output"}, NULL}}},
    {{.command = "fold",
      .synopsis = "[DIR] [options]",
      .about = "Shows what happens during an average execution of a numbered phase. DIR is a profile directory or a "
               "*.blame\n"
               "file of a run with --trace. Without DIR, blame takes the newest profile in the current directory.",
      .examples = "  blame run --trace ./app; blame fold blame-app-*\n"
                  "  blame fold blame-app-4711 --phase step --format svg --output step.svg",
      .operands_most = 1,
      .operands_newest = true,
      .operands = "a profile directory or a *.blame file"},
     {{{"--phase", OPTION_TEXT, NULL, "NAME", NULL, 0, 0, "the name of the phase (default: the only numbered phase)"},
       NULL},
      {{"--outliers", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "show only executions that were unusually long or short"},
       NULL},
      {{"--top", OPTION_WHOLE, NULL, "N", NULL, 1, 1000, "the number of functions (default 10)"}, "10"},
      {{"--format", OPTION_WORD, NULL, "FORMAT",
        WORDS({"text", "(default)"}, {"csv", "every function in every part"}, {"svg", "a picture"}), 0, 0, ""},
       "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "write to FILE instead of standard output"}, NULL}}},
    {{.command = "lab",
      .synopsis = "[--where]",
      .about =
          "Shows which Python interpreter runs blame db, history, scaling, tune and fold, and which packages it has. "
          "blame\n"
          "takes the first of these: BLAME_PYTHON, the python3 of VIRTUAL_ENV, the python3 in the PATH if it has "
          "NumPy,\n"
          "and /usr/bin/python3.",
      .examples = "  blame lab --where\n"
                  "  PYTHONPATH=$(blame lab --where | sed -n 's/^package *//p') python3 -c 'import blame_lab'",
      .operands_none = true},
     {{{"--where", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "does the same as blame lab without options"}, NULL}}},
};

/* The value of an option. For an option with a list of words, `whole` is the word's index. */
struct value {
    bool flag;
    int whole; /* INT_MIN: not given */
    double number;
    const char *text;
    struct option_list list;
};

static void *lab_value_to(struct value *value, enum option_kind kind)
{
    return kind == OPTION_FLAG     ? (void *)&value->flag
           : kind == OPTION_NUMBER ? (void *)&value->number
           : kind == OPTION_TEXT   ? (void *)&value->text
           : kind == OPTION_LIST   ? (void *)&value->list
                                   : (void *)&value->whole;
}

static bool option_value_is_given(const struct value *value)
{
    return value->flag || value->whole != INT_MIN || !isnan(value->number) || value->text || value->list.count > 0;
}

/* Adds the arguments that pass an option's value on to Python: KEY:TEXT for a text or word, KEY+TEXT for each
 * item of a list, KEY=JSON for other kinds. */
static char **pass_option_to_python(char **to, const struct option_spec *option, const struct value *value)
{
    char *key = memory_text("%s", option->name + 2);
    for (char *at = key; *at; at++)
        *at = *at == '-' ? '_' : *at;
    if (option->kind == OPTION_FLAG)
        *to++ = memory_text("%s=%s", key, value->flag ? "true" : "false");
    else if (option->kind == OPTION_LIST)
        *to++ = memory_text("%s=[]", key);
    else if (!option_value_is_given(value))
        *to++ = memory_text("%s=null", key);
    else if (option->kind == OPTION_WHOLE)
        *to++ = memory_text("%s=%d", key, value->whole);
    else if (option->kind == OPTION_NUMBER)
        *to++ = memory_text("%s=%.17g", key, value->number);
    else
        *to++ = memory_text("%s:%s", key, option->kind == OPTION_WORD ? option->words[value->whole].word : value->text);
    for (size_t i = 0; i < value->list.count; i++)
        *to++ = memory_text("%s+%s", key, value->list.item[i]);
    free(key);
    return to;
}

int cli_lab(int argc, char **argv)
{
    const struct lab_command *command = commands;
    while (strcmp(command->usage.command, argv[0]) != 0)
        command++;
    struct option_spec options[MOST_OPTIONS];
    struct value value[MOST_OPTIONS];
    const char *items[MOST_OPTIONS][argc], *operand[argc];
    size_t count = 0;
    int operands;
    for (; count < MOST_OPTIONS && command->option[count].spec.name; count++) {
        options[count] = command->option[count].spec;
        value[count] = (struct value){false, INT_MIN, NAN, NULL, {items[count], 0}};
        options[count].to = lab_value_to(&value[count], options[count].kind);
    }
    enum options_result result =
        options_read(&command->usage, (struct option_table){options, count}, argc, argv, operand, &operands);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    /* Room for argv[0], a value for each option, the list items, "--" and the operands. Items and operands
     * together are fewer than argc. */
    char **arguments = memory_array((size_t)argc + MOST_OPTIONS + 4, sizeof *arguments), **to = arguments;
    char *given;
    FILE *out = memory_stream(&given);
    *to++ = argv[0];
    for (size_t i = 0; i < count; i++) {
        if (option_value_is_given(&value[i]))
            fprintf(out, " %s", options[i].name);
        else if (command->option[i].otherwise)
            option_read(&options[i], command->option[i].otherwise);
        to = pass_option_to_python(to, &options[i], &value[i]);
    }
    memory_stream_close(out);
    *to++ = memory_text("given:%s", given);
    *to++ = memory_text("--");
    for (int i = 0; i < operands; i++)
        *to++ = (char *)operand[i];
    return lab_start((int)(to - arguments), arguments); /* returns only after a failure */
}
