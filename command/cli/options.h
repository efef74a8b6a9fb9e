/* A command's options and operands, in one table for parsing, for --help and for the messages about wrong usage. */
#ifndef BLAME_COMMAND_CLI_OPTIONS_H
#define BLAME_COMMAND_CLI_OPTIONS_H

#include "base/option.h"

extern const struct option_word metric_words[];

struct usage {
    const char *command;               /* "report" */
    const char *synopsis;              /* "DIR [options]" */
    const char *about;                 /* paragraphs in front of the options; NULL: none */
    const struct option_spec *options; /* these two: left to options_read() */
    size_t option_count;
    const char *examples; /* lines, indented by two */
    int operands_most;    /* 0: any number */
    bool operands_none;   /* there may be none; otherwise one is needed */
    const char *operand;  /* one of them in messages; NULL: "profile" */
    const char *operands; /* what is accepted: "is a profile directory or a *.blame file" */
    bool is_program;      /* the first operand is a program, and all behind it is the program's */
    const struct option_word *
        alone; /* options that may have no value, each with the value that is meant then: what follows is its value if it
                                        begins with a digit; NULL: each has one */
    const char *const
        *variables;    /* of the environment, by option: set to the value given, unless NULL; NULL: none are */
    const char *lines; /* the one of them to which the value is added, in a line of its own; NULL: none is */
};

/* Prints what --help says in the form of which the build makes manual pages and completions. */
#define OPTIONS_DESCRIBE "--describe"

enum options_result { OPTIONS_RUN, OPTIONS_HELPED, OPTIONS_WRONG };

/* Reads argv[1...]. Options may stand before and behind operands, as --name VALUE or --name=VALUE, -o for
 * --output, -j for --jobs, `--` ends them. operand[] has room for argc; after it the number of operands is in
 * *operand_count. OPTIONS_HELPED after --help or --describe (printed), OPTIONS_WRONG after a message on stderr. */
enum options_result options_read(const struct usage *usage, const struct option_spec *options, size_t option_count,
                                 int argc, char **argv, const char **operand, int *operand_count);

#endif
