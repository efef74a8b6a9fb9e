/* An option of a command, or an environment variable of the tool. One table is used for parsing, for --help
 * and for messages about wrong values. */
#ifndef BLAME_BASE_OPTION_H
#define BLAME_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* to: bool, set to true; the option takes no value */
    OPTION_WORD,   /* to: int, an index into `words` */
    OPTION_NAME,   /* to: struct option_name, one of `words` or any other text */
    OPTION_NUMBER, /* to: double, from `low` to `high` */
    OPTION_WHOLE,  /* to: int, from `low` to `high` */
    OPTION_TEXT,   /* to: const char *, not empty; not copied */
    OPTION_LIST,   /* to: struct option_list, to which each use of the option adds a text */
    OPTION_FORM,   /* to: struct option_form, which has a function that reads the value */
};

struct option_list {
    const char **item; /* array of the caller, with room for argc texts */
    size_t count;
};

struct option_name {
    int word;          /* index into `words`; -1 for any other text */
    const char *other; /* the other text, not copied; NULL for one of `words` */
};

/* A word that an option accepts, and its explanation in --help (NULL: none). */
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
    /* where the value is stored; unchanged if the option is not given; the last use counts */
    void *to;
    const char *value;               /* name of the value in --help, such as "VIEW"; NULL for flags */
    const struct option_word *words; /* for OPTION_WORD and OPTION_NAME; the last one has a NULL word */
    double low, high;                /* limits for OPTION_NUMBER and OPTION_WHOLE */
    /* text for --help, which breaks it into lines and lists `words` below it */
    const char *help;
};

/* Reads a value into option->to. Returns false and changes nothing if the value is not accepted. [init] */
bool option_read(const struct option_spec *option, const char *text);

/* Describes the accepted values: "a whole number from 1 to 10000", or the option's words, separated by
 * `between`. [init] */
void option_accepted(const struct option_spec *option, const char *between, char *text, size_t bytes);

/* Returns the number of letters that must be changed, added or removed to turn `name` into `known`, which has
 * at most OPTION_NAME_BYTES letters. [init] */
size_t option_distance(const char *name, const char *known);

#define OPTION_NAME_BYTES  32
#define OPTION_NEAR_ENOUGH 2 /* largest distance at which a name counts as mistyped, in letters */

#endif
