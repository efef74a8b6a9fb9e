/* An option of a command, or an environment variable of the tool. One table of options serves for parsing,
 * for --help, and for messages about wrong values. */
#ifndef BLAME_BASE_OPTION_H
#define BLAME_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* `to` is a bool, which is set to true; the option takes no value */
    OPTION_WORD,   /* `to` is an int, an index into `words` */
    OPTION_NAME,   /* `to` is a struct option_name: one of `words`, or any other text */
    OPTION_NUMBER, /* `to` is a double between `low` and `high` */
    OPTION_WHOLE,  /* `to` is an int between `low` and `high` */
    OPTION_TEXT,   /* `to` is a const char *: a text that is not empty and is not copied */
    OPTION_LIST,   /* `to` is a struct option_list, to which each use of the option adds a text */
    OPTION_FORM,   /* `to` is a struct option_form, whose function reads the value */
};

struct option_list {
    const char **item; /* the caller's array, with room for argc texts */
    size_t count;
};

struct option_name {
    int word;          /* index into `words`; -1 for any other text */
    const char *other; /* the other text, not copied; NULL for one of `words` */
};

/* A word that an option accepts, and the word's explanation in --help (NULL: none). */
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
    /* where the value is stored: unchanged if the option is not given; if it is given several times, the last
     * value */
    void *to;
    const char *value; /* name of the value in --help, such as "VIEW"; NULL for flags */
    /* for OPTION_WORD and OPTION_NAME: the accepted words, ended by one that is NULL */
    const struct option_word *words;
    /* smallest and largest accepted value of OPTION_NUMBER and OPTION_WHOLE */
    double low, high;
    /* text for --help, which is broken into lines there and followed by a list of `words` */
    const char *help;
};

/* Reads a value into option->to. Returns false and changes nothing if the value is not accepted. [init] */
bool option_read(const struct option_spec *option, const char *text);

/* Writes a description of the accepted values to `text`: "a whole number from 1 to 10000", or the option's
 * words, separated by `between`. [init] */
void option_accepted(const struct option_spec *option, const char *between, char *text, size_t bytes);

/* Returns the number of letters that must be changed, added or removed to turn `name` into `known`. `known`
 * must have at most OPTION_NAME_BYTES letters. [init] */
size_t option_distance(const char *name, const char *known);

#define OPTION_NAME_BYTES 32
/* largest distance, in letters, at which a name is taken for a misspelling of another */
#define OPTION_NEAR_ENOUGH 2

#endif
