/* The setting that a search of a new program, or of a new input, may try first. */
#ifndef BLAME_LEARN_GUESS_H
#define BLAME_LEARN_GUESS_H

#include "learn/model.h"
#include "trials/database.h"

struct first_guess {
    struct learn_cases cases;
    struct model *model; /* NULL: there is nothing to be guessed by: what is known does no better than always the default */
    struct guess *guess; /* count of them: a value of each dimension of any search, LEARN_DEFAULT also */
    size_t count;
    bool of_application; /* learned from searches of the same application; otherwise from those of all */
};

/* facts: what is known of it, named as in learn/cases.h; use: MODEL_EARLY once the default has a profile. False: why, in the database; then and
 * otherwise guess_end() is allowed. */
bool guess_first(struct first_guess *first, struct database *database, const char *application, const struct learn_facts *facts, enum model_use use);
void guess_end(struct first_guess *first);

#endif
