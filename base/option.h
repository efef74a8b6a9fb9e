/* An option of a command, or a variable of the tool's: what is accepted, in one form for reading it, for --help and for the
 * message about a wrong value. */
#ifndef BLAME_BASE_OPTION_H
#define BLAME_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* to: bool, set to true; takes no value */
    OPTION_WORD,   /* to: int, the index among words */
    OPTION_NAME,   /* to: struct option_name: one of words, or any other text */
    OPTION_NUMBER, /* to: double, low to high */
    OPTION_WHOLE,  /* to: int, low to high */
    OPTION_TEXT,   /* to: const char *, not empty, borrowed */
    OPTION_LIST,   /* to: struct option_list; each value given is kept, as of OPTION_TEXT */
    OPTION_FORM,   /* to: struct option_form */
};

struct option_list {
    const char **item; /* room for argc, the caller's */
    size_t count;
};

struct option_name {
    int word;          /* the index among words; -1: none of them */
    const char *other; /* instead of it, borrowed */
};

/* A word that an option takes, and what --help says of it; NULL: --help lists the words alone. */
struct option_word {
    const char *word, *about;
};

struct option_form {
    bool (*read)(const char *text, void *to);
    const char *accepted;
    void *to;
};

struct option_spec {
    const char *name; /* "--view" */
    enum option_kind kind;
    void *to;                        /* untouched unless the option is given; given twice: the last counts */
    const char *value;               /* its value in --help: "VIEW"; NULL for flags */
    const struct option_word *words; /* OPTION_WORD, OPTION_NAME: NULL behind the last */
    double low, high;
    const char *help; /* lines are aligned by --help; "\n" begins the next; words are listed behind it */
};

/* Reads a value; false, and nothing else, when it is not accepted. [init] */
bool option_read(const struct option_spec *option, const char *text);

/* "a whole number from 1 to 10000", "a DIR that is not empty"; words with `between` between them. [init] */
void option_accepted(const struct option_spec *option, const char *between, char *text, size_t bytes);

#endif
