/* The options of commands that take profiles, in one table for parsing, for --help and for the messages about
 * wrong usage. */
#ifndef BLAME_CLI_OPTIONS_H
#define BLAME_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* to: bool, set to true; takes no value */
    OPTION_WORD,   /* to: int, the index among words */
    OPTION_NUMBER, /* to: double, low to high */
    OPTION_WHOLE,  /* to: int, low to high */
    OPTION_TEXT,   /* to: const char *, not empty, borrowed from argv */
    OPTION_LIST,   /* to: struct option_list; each value given is kept, as of OPTION_TEXT */
};

struct option_list {
    const char **item; /* room for argc, the caller's */
    size_t count;
};

/* A word that an option takes, and what --help says of it; NULL: --help lists the words alone. */
struct option_word {
    const char *word, *about;
};

extern const struct option_word metric_words[];

struct option_spec {
    const char *name; /* "--view" */
    enum option_kind kind;
    void *to;                 /* untouched unless the option is given; given twice: the last counts */
    const char *value;        /* its value in --help: "VIEW"; NULL for flags */
    const struct option_word *words; /* OPTION_WORD: NULL behind the last */
    double low, high;
    const char *help; /* lines are aligned by --help; "\n" begins the next; words are listed behind it */
};

struct usage {
    const char *command;               /* "report" */
    const char *synopsis;              /* "DIR [options]" */
    const char *about;                 /* paragraphs in front of the options; NULL: none */
    const struct option_spec *options; /* these two: left to options_read() */
    size_t option_count;
    const char *examples; /* lines, indented by two */
    int operands_most;    /* 0: any number; one is always needed */
    const char *operands; /* what is accepted: "is a profile directory or a *.blame file" */
};

enum options_result { OPTIONS_RUN, OPTIONS_HELPED, OPTIONS_WRONG };

/* Reads argv[1...]. Options may stand before and behind operands, as --name VALUE or --name=VALUE, -o for
 * --output, `--` ends them. operand[] has room for argc; after it the number of operands is in
 * *operand_count. OPTIONS_HELPED after --help (printed), OPTIONS_WRONG after a message on stderr. [init] */
enum options_result options_read(const struct usage *usage, const struct option_spec *options,
                                 size_t option_count, int argc, char **argv, const char **operand,
                                 int *operand_count);

#endif
