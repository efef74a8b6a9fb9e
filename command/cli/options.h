/* The options and operands of a command: one table for the parser, for --help and for messages about wrong usage. */
#ifndef BLAME_COMMAND_CLI_OPTIONS_H
#define BLAME_COMMAND_CLI_OPTIONS_H

#include "base/option.h"

extern const struct option_word metric_words[];

/* The options that a command accepts. */
struct option_table {
    const struct option_spec *option;
    size_t count;
};

/* Makes an option table from an array. */
#define OPTION_TABLE(array) ((struct option_table){array, sizeof(array) / sizeof *(array)})

struct usage {
    const char *command;         /* its name, as "report" */
    const char *synopsis;        /* its arguments in --help, as "[DIR] [options]" */
    const char *about;           /* paragraphs above the options; NULL: none */
    struct option_table options; /* filled in by options_read() */
    const char *examples;        /* lines, indented by two spaces */
    int operands_most;           /* the most operands; 0: any number */
    bool operands_none;          /* whether a command without operands is accepted */
    bool operands_newest;        /* whether the newest profile here is taken if none is given */
    const char *operand;         /* what messages call an operand; NULL: "profile" */
    const char *operands;        /* what messages expect: "a profile directory or a *.blame file" */
    bool is_program;             /* whether the first operand is a program, and the rest its arguments */
    /* Options whose value may be missing, each with its value in that case; NULL: none. The next argument is the value if
     * it begins with a digit. */
    const struct option_word *alone;
    /* Headings in --help, each with the name of the first option below it; NULL: none. */
    const struct option_word *groups;
    /* Environment variables that the options set, in the options' order, NULL for options that set none; NULL: none do. */
    const char *const *variables;
    /* The one of these variables to which each value is added as a line; NULL: none. */
    const char *lines;
};

/* The option that prints --help in the form from which the build makes manual pages and completions. */
#define OPTIONS_DESCRIBE "--describe"

enum options_result { OPTIONS_RUN, OPTIONS_HELPED, OPTIONS_WRONG };

/* Reads argv[1...]. Options may stand before and after operands, as --name VALUE or --name=VALUE. -o, --out and --output
 * mean the same, -j is --jobs, and `--` ends the options. Fills operand[], which has room for argc, and *operand_count.
 * Returns OPTIONS_HELPED after it printed help, OPTIONS_WRONG after a message on stderr. */
enum options_result options_read(const struct usage *usage, struct option_table options, int argc, char **argv,
                                 const char **operand, int *operand_count);

/* A search for the name that a user meant. */
struct option_suggestion {
    const char *typed;
    const char *name; /* the nearest known name; NULL: none is near */
    size_t letters;   /* its distance */
};

/* Takes a known name into account. */
void options_suggest(struct option_suggestion *suggestion, const char *name);
/* Prints " did you mean NAME?" on stderr, or nothing. */
void options_print_suggestion(const struct option_suggestion *suggestion);

#endif
