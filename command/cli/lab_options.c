/* What the laboratory's commands are called with. Options are read here, as those of all commands are, and are passed on to Python with their types
 * (lab/blame_lab/command.py reads them): help and refusals need no interpreter, and manual and completions have one source. */
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
#define METRIC_WORD(name, word, title, unit, about) {word, NULL},
#define DATABASE                                    "(default: BLAME_DB, or else blame.db)"
#define HOW_MANY                                    1000000

enum { MOST_OPTIONS = 16, LEAST_RUNS = 8 /* of a search beside its pairs: lab/blame_lab/tune.py */ };

struct lab_option {
    struct option_spec spec; /* its `to` is filled in by cli_lab() */
    const char *otherwise;   /* the value if it is not given; NULL: Python's None */
};

struct lab_command {
    struct usage usage;
    struct lab_option option[MOST_OPTIONS]; /* the first without a name ends them */
};

static const struct lab_command commands[] = {
    {{.command = "db",
      .synopsis = "add DIR ... | list | show TRIAL ... | export [TRIAL ...] | prune [TRIAL ...] [options]",
      .about = "Keeps runs in a database, one file of SQLite's (docs/trials.md has its tables):\n"
               "add       puts profiles into it, or folders of them; what is there is not added again\n"
               "list      its trials, the oldest first\n"
               "show      what is known of trials, and the contexts that cost most\n"
               "export    contexts of trials with all metrics, as CSV\n"
               "prune     takes trials out of it, and what only they had; profiles stay\n"
               "\n"
               "A TRIAL is a number of the list, or the first digits of a run's id, as run.json has it. SQL is a "
               "condition on\n"
               "the columns of blame db list --format csv, in which names of metadata stand for their values.",
      .examples = "  blame run --meta size=512 --meta revision=$(git rev-parse HEAD) ./amg\n"
                  "  blame db add blame-amg-*\n"
                  "  blame db list --where \"threads = 8 and host like 'node%' and size > 256\"\n"
                  "  blame db show 3\n"
                  "  blame db export 3 4 --output contexts.csv\n"
                  "  blame db prune --keep 100",
      .operand = "action",
      .operands = "are add, list, show, export, prune"},
     {{{"--db", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "the database " DATABASE}, NULL},
      {{"--application", OPTION_TEXT, NULL, "NAME", NULL, 0, 0,
        "add: of the application NAME (default: the program's name)"},
       NULL},
      {{"--experiment", OPTION_TEXT, NULL, "NAME", NULL, 0, 0, "add: of its experiment NAME (default: default)"}, NULL},
      {{"--meta", OPTION_LIST, NULL, "KEY=VALUE", NULL, 0, 0,
        "add: something else to know of it, as revision=1f3c; may be repeated"},
       NULL},
      {{"--sums", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "add: not what each thread has, only the sum"}, NULL},
      {{"--where", OPTION_TEXT, NULL, "SQL", NULL, 0, 0, "list, export, prune: the trials of which this is true"},
       NULL},
      {{"--top", OPTION_WHOLE, NULL, "N", NULL, 0, HOW_MANY, "show: this many contexts (default 10)"}, "10"},
      {{"--locations", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "export: what each thread and rank has, too"}, NULL},
      {{"--keep", OPTION_WHOLE, NULL, "N", NULL, 0, 1000000000, "prune: all but the newest N of each experiment"},
       NULL},
      {{"--dry-run", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "prune: only say which"}, NULL},
      {{"--format", OPTION_WORD, NULL, "FORMAT", WORDS({"text", "(default)"}, {"csv", "all columns"}), 0, 0, ""},
       "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "list, show, export: write there, not to standard output"},
       NULL},
      {{"--wait", OPTION_WHOLE, NULL, "SECONDS", NULL, 0, 3600, "for others who write to the database (default 60)"},
       "60"}}},
    {{.command = "history",
      .synopsis = "[options]",
      .about = "How a program's time, or what it is lost on, goes from revision to revision, by the runs of a database "
               "(blame db\n"
               "add): where it changes beyond chance, since which revision, and in which code.",
      .examples = "  blame run --meta revision=$(git rev-parse HEAD) ./amg; blame db add blame-amg-*\n"
                  "  blame history --where \"application = 'amg' and threads = 8\"\n"
                  "  git rev-list --reverse HEAD >order; blame history --order order --metric idleness --row solve",
      .operands_none = true},
     {{{"--db", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "the database " DATABASE}, NULL},
      {{"--where", OPTION_TEXT, NULL, "SQL", NULL, 0, 0, "the trials of which this is true, as in blame db list"},
       NULL},
      {{"--metric", OPTION_WORD, NULL, "METRIC",
        (const struct option_word[]){{"wall", NULL}, METRIC_TABLE(METRIC_WORD){NULL, NULL}}, 0, 0,
        "what is looked at (default wall, the run's length):"},
       "wall"},
      {{"--row", OPTION_TEXT, NULL, "FUNCTION", NULL, 0, 0,
        "of this function alone, wherever it was called; not with wall"},
       NULL},
      {{"--by", OPTION_TEXT, NULL, "KEY", NULL, 0, 0,
        "metadata that says a run's revision (default revision), or date"},
       "revision"},
      {{"--order", OPTION_TEXT, NULL, "FILE", NULL, 0, 0,
        "revisions, the oldest first, one a line (default: by their first run)"},
       NULL},
      {{"--least", OPTION_NUMBER, NULL, "PERCENT", NULL, 0, 1000, "a smaller change is none (default 1)"}, "1"},
      {{"--format", OPTION_WORD, NULL, "FORMAT", WORDS({"text", "(default)"}, {"csv", "every revision"}), 0, 0, ""},
       "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "write there, not to standard output"}, NULL}}},
    {{.command = "scaling",
      .synopsis = "DIR... [options]",
      .about =
          "How a program grows with its threads, and which code keeps it from scaling. DIR is a profile directory, a\n"
          "*.blame file, or a folder of profile directories; their runs differ in their number of threads (or ranks).",
      .examples = "  mkdir runs; for n in 1 2 4 8; do OMP_NUM_THREADS=$n blame run --out runs/amg-$n ./amg; done\n"
                  "  blame scaling runs\n"
                  "  blame scaling --where \"application = 'amg' and experiment = 'node7'\"\n"
                  "  blame scaling runs --view flat --format csv --output scaling.csv\n"
                  "  blame scaling runs --format html --output scaling.html",
      .operands_none = true},
     {{{"--view", OPTION_WORD, NULL, "VIEW", run_set_view, 0, 0, ""}, "top-down"},
      {{"--by", OPTION_WORD, NULL, "NUMBER", WORDS({"threads", "(default)"}, {"ranks", "of jobs"}), 0, 0,
        "what runs differ in:"},
       "threads"},
      {{"--weak", OPTION_FLAG, NULL, NULL, NULL, 0, 0,
        "with twice the threads there is twice as much to do (else: as much)"},
       NULL},
      {{"--where", OPTION_TEXT, NULL, "SQL", NULL, 0, 0,
        "runs are a database's trials of which this is true (blame db list)"},
       NULL},
      {{"--db", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "that database " DATABASE}, NULL},
      {{"--environment", OPTION_WORD, NULL, "KIND", (const struct option_word[]){ENVIRONMENT_WORDS(WORD){NULL, NULL}},
        0, 0, "what is counted as idleness (default: what the run was told):"},
       NULL},
      {{"--top", OPTION_WHOLE, NULL, "N", NULL, 0, HOW_MANY, "text, html: this many contexts (default 10)"}, "10"},
      {{"--format", OPTION_WORD, NULL, "FORMAT",
        WORDS({"text", "(default)"}, {"csv", "every context at every number"}, {"html", "a page with plots"}), 0, 0,
        ""},
       "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "write there, not to standard output"}, NULL}}},
    {{.command = "tune",
      .synopsis = "[options] [--] program [argument ...]",
      .about = "Searches for the setting with which a program is fastest: threads, wait policy, binding, schedule of\n"
               "schedule(runtime), or what --space names. Begins where the findings of the first run point. What seems "
               "to be\n"
               "best is held against the program as it is in runs of its own, in turn: the gain has an interval.\n"
               "With --specialise nothing is run: it learns from searches that are in the database which setting is "
               "best for\n"
               "which input, validates it on inputs left out, and writes it as code: a C header, and functions of a "
               "shell beside\n"
               "it. Where it does no better than the default it says so, with status 3, and writes nothing.",
      .examples = "  blame tune ./amg -n 100\n"
                  "  blame tune --space amg.space --check 'grep -q converged' ./amg -block @{block}\n"
                  "  blame tune --minutes 30 --limit 60 --input n=100 ./amg -n 100\n"
                  "  blame tune --specialise triangle.h --application triangle\n"
                  "  . ./triangle.sh; triangle_apply 2000; ./triangle 2000",
      .operands_none = true,
      .is_program = true},
     {{{"--space", OPTION_TEXT, NULL, "FILE", NULL, 0, 0,
        "what can be set (docs/tuning.md); default: threads, wait, bind, schedule"},
       NULL},
      {{"--runs", OPTION_WHOLE, NULL, "N", NULL, LEAST_RUNS, 100000, "at most N runs of the program (default 100)"},
       "100"},
      {{"--minutes", OPTION_NUMBER, NULL, "M", NULL, 0.01, 1e5, "and at most M minutes (default: as long as it takes)"},
       NULL},
      {{"--pairs", OPTION_WHOLE, NULL, "N", NULL, 3, 1000,
        "so many pairs of runs show the gain (default 8, fewer if --runs are few)"},
       NULL},
      {{"--limit", OPTION_NUMBER, NULL, "SECONDS", NULL, 0.01, 1e6,
        "a run that takes longer is ended, and its setting left"},
       NULL},
      {{"--check", OPTION_TEXT, NULL, "COMMAND", NULL, 0, 0, "gets a run's output; if it fails, the run went wrong"},
       NULL},
      {{"--build", OPTION_TEXT, NULL, "COMMAND", NULL, 0, 0,
        "makes a variant, with @{NAME} in it and in the program's path"},
       NULL},
      {{"--input", OPTION_LIST, NULL, "KEY=VALUE", NULL, 0, 0, "what tells this input from others; may be repeated"},
       NULL},
      {{"--specialise", OPTION_TEXT, NULL, "FILE", NULL, 0, 0,
        "write FILE.h and FILE.sh, which choose settings by an input's features"},
       NULL},
      {{"--db", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "every run is a trial of it " DATABASE}, NULL},
      {{"--application", OPTION_TEXT, NULL, "NAME", NULL, 0, 0, "there the program is called NAME"}, NULL},
      {{"--seed", OPTION_WHOLE, NULL, "N", NULL, 1, 2147483647, "of the order of runs (default: of the clock)"}, NULL},
      {{"--dry-run", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "only say what can be set"}, NULL},
      {{"--format", OPTION_WORD, NULL, "FORMAT", WORDS({"text", "(default)"}, {"csv", "every run"}), 0, 0, ""}, "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "write there, not to standard output"}, NULL}}},
    {{.command = "fold",
      .synopsis = "DIR [options]",
      .about = "What happens along an average execution of a numbered phase: its executions, laid over one another. "
               "DIR is a\n"
               "profile directory or a *.blame file of a run with --trace.",
      .examples = "  blame run --trace ./app; blame fold blame-app-*\n"
                  "  blame fold blame-app-4711 --phase step --format svg --output step.svg",
      .operands_most = 1,
      .operands = "is a profile directory or a *.blame file"},
     {{{"--phase", OPTION_TEXT, NULL, "NAME", NULL, 0, 0, "the phase (default: the only one that is numbered)"}, NULL},
      {{"--outliers", OPTION_FLAG, NULL, NULL, NULL, 0, 0,
        "of those that took unusually long or short, not of the usual ones"},
       NULL},
      {{"--top", OPTION_WHOLE, NULL, "N", NULL, 1, 1000, "functions that are shown (default 10)"}, "10"},
      {{"--format", OPTION_WORD, NULL, "FORMAT",
        WORDS({"text", "(default)"}, {"csv", "every function in every part"}, {"svg", "a picture"}), 0, 0, ""},
       "text"},
      {{"--output", OPTION_TEXT, NULL, "FILE", NULL, 0, 0, "write there, not to standard output"}, NULL}}},
    {{.command = "lab",
      .synopsis = "[--where]",
      .about = "Which Python runs blame db, history, scaling, tune and fold, and which packages it has: "
               "BLAME_PYTHON's, else VIRTUAL_ENV's,\n"
               "else the python3 of the PATH if it has NumPy, else /usr/bin/python3.",
      .examples = "  blame lab --where\n"
                  "  PYTHONPATH=$(blame lab --where | sed -n 's/^package *//p') python3 -c 'import blame_lab'",
      .operands_none = true},
     {{{"--where", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "what is said without an option, too"}, NULL}}},
};

/* What was read of an option: of a word its number. */
struct value {
    bool flag;
    int whole; /* INT_MIN: not given, and so on */
    double number;
    const char *text;
    struct option_list list;
};

static void *place_of(struct value *value, enum option_kind kind)
{
    return kind == OPTION_FLAG     ? (void *)&value->flag
           : kind == OPTION_NUMBER ? (void *)&value->number
           : kind == OPTION_TEXT   ? (void *)&value->text
           : kind == OPTION_LIST   ? (void *)&value->list
                                   : (void *)&value->whole;
}

static bool is_given(const struct value *value)
{
    return value->flag || value->whole != INT_MIN || !isnan(value->number) || value->text || value->list.count > 0;
}

/* Adds arguments for Python: KEY:TEXT of texts and words, KEY+TEXT of each item of a list, KEY=JSON of all else. */
static char **pass_on(char **to, const struct option_spec *option, const struct value *value)
{
    char *key = memory_text("%s", option->name + 2);
    for (char *at = key; *at; at++)
        *at = *at == '-' ? '_' : *at;
    if (option->kind == OPTION_FLAG)
        *to++ = memory_text("%s=%s", key, value->flag ? "true" : "false");
    else if (option->kind == OPTION_LIST)
        *to++ = memory_text("%s=[]", key);
    else if (!is_given(value))
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
        options[count].to = place_of(&value[count], options[count].kind);
    }
    enum options_result result = options_read(&command->usage, options, count, argc, argv, operand, &operands);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    /* argv[0], the values, the options given, "--" and the operands; items and operands are fewer than argc. */
    char **arguments = memory_array((size_t)argc + MOST_OPTIONS + 4, sizeof *arguments), **to = arguments;
    char *given;
    FILE *out = memory_stream(&given);
    *to++ = argv[0];
    for (size_t i = 0; i < count; i++) {
        if (is_given(&value[i]))
            fprintf(out, " %s", options[i].name);
        else if (command->option[i].otherwise)
            option_read(&options[i], command->option[i].otherwise);
        to = pass_on(to, &options[i], &value[i]);
    }
    memory_stream_close(out);
    *to++ = memory_text("given:%s", given);
    *to++ = memory_text("--");
    for (int i = 0; i < operands; i++)
        *to++ = (char *)operand[i];
    return lab_start((int)(to - arguments), arguments); /* returns only to end the process */
}
