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
    {"report", cli_report, "show a profile in the terminal"},
    {"html", cli_html, "make a page for a browser from a profile"},
    {"diff", cli_diff, "compare the profiles of two builds, inputs or settings"},
    {"export", cli_export, "write a profile in the format of another program"},
    {"stat", cli_stat, "show how the runs of one program vary"},
    {"db", cli_lab, "keep runs in a database: add, list, show, export, prune"},
    {"scaling", cli_lab, "show which code limits scaling"},
    {"tune", cli_lab, "search for the fastest settings of a program"},
    {"history", cli_lab, "show when a program became slower, and in which code"},
    {"fold", cli_lab, "show what happens during an average step of a program"},
    {"lab", cli_lab, "show which Python interpreter runs db, scaling, tune, history and fold"},
    {"merge", cli_merge, "merge the measurements of a job's ranks into one"},
    {"snapshot", cli_snapshot, "make a profile of a program that is still running"},
    {"finish", cli_finish, "write the reports for a program that was killed"},
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void print_common_commands(FILE *out)
{
    fputs("blame shows which code makes the threads of an OpenMP program wait.\n"
          "\n"
          "  blame run ./app args      run a program and measure it\n"
          "  blame report [DIR]        show its profile in the terminal\n"
          "  blame html [DIR]          make a page for a browser from it\n"
          "  blame diff BEFORE AFTER   show what became slower, and where\n"
          "\n"
          "blame run creates a directory, DIR. Without DIR, the other commands take the newest one in the current "
          "directory.\n"
          "\n"
          "more:\n"
          "  blame help all            list all commands\n"
          "  blame COMMAND --help      show the options of a command\n"
          "  blame --version           print the version\n",
          out);
}

static void print_all_commands(void)
{
    puts("commands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].purpose);
    puts("\n`blame COMMAND --help` shows the options of a command.");
}

/* Prints all commands and their options in the form from which the build makes manual pages and completions. */
static int describe_commands(void)
{
    static char option[] = OPTIONS_DESCRIBE;
    int status = CLI_DONE;
    for (size_t i = 0; i < COMMAND_COUNT && status == CLI_DONE; i++) {
        printf("command\t%s\t%s\n", commands[i].name, commands[i].purpose);
        status = commands[i].run(2, (char *[]){(char *)commands[i].name, option, NULL});
    }
    return status;
}

/* Returns the command of this name, NULL after a message if there is none. */
static const struct command *find_command(const char *name)
{
    struct option_suggestion suggestion = {.typed = name};
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
        options_suggest(&suggestion, commands[i].name);
    }
    fprintf(stderr, "blame: unknown command %s;", name);
    options_print_suggestion(&suggestion);
    fputs(" expected one of", stderr);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stderr, " %s,", commands[i].name);
    fputs(" --help, --version\n", stderr);
    return NULL;
}

static const struct command *command;

static void report_no_memory(void)
{
    progress_end();
    fprintf(stderr, "blame %s: not enough memory; stop other programs, or raise the limit (ulimit -v)\n",
            command->name);
}

int main(int argc, char **argv)
{
    static char help[] = "--help";
    if (argc < 2) {
        print_common_commands(stderr);
        return CLI_BAD_USAGE;
    }
    bool asked = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (asked && (argc == 2 || strcmp(argv[2], "help") == 0))) {
        print_common_commands(stdout);
        return CLI_DONE;
    }
    if (asked && strcmp(argv[2], "all") == 0) {
        print_all_commands();
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("blame " BLAME_VERSION);
        return CLI_DONE;
    }
    if (strcmp(argv[1], OPTIONS_DESCRIBE) == 0)
        return describe_commands();
    command = find_command(argv[asked ? 2 : 1]);
    if (!command)
        return CLI_BAD_USAGE;
    memory_exhausted = report_no_memory;
    if (command->run != cli_run) { /* cli_run() changes these itself, and restores them for the program. */
        signal(SIGXFSZ, SIG_IGN);  /* write() then fails with EFBIG at the limit on file sizes. */
        /* If SIGCHLD is ignored, the kernel discards the exit statuses of children. */
        signal(SIGCHLD, SIG_DFL);
    }
    /* run and finish replace stderr themselves, in patient_stderr(). */
    if (command->run != cli_run && command->run != cli_finish && isatty(STDERR_FILENO))
        clean_stderr();
    /* `blame help COMMAND` means `blame COMMAND --help`. */
    return asked ? command->run(2, (char *[]){argv[2], help, NULL}) : command->run(argc - 1, argv + 1);
}
