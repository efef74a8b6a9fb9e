#include "cli/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct run_option {
    const char *name, *variable;
    const char
        *words; /* accepted, separated by '|'; NULL: a number from low to high, or any text if high is 0 */
    int low, high;
    const char *help;
} options[] = {
    {"--out", "BLAME_OUT", NULL, 0, 0,
     "DIR       output directory; %e program, %p pid, %h host, %r MPI rank"},
    {"--rate", "BLAME_RATE", NULL, 1, 10000, "N        samples per second and thread, 1 to 10000 (200)"},
    {"--clock", "BLAME_CLOCK", "wall|cpu", 0, 0, "CLOCK   wall or cpu (wall)"},
    {"--environment", "BLAME_ENVIRONMENT", "dedicated|shared", 0, 0,
     "E dedicated: unused cores are wasted; shared: they are not (dedicated)"},
    {"--context", "BLAME_CONTEXT", "deferred|eager", 0, 0,
     "C     when regions' contexts are taken (deferred)"},
    {"--tasks", "BLAME_TASKS", "region|creation", 0, 0,
     "T         below what tasks hang: their region, or the context of their creation (region)"},
    {"--locks", "BLAME_LOCKS", "section|release", 0, 0,
     "L         what a lock's waiting is blamed on: lines inside the section, or its release (section)"},
    {"--depth", "BLAME_DEPTH", NULL, 1, 4096, "N       most frames kept per path, 1 to 4096 (512)"},
    {"--csv", "BLAME_CSV", "0|1", 0, 0, "0|1       write the CSV files at the end (1)"},
    {"--summary", "BLAME_SUMMARY", "0|1", 0, 0, "0|1   print the summary at the end (1)"},
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

static void print_help(void)
{
    puts("usage: blame run [options] [--] PROGRAM [ARGUMENT ...]\n\n"
         "Runs the program with the tool loaded before main, so that serial start-up is measured too. "
         "Programs built\n"
         "by GCC run on LLVM's OpenMP runtime. The exit status is the program's (128 + signal if it was "
         "killed).\n");
    for (size_t i = 0; i < OPTION_COUNT; i++)
        printf("  %s %s\n", options[i].name, options[i].help);
    puts("\nEach option sets the environment variable of the same name, e.g. --rate sets BLAME_RATE.");
}

static int is_word(const char *words, const char *value)
{
    size_t bytes = strlen(value);
    for (const char *at = words; bytes && at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, value, bytes) == 0 && (at[bytes] == '|' || at[bytes] == '\0'))
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
        fprintf(stderr, "blame run: %s %s: accepted is %s\n", option->name, value, option->words);
    else if (option->high)
        fprintf(stderr, "blame run: %s %s: accepted is a whole number from %d to %d\n", option->name, value,
                option->low, option->high);
    else
        fprintf(stderr, "blame run: %s: accepted is the name of a directory\n", option->name);
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
        fprintf(stderr, " %s", options[i].name);
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
        fputs("blame run: no program given; usage: blame run [options] [--] PROGRAM [ARGUMENT ...]\n",
              stderr);
        return -1;
    }
    return at;
}
