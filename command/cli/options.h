/* The options and operands of a command. One table serves the parser, --help, and messages about wrong usage. */
#ifndef BLAME_COMMAND_CLI_OPTIONS_H
#define BLAME_COMMAND_CLI_OPTIONS_H

#include "base/option.h"

extern const struct option_word metric_words[];

/* The options that a command accepts. */
struct option_table {
    const struct option_spec *option;
    size_t count;
};

/* Makes a struct option_table from an array. */
#define OPTION_TABLE(array) ((struct option_table){array, sizeof(array) / sizeof *(array)})

struct usage {
    const char *command;         /* the command's name, such as "report" */
    const char *synopsis;        /* its arguments as --help shows them, such as "[DIR] [options]" */
    const char *about;           /* introduction of --help; NULL: none */
    struct option_table options; /* set by options_read() */
    const char *examples;        /* lines of --help, each indented by two spaces */
    int operands_most;           /* greatest number of operands; 0: no limit */
    bool operands_none;          /* whether the command may be run without operands */
    bool operands_newest;        /* whether the newest profile in the current directory is the default operand */
    const char *operand;         /* word for an operand in messages; NULL: "profile" */
    /* text after "expected" in messages, such as "a profile directory or a *.blame file" */
    const char *operands;
    /* whether the first operand is a program and all later arguments are its own */
    bool is_program;
    /* Options that may be given without a value, each with the value that it then has; NULL: none. An
     * argument that follows such an option is its value only if it begins with a digit. */
    const struct option_word *alone;
    /* Headings in --help, each with the name of the first option below it; NULL: none. */
    const struct option_word *groups;
    /* Name of the environment variable that each option sets, in the order of the options; NULL for an option
     * that sets none. The array itself is NULL if no option sets one. */
    const char *const *variables;
    /* Name of the environment variable to which each value is appended as a line, instead of replacing it;
     * NULL: none. */
    const char *lines;
};

/* Option that prints the help in the form from which the build makes manual pages and completions. */
#define OPTIONS_DESCRIBE "--describe"

enum options_result { OPTIONS_RUN, OPTIONS_HELPED, OPTIONS_WRONG };

/* Reads argv[1...]. Options may precede or follow operands, and are written --name VALUE or --name=VALUE. -o,
 * --out and --output mean the same, -j means --jobs, and `--` ends the options. Fills operand[], which must
 * have room for argc entries, and *operand_count. Returns OPTIONS_HELPED after printing help, OPTIONS_WRONG
 * after a message on stderr. */
enum options_result options_read(const struct usage *usage, struct option_table options, int argc, char **argv,
                                 const char **operand, int *operand_count);

/* Search for the known name that is nearest to a mistyped one. */
struct option_suggestion {
    const char *typed;
    const char *name; /* nearest known name so far; NULL: none is near enough */
    size_t letters;   /* its distance */
};

/* Compares a known name with the typed one, and keeps it if it is nearer than the nearest so far. */
void options_suggest(struct option_suggestion *suggestion, const char *name);
/* Prints " did you mean NAME?" on stderr, or nothing if no name is near enough. */
void options_print_suggestion(const struct option_suggestion *suggestion);

#endif
