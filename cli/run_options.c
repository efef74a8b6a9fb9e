#include "cli/run_options.h"

#include <ctype.h>
#include <string.h>

#include "base/run_options.h"
#include "cli/options.h"

#define VARIABLE(variable, ...) variable,
#define NONE(...)
static const char *const variables[] = {RUN_OPTIONS(VARIABLE, VARIABLE, VARIABLE, NONE, VARIABLE)};

#define COUNT      (sizeof variables / sizeof *variables)
#define NAME_BYTES 32

static const struct usage usage = {
    .command = "run",
    .synopsis = "[options] [--] PROGRAM [ARGUMENT ...]",
    .about = "Runs the program with the tool loaded before main, so that serial start-up is measured too.\n"
             "Programs built by GCC run on LLVM's OpenMP runtime. The exit status is the program's\n"
             "(128 + signal if it was killed; a rank of an MPI job, and after Ctrl-C any, dies of the signal, too). Each option sets the environment variable "
             "of the same name:\n"
             "--rate sets BLAME_RATE.",
    .examples = "  blame run ./amg -n 100\n"
                "  blame run --rate 1000 --out amg-before -- ./amg -n 100\n"
                "  mpirun -n 4 blame run ./solver\n"
                "  blame run --tasks creation ./sort input.txt",
    .operand = "program",
    .operands = "is PROGRAM [ARGUMENT ...] behind the options, see blame run --help",
    .is_program = true,
    .variables = variables,
    .alone = "--trace",
    .alone_value = "1",
};

/* --events-include of BLAME_EVENTS_INCLUDE. */
static void name_option(const char *variable, char name[NAME_BYTES])
{
    variable += strlen("BLAME");
    name[0] = '-';
    for (size_t i = 0; name[i]; i++)
        name[i + 1] = variable[i] == '_' ? '-' : (char)tolower((unsigned char)variable[i]);
}

int run_options_read(int argc, char **argv)
{
    struct run_options options; /* for what is accepted: the tool reads them from the environment */
#define TEXT(variable, field, value, help) {NULL, OPTION_TEXT, &options.field, value, NULL, 0, 0, help},
#define WHOLE(variable, field, fallback, least, most, help)                                                  \
    {NULL, OPTION_WHOLE, &options.field, "N",                                                                \
     NULL, least,        most,           help ", " #least " to " #most " (default " #fallback ")"},
#define W(word, about) {word, about},
#define WORD(variable, field, fallback, words, value, help)                                                  \
    {NULL, OPTION_WORD, &options.field, value, (const struct option_word[]){words{NULL, NULL}}, 0, 0, help},
#define FORM(variable, field, fallback, read, accepted, value, help)                                         \
    {NULL, OPTION_FORM, &(struct option_form){read, accepted, &options.field}, value, NULL, 0, 0, help},
    struct option_spec table[] = {RUN_OPTIONS(TEXT, WHOLE, WORD, W, FORM)};
    char name[COUNT][NAME_BYTES];
    const char *operand[argc];
    int count;
    for (size_t i = 0; i < COUNT; i++) {
        name_option(variables[i], name[i]);
        table[i].name = name[i];
    }
    enum options_result result = options_read(&usage, table, COUNT, argc, argv, operand, &count);
    return result == OPTIONS_RUN ? argc - count : result == OPTIONS_HELPED ? 0 : -1;
}
