#include "cli/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct run_option {
    const char *name, *variable;
    const char *words; /* accepted, separated by ", "; NULL: a number from low to high, or any text if high is
                          0 */
    int low, high;
    const char *value, *help;
} options[] = {
    {"--out", "BLAME_OUT", NULL, 0, 0, "DIR",
     "output directory; %e program, %p pid, %h host, %r MPI rank;\n"
     "what exists is never overwritten: .1, .2 is appended, or behind a\n"
     "slash the default name\n"
     "(default: blame-%e-%p)"},
    {"--rate", "BLAME_RATE", NULL, 1, 10000, "N", "samples per second and thread, 1 to 10000 (default 200)"},
    {"--clock", "BLAME_CLOCK", "wall, cpu", 0, 0, "CLOCK",
     "wall (default) or cpu: a sleeping thread is not sampled then"},
    {"--environment", "BLAME_ENVIRONMENT", "dedicated, shared", 0, 0, "KIND",
     "dedicated  unused cores are wasted (default)\n"
     "shared     they are not: only threads of a team idle"},
    {"--context", "BLAME_CONTEXT", "deferred, eager", 0, 0, "WHEN",
     "when regions' contexts are taken: deferred (default), or eager,\n"
     "which is slow, for comparison"},
    {"--tasks", "BLAME_TASKS", "region, creation", 0, 0, "WHERE",
     "below what tasks hang: their region (default), or the context of\n"
     "their creation"},
    {"--locks", "BLAME_LOCKS", "section, release", 0, 0, "WHAT",
     "what a lock's waiting is blamed on: the lines inside the section\n"
     "that kept it (default), or its release"},
    {"--depth", "BLAME_DEPTH", NULL, 1, 4096, "N", "most frames kept per path, 1 to 4096 (default 512)"},
    {"--counters", "BLAME_COUNTERS", NULL, 0, 0, "LIST",
     "PAPI's names of at most 8 counters, separated by commas, counted for\n"
     "every context: PAPI_TOT_INS,perf::PAGE-FAULTS"},
    {"--sample", "BLAME_SAMPLE", NULL, 0, 0, "EVENT@N",
     "a sample whenever a thread has counted N more of the event, instead\n"
     "of by the clock: all figures are events then, not seconds"},
    {"--phase-instances", "BLAME_PHASE_INSTANCES", NULL, 1, 100000000, "N",
     "numbered executions of one phase that have a row each (10000)"},
    {"--events-include", "BLAME_EVENTS_INCLUDE", NULL, 0, 0, "LIST",
     "shell patterns, separated by commas: events that are measured"},
    {"--events-exclude", "BLAME_EVENTS_EXCLUDE", NULL, 0, 0, "LIST", "and events that are not"},
    {"--events-throttle", "BLAME_EVENTS_THROTTLE", NULL, 0, 0, "C@N",
     "no longer measure events called more than C times that take less than\n"
     "N nanoseconds on average (default 100000@2000); 0: never"},
    {"--signal", "BLAME_SIGNAL", NULL, 0, 0, "N",
     "the signal by which samples come: a number, RTMIN+n or RTMAX-n\n"
     "(default: the highest real-time signal that the program does not use)"},
    {"--private", "BLAME_PRIVATE", "0, 1", 0, 0, "0|1",
     "1: nobody else may read the profile, which has the command line\n"
     "(default 0: as the umask says)"},
    {"--csv", "BLAME_CSV", "0, 1", 0, 0, "0|1", "write the CSV files at the end (default 1)"},
    {"--summary", "BLAME_SUMMARY", "0, 1", 0, 0, "0|1", "print the summary at the end (default 1)"},
};

#define HELP_COLUMN  25
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

static void print_option(const char *name, const char *value, const char *help)
{
    char left[64];
    snprintf(left, sizeof left, "  %s %s", name, value);
    printf("%-*s", HELP_COLUMN, left);
    for (; *help; help++) {
        putchar(*help);
        if (*help == '\n')
            printf("%*s", HELP_COLUMN, "");
    }
    putchar('\n');
}

static void print_help(void)
{
    puts("usage: blame run [options] [--] PROGRAM [ARGUMENT ...]\n\n"
         "Runs the program with the tool loaded before main, so that serial start-up is measured too.\n"
         "Programs built by GCC run on LLVM's OpenMP runtime. The exit status is the program's\n"
         "(128 + signal if it was killed; Ctrl-C ends both). Each option sets the environment variable of the same name:\n"
         "--rate sets BLAME_RATE.\n");
    for (size_t i = 0; i < OPTION_COUNT; i++)
        print_option(options[i].name, options[i].value, options[i].help);
    print_option("--help", "", "this text");
    puts("\nexamples:\n"
         "  blame run ./amg -n 100\n"
         "  blame run --rate 1000 --out amg-before -- ./amg -n 100\n"
         "  mpirun -n 4 blame run ./solver\n"
         "  blame run --tasks creation --environment shared ./sort input.txt");
}

static int is_word(const char *words, const char *value)
{
    size_t bytes = strlen(value);
    for (const char *at = words; bytes && at; at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL)
        if (strncmp(at, value, bytes) == 0 && (at[bytes] == ',' || at[bytes] == '\0'))
            return 1;
    return 0;
}

static int accepts(const struct run_option *option, const char *value)
{
    if (option->words)
        return is_word(option->words, value);
    if (!option->high)
        return *value != '\0';
    char *end;
    long number = strtol(value, &end, 10);
    return *value >= '0' && *value <= '9' && !*end && number >= option->low && number <= option->high;
}

static int complain(const struct run_option *option, const char *value)
{
    if (option->words)
        fprintf(stderr, "blame run: %s %s: accepted are %s\n", option->name, *value ? value : "\"\"",
                option->words);
    else if (option->high)
        fprintf(stderr, "blame run: %s %s: accepted is a whole number from %d to %d\n", option->name,
                *value ? value : "\"\"", option->low, option->high);
    else
        fprintf(stderr, "blame run: %s: accepted is %s, which must not be empty\n", option->name,
                strcmp(option->value, "DIR") == 0 ? "the name of a directory" : option->value);
    return -1;
}

static const struct run_option *find(const char *text, const char **value)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        size_t bytes = strlen(options[i].name);
        if (strncmp(text, options[i].name, bytes) != 0 || (text[bytes] && text[bytes] != '='))
            continue;
        *value = text[bytes] ? text + bytes + 1 : NULL;
        return &options[i];
    }
    return NULL;
}

static int unknown(const char *text)
{
    fprintf(stderr, "blame run: %s: no such option; accepted are", text);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        fprintf(stderr, " %s,", options[i].name);
    fputs(" --help\n", stderr);
    return -1;
}

int run_options_read(int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        const char *value = NULL;
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            print_help();
            return 0;
        }
        const struct run_option *option = find(argv[at], &value);
        if (!option)
            return unknown(argv[at]);
        if (!value)
            value = ++at < argc ? argv[at] : "";
        if (!accepts(option, value))
            return complain(option, value);
        setenv(option->variable, value, 1);
    }
    if (at >= argc) {
        fputs("blame run: no program given; usage: blame run [options] [--] PROGRAM [ARGUMENT ...], see "
              "blame run --help\n",
              stderr);
        return -1;
    }
    return at;
}
