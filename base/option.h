/* An option of a command, or an environment variable of the tool. One table serves the parser, --help and the messages about
 * wrong values. */
#ifndef BLAME_BASE_OPTION_H
#define BLAME_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* to: bool, set to true; takes no value */
    OPTION_WORD,   /* to: int, the index among words */
    OPTION_NAME,   /* to: struct option_name, one of words or any other text */
    OPTION_NUMBER, /* to: double, low to high */
    OPTION_WHOLE,  /* to: int, low to high */
    OPTION_TEXT,   /* to: const char *, not empty, borrowed */
    OPTION_LIST,   /* to: struct option_list of texts, one for each time the option is given */
    OPTION_FORM,   /* to: struct option_form */
};

struct option_list {
    const char **item; /* the caller's array with room for argc texts */
    size_t count;
};

struct option_name {
    int word;          /* index among words, -1 for any other text */
    const char *other; /* that other text, borrowed; NULL for one of words */
};

/* A word that an option takes, and its explanation in --help (NULL: none). */
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
    void *to;                        /* unchanged unless the option is given; the last value counts */
    const char *value;               /* the value's name in --help, as "VIEW"; NULL for flags */
    const struct option_word *words; /* of OPTION_WORD and OPTION_NAME, ended by a NULL word */
    double low, high;                /* range of OPTION_NUMBER and OPTION_WHOLE */
    const char *help;                /* text for --help, which wraps it and lists the words after it */
};

/* Reads a value into option->to; returns false and changes nothing if the value is wrong. [init] */
bool option_read(const struct option_spec *option, const char *text);

/* Writes "a whole number from 1 to 10000", or an option's words with `between` between them. [init] */
void option_accepted(const struct option_spec *option, const char *between, char *text, size_t bytes);

/* Returns how many letters of a name must be changed, added or removed to get `known`, a name of at most OPTION_NAME_BYTES. [init] */
size_t option_distance(const char *name, const char *known);

#define OPTION_NAME_BYTES  32
#define OPTION_NEAR_ENOUGH 2 /* letters: a larger distance is not a slip */

#endif
