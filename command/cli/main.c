#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/cli/clean_stream.h"
#include "command/cli/cli.h"
#include "command/cli/options.h"
#include "command/cli/progress.h"
#include "command/text/memory.h"

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *purpose;
} commands[] = {
    {"run", cli_run, "run a program and measure it"},
    {"report", cli_report, "show a profile"},
    {"html", cli_html, "make a page for a browser of a profile"},
    {"export", cli_export, "write a profile in the format of another program"},
    {"diff", cli_diff, "compare profiles of two builds or inputs"},
    {"stat", cli_stat, "show how the runs of one program scatter"},
    {"db", cli_lab, "keep runs in a database: add, list, show, export, prune"},
    {"scaling", cli_lab, "show which code limits scaling"},
    {"tune", cli_lab, "search for the setting with which a program is fastest"},
    {"history", cli_lab, "show since when a program is slower, and where"},
    {"fold", cli_lab, "show what happens along an average step of a program"},
    {"lab", cli_lab, "show which Python runs db, scaling, tune, history and fold"},
    {"merge", cli_merge, "make one measurement of those of a job's ranks"},
    {"snapshot", cli_snapshot, "make a profile of a program that still runs"},
    {"finish", cli_finish, "make the reports of a program whose end could not"},
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void print_help(FILE *out)
{
    fputs("blame finds who makes the threads of an OpenMP program wait.\n\n"
          "  blame run ./app args          run a program and measure it\n"
          "  blame report DIR              show the profile that it left\n"
          "  blame html DIR                make a page for a browser of it\n"
          "  blame diff BEFORE AFTER       what became worse, and where\n\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].purpose);
    fputs("\n`blame COMMAND --help` explains a command; `blame --version` prints the version.\n", out);
}

/* All commands and their options, for the build. */
static int describe(void)
{
    static char option[] = OPTIONS_DESCRIBE;
    int status = CLI_DONE;
    for (size_t i = 0; i < COMMAND_COUNT && status == CLI_DONE; i++) {
        printf("command\t%s\t%s\n", commands[i].name, commands[i].purpose);
        status = commands[i].run(2, (char *[]){(char *)commands[i].name, option, NULL});
    }
    return status;
}

/* NULL: there is no such command. */
static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    fprintf(stderr, "blame: %s: no such command; accepted are", name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stderr, "%s %s", i ? "," : "", commands[i].name);
    fputs(", --help, --version\n", stderr);
    return NULL;
}

static const struct command *command;

static void tell_no_memory(void)
{
    progress_end();
    fprintf(stderr, "blame %s: not enough memory; end other programs, or raise the limit (ulimit -v)\n", command->name);
}

int main(int argc, char **argv)
{
    static char help[] = "--help";
    if (argc < 2) {
        print_help(stderr);
        return CLI_BAD_USAGE;
    }
    bool asked = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (asked && argc == 2)) {
        print_help(stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("blame " BLAME_VERSION);
        return CLI_DONE;
    }
    if (strcmp(argv[1], OPTIONS_DESCRIBE) == 0)
        return describe();
    command = find_command(argv[asked ? 2 : 1]);
    if (!command)
        return CLI_BAD_USAGE;
    memory_exhausted = tell_no_memory;
    if (command->run != cli_run) { /* it has a program to which its own signals are passed on */
        signal(SIGXFSZ, SIG_IGN);  /* a limit on files is an error to be told, not a death */
        signal(SIGCHLD, SIG_DFL);  /* ignored, it would take the status of what is started */
    }
    /* The others' is patient. */
    if (command->run != cli_run && command->run != cli_finish && isatty(STDERR_FILENO))
        clean_stderr();
    /* `blame help COMMAND` is `blame COMMAND --help`. */
    return asked ? command->run(2, (char *[]){argv[2], help, NULL}) : command->run(argc - 1, argv + 1);
}
