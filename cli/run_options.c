#include "cli/run_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/run_options.h"
#include "cli/options.h"

#define VARIABLE(variable, ...) variable,
#define NONE(...)
static const char *const variables[] = {RUN_OPTIONS(VARIABLE, VARIABLE, VARIABLE, NONE, VARIABLE) NULL, NULL}; /* the last two are of the command alone */

#define COUNT      (sizeof variables / sizeof *variables)
#define OF_TOOL    (COUNT - 2)
#define NAME_BYTES 32

static const struct usage usage = {
    .command = "run",
    .synopsis = "[options] [--] PROGRAM [ARGUMENT ...]",
    .about = "Runs the program with the tool loaded before main, so that serial start-up is measured too.\n"
             "Programs built by GCC run on LLVM's OpenMP runtime. The exit status is the program's\n"
             "(128 + signal if it was killed; a rank of an MPI job, and after Ctrl-C any, dies of the signal, too). Each option sets the environment variable "
             "of the same name:\n"
             "--rate sets BLAME_RATE; but for --stacks and --stacks-file, which are the command's own.",
    .examples = "  blame run ./amg -n 100\n"
                "  blame run --rate 1000 --out amg-before -- ./amg -n 100\n"
                "  mpirun -n 4 blame run ./solver\n"
                "  blame run --tasks creation ./sort input.txt",
    .operand = "program",
    .operands = "is PROGRAM [ARGUMENT ...] behind the options, see blame run --help",
    .is_program = true,
    .variables = variables,
    .lines = "BLAME_META",
    .alone = (const struct option_word[]){{"--trace", "1"}, {"--stacks", "0"}, {"--no-command", "1"}, {NULL, NULL}},
};

/* --events-include of BLAME_EVENTS_INCLUDE. */
static void name_option(const char *variable, char name[NAME_BYTES])
{
    variable += strlen("BLAME");
    name[0] = '-';
    for (size_t i = 0; name[i]; i++)
        name[i + 1] = variable[i] == '_' ? '-' : (char)tolower((unsigned char)variable[i]);
}

/* A log of stacks is of a trace, and at its own rate, should it have one. False after a message. */
static bool complete_stacks(struct run_stacks *stacks, int hertz, int rate)
{
    char text[16];
    const char *trace = getenv("BLAME_TRACE");
    stacks->on = hertz >= 0 || stacks->file;
    if (hertz > 0 && rate > 0 && hertz != rate) {
        fprintf(stderr, "blame run: --stacks %d: --rate is %d, and there is one rate; give one of them\n", hertz, rate);
        return false;
    }
    if (stacks->file && strcmp(stacks->file, "-") == 0) {
        fputs("blame run: --stacks-file -: standard output is the program's; accepted is the name of a file, or /dev/stderr\n", stderr);
        return false;
    }
    if (hertz > 0) {
        snprintf(text, sizeof text, "%d", hertz);
        setenv("BLAME_RATE", text, 1);
    }
    if (stacks->on && (!trace || strcmp(trace, "0") == 0))
        setenv("BLAME_TRACE", "1", 1);
    return true;
}

int run_options_read(int argc, char **argv, struct run_stacks *stacks, const char **out)
{
    int hertz = -1;
    struct run_options options = {0}; /* for what is accepted: the tool reads them from the environment */
#define TEXT(variable, field, value, help) {NULL, OPTION_TEXT, &options.field, value, NULL, 0, 0, help},
#define WHOLE(variable, field, fallback, least, most, help)                                                  \
    {NULL, OPTION_WHOLE, &options.field, "N",                                                                \
     NULL, least,        most,           help ", " #least " to " #most " (default " #fallback ")"},
#define W(word, about) {word, about},
#define WORD(variable, field, fallback, words, value, help)                                                  \
    {NULL, OPTION_WORD, &options.field, value, (const struct option_word[]){words{NULL, NULL}}, 0, 0, help},
#define FORM(variable, field, fallback, read, accepted, value, help)                                         \
    {NULL, OPTION_FORM, &(struct option_form){read, accepted, &options.field}, value, NULL, 0, 0, help},
    struct option_spec table[] = {
        RUN_OPTIONS(TEXT, WHOLE, WORD, W, FORM)
        {"--stacks", OPTION_WHOLE, &hertz, "HZ", NULL, 0, 10000,
         "writes the log of stacks while the program runs, a line a sample, beside\n"
         "the measurement (*.stacks): of --trace, with HZ samples per second and\n"
         "thread, as 1, 10 or 100; alone, or 0: as --rate says"},
        {"--stacks-file", OPTION_TEXT, &stacks->file, "FILE", NULL, 0, 0,
         "the same to FILE, or to FILE.1, .2 ... if it is there; a pipe or a\n"
         "terminal is written to"},
    };
    char name[COUNT][NAME_BYTES];
    const char *operand[argc];
    int count;
    *stacks = (struct run_stacks){0};
    for (size_t i = 0; i < OF_TOOL; i++) {
        name_option(variables[i], name[i]);
        table[i].name = name[i];
    }
    enum options_result result = options_read(&usage, table, COUNT, argc, argv, operand, &count);
    *out = options.out;
    if (result == OPTIONS_RUN && !complete_stacks(stacks, hertz, options.rate))
        return -1;
    return result == OPTIONS_RUN ? argc - count : result == OPTIONS_HELPED ? 0 : -1;
}
