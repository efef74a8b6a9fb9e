/* `blame history`: since when a program is slower, by the runs of a database. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/history.h"
#include "cli/options.h"
#include "report/rows/metric.h"

#define DATABASE "blame.db"
#define WAIT_S   60

enum { FORMAT_TEXT, FORMAT_CSV };
static const struct option_word format[] = {{"text", "(default)"}, {"csv", "every revision"}, {NULL, NULL}};
static const struct option_word metric[] = {{"wall", NULL},
#define METRIC(name, word, title, unit, about) {word, NULL},
                                            METRIC_TABLE(METRIC)
#undef METRIC
                                                {NULL, NULL}};

static const struct usage usage = {
    .command = "history",
    .synopsis = "[options]",
    .about = "How a program's time, or what it is lost on, goes from revision to revision, by the runs of a database (blame db\n"
             "add): where it changes beyond chance, since which revision, and in which code.",
    .examples = "  blame run --meta revision=$(git rev-parse HEAD) ./amg; blame db add blame-amg-*\n"
                "  blame history --where \"application = 'amg' and threads = 8\"\n"
                "  git rev-list --reverse HEAD >order; blame history --order order --metric idleness --row solve",
    .operands_none = true,
    .operand = "operand",
    .operands = "are options alone",
};

int cli_history(int argc, char **argv)
{
    const char *operand[argc], *variable = getenv("BLAME_DB");
    int operands = 0, form = FORMAT_TEXT;
    struct history_request request = {.database = variable && *variable ? variable : DATABASE, .by = "revision", .least = 1, .wait_s = WAIT_S};
    const struct option_spec options[] = {
        {"--db", OPTION_TEXT, &request.database, "FILE", NULL, 0, 0, "the database (default: BLAME_DB, or else blame.db)"},
        {"--where", OPTION_TEXT, &request.where, "SQL", NULL, 0, 0, "the trials of which this is true, as in blame db list"},
        {"--metric", OPTION_WORD, &request.metric, "METRIC", metric, 0, 0, "what is looked at (default wall, the run's length):"},
        {"--row", OPTION_TEXT, &request.row, "FUNCTION", NULL, 0, 0, "of this function alone, wherever it was called; not with wall"},
        {"--by", OPTION_TEXT, &request.by, "KEY", NULL, 0, 0, "metadata that says a run's revision (default revision), or date"},
        {"--order", OPTION_TEXT, &request.order, "FILE", NULL, 0, 0, "revisions, the oldest first, one a line (default: by their first run)"},
        {"--least", OPTION_NUMBER, &request.least, "PERCENT", NULL, 0, 1000, "a smaller change is none (default 1)"},
        {"--format", OPTION_WORD, &form, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request.output, "FILE", NULL, 0, 0, "write there, not to standard output"},
    };
    enum options_result parsed = options_read(&usage, options, sizeof options / sizeof *options, argc, argv, operand, &operands);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (operands) {
        fprintf(stderr, "blame history: %s: it takes none; --where chooses trials\n", *operand);
        return CLI_BAD_USAGE;
    }
    if (request.row && request.metric == HISTORY_WALL) {
        fprintf(stderr, "blame history: --row %s: give a --metric that functions have: all but wall\n", request.row);
        return CLI_BAD_USAGE;
    }
    request.csv = form == FORMAT_CSV;
#ifdef BLAME_TRIALS
    return history_show(&request);
#else
    fputs("blame history: this blame was built without SQLite; build it where libsqlite3-dev is\n", stderr);
    return CLI_BAD_INPUT;
#endif
}
