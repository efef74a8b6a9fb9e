/* `blame tune`: the best setting by what was tried. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/specialise.h"

#define DEFAULT_PATH "blame.db"
#define WAIT_S       60

static const struct usage usage = {
    .command = "tune",
    .synopsis = "--specialise FILE.h [options]",
    .about = "Learns from searches that are in the database which setting is best for which input, validates it on inputs left\n"
             "out, and writes it as code: a C header, and functions of a shell beside it (docs/learning.md). Nothing is run.\n"
             "Where it does no better than the default it says so, with status 3, and writes nothing.",
    .examples = "  blame tune --specialise triangle.h --application triangle\n"
                "  . ./triangle.sh; triangle_apply 2000; ./triangle 2000",
    .operands_none = true,
};

int cli_tune(int argc, char **argv)
{
    const char *operand[argc], *variable = getenv("BLAME_DB");
    int operands = 0;
    struct specialise_request request = {.database = variable && *variable ? variable : DEFAULT_PATH, .wait_s = WAIT_S};
    const struct option_spec options[] = {
        {"--specialise", OPTION_TEXT, &request.file, "FILE", NULL, 0, 0, "write FILE.h and FILE.sh, which choose settings by an input's features"},
        {"--application", OPTION_TEXT, &request.application, "NAME", NULL, 0, 0, "of its searches (default: the only application that has any)"},
        {"--db", OPTION_TEXT, &request.database, "FILE", NULL, 0, 0, "the database (default: BLAME_DB, or else blame.db)"},
    };
    enum options_result parsed = options_read(&usage, options, sizeof options / sizeof *options, argc, argv, operand, &operands);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (operands || !request.file) {
        fprintf(stderr, "blame tune: %s: accepted is --specialise FILE.h; see blame tune --help\n", operands ? *operand : "nothing to do");
        return CLI_BAD_USAGE;
    }
#ifdef BLAME_TRIALS
    return cli_specialise(&request);
#else
    fputs("blame tune: this blame was built without SQLite; build it where libsqlite3-dev is\n", stderr);
    return CLI_BAD_INPUT;
#endif
}
