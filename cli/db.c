/* `blame db`: runs are kept in a database, and found again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/run_options.h"
#include "cli/cli.h"
#include "cli/db.h"
#include "cli/options.h"
#include "report/text/memory.h"

#define DEFAULT_PATH "blame.db"
#define WAIT_S       60
#define TOP          10

enum { FORMAT_TEXT, FORMAT_CSV };
static const struct option_word format[] = {{"text", "(default)"}, {"csv", "all columns"}, {NULL, NULL}};

static const struct usage usage = {
    .command = "db",
    .synopsis = "add DIR ... | list | show TRIAL ... | export [TRIAL ...] | prune [TRIAL ...] [options]",
    .about = "Keeps runs in a database, one file of SQLite's (docs/trials.md has its tables):\n"
             "add       puts profiles into it, or folders of them; what is there is not added again\n"
             "list      its trials, the oldest first\n"
             "show      what is known of trials, and the contexts that cost most\n"
             "export    contexts of trials with all metrics, as CSV\n"
             "prune     takes trials out of it, and what only they had; profiles stay\n"
             "\n"
             "A TRIAL is a number of the list, or the first digits of a run's id, as run.json has it. SQL is a condition on\n"
             "the columns of blame db list --format csv, in which names of metadata stand for their values.",
    .examples = "  blame run --meta size=512 --meta revision=$(git rev-parse HEAD) ./amg\n"
                "  blame db add blame-amg-*\n"
                "  blame db list --where \"threads = 8 and host like 'node%' and size > 256\"\n"
                "  blame db show 3\n"
                "  blame db export 3 4 --output contexts.csv\n"
                "  blame db prune --keep 100",
    .operand = "action",
    .operands = "are add, list, show, export, prune",
};

static const struct action {
    const char *name;
    int (*run)(const struct db_request *request);
    int operands; /* 0: none, 1: at least one, 2: any number */
    const char *what;
} actions[] = {
#ifdef BLAME_TRIALS
    {"add", db_add, 1, "profile"}, {"list", db_list, 0, NULL},       {"show", db_show, 1, "trial"},
    {"export", db_export, 2, NULL}, {"prune", db_prune, 2, NULL},
#endif
    {NULL, NULL, 0, NULL},
};

/* Options that only some actions take. */
static const struct {
    const char *option, *actions;
} limited[] = {{"--application", "add"}, {"--experiment", "add"}, {"--meta", "add"},       {"--sums", "add"},
               {"--where", "list, export or prune"}, {"--top", "show"}, {"--locations", "export"}, {"--keep", "prune"},
               {"--dry-run", "prune"},   {"--output", "list, show or export"}};

static bool takes(const char *names, const char *action)
{
    const char *at = strstr(names, action);
    return at && (at == names || at[-1] == ' ') && !(at[strlen(action)] >= 'a' && at[strlen(action)] <= 'z');
}

static bool is_given(const char *option, int argc, char **argv)
{
    size_t bytes = strlen(option);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], option, bytes) == 0 && (!argv[i][bytes] || argv[i][bytes] == '='))
            return true;
    return strcmp(option, "--output") == 0 && is_given("-o", argc, argv);
}

static bool check_options(const char *action, int argc, char **argv)
{
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++)
        if (is_given(limited[i].option, argc, argv) && !takes(limited[i].actions, action)) {
            fprintf(stderr, "blame db %s: %s: is an option of %s\n", action, limited[i].option, limited[i].actions);
            return false;
        }
    return true;
}

static bool check_meta(const struct option_list *meta)
{
    for (size_t i = 0; i < meta->count; i++) {
        const char *kept;
        if (!run_option_meta(meta->item[i], &kept)) {
            fprintf(stderr, "blame db add: --meta %s: accepted is " RUN_OPTION_META_ACCEPTED "\n", meta->item[i]);
            return false;
        }
    }
    return true;
}

static const struct action *find_action(const char *name)
{
    for (const struct action *action = actions; action->name; action++)
        if (strcmp(action->name, name) == 0)
            return action;
    fprintf(stderr, "blame db: %s: no such action; accepted %s\n", name, usage.operands);
    return NULL;
}

static int run_action(struct db_request *request, int argc, char **argv)
{
    if (!actions->name) {
        fputs("blame db: this blame was built without SQLite; build it where libsqlite3-dev is\n", stderr);
        return CLI_BAD_INPUT;
    }
    const struct action *action = find_action(request->operand[0]);
    if (!action || !check_options(action->name, argc, argv) || !check_meta(&request->meta))
        return CLI_BAD_USAGE;
    request->operand++;
    request->operand_count--;
    if (action->operands == 0 && request->operand_count) {
        fprintf(stderr, "blame db %s: %s: it takes none; --where chooses trials\n", action->name, request->operand[0]);
        return CLI_BAD_USAGE;
    }
    if (action->operands == 1 && !request->operand_count) {
        fprintf(stderr, "blame db %s: no %s given; see blame db --help\n", action->name, action->what);
        return CLI_BAD_USAGE;
    }
    /* SQLite has names of its own for what is no file. */
    char *path = memory_text("%s%s", *request->path == ':' ? "./" : "", request->path);
    request->path = path;
    int status = action->run(request);
    free(path);
    return status;
}

static enum options_result read_request(struct db_request *request, int argc, char **argv)
{
    int form = FORMAT_TEXT;
    const struct option_spec options[] = {
        {"--db", OPTION_TEXT, &request->path, "FILE", NULL, 0, 0, "the database (default: BLAME_DB, or else blame.db)"},
        {"--application", OPTION_TEXT, &request->application, "NAME", NULL, 0, 0, "add: of the application NAME (default: the program's name)"},
        {"--experiment", OPTION_TEXT, &request->experiment, "NAME", NULL, 0, 0, "add: of its experiment NAME (default: default)"},
        {"--meta", OPTION_LIST, &request->meta, "KEY=VALUE", NULL, 0, 0,
         "add: something else to know of it, as revision=1f3c; may be repeated"},
        {"--sums", OPTION_FLAG, &request->sums, NULL, NULL, 0, 0, "add: not what each thread has, only the sum"},
        {"--where", OPTION_TEXT, &request->where, "SQL", NULL, 0, 0, "list, export, prune: the trials of which this is true"},
        {"--top", OPTION_WHOLE, &request->top, "N", NULL, 0, 1000000, "show: this many contexts (default 10)"},
        {"--locations", OPTION_FLAG, &request->locations, NULL, NULL, 0, 0, "export: what each thread and rank has, too"},
        {"--keep", OPTION_WHOLE, &request->keep, "N", NULL, 0, 1000000000, "prune: all but the newest N of each experiment"},
        {"--dry-run", OPTION_FLAG, &request->dry_run, NULL, NULL, 0, 0, "prune: only say which"},
        {"--format", OPTION_WORD, &form, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0, "list, show, export: write there, not to standard output"},
        {"--wait", OPTION_WHOLE, &request->wait_s, "SECONDS", NULL, 0, 3600,
         "for others who write to the database (default 60)"},
    };
    enum options_result result =
        options_read(&usage, options, sizeof options / sizeof *options, argc, argv, request->operand, &request->operand_count);
    request->csv = form == FORMAT_CSV;
    return result;
}

int cli_db(int argc, char **argv)
{
    const char *operand[argc], *meta[argc], *variable = getenv("BLAME_DB");
    struct db_request request = {.path = variable && *variable ? variable : DEFAULT_PATH,
                                 .operand = operand,
                                 .meta = {meta, 0},
                                 .keep = -1,
                                 .top = TOP,
                                 .wait_s = WAIT_S};
    enum options_result parsed = read_request(&request, argc, argv);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    return run_action(&request, argc, argv);
}
