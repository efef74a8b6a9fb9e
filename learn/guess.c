#include "learn/guess.h"

#include <stdlib.h>

#include "learn/read.h"
#include "report/text/memory.h"

void guess_end(struct first_guess *first)
{
    if (first->model)
        model_free(first->model);
    free(first->guess);
    cases_free(&first->cases);
    *first = (struct first_guess){0};
}

/* What it says of itself first; what other applications say where that is not enough. */
bool guess_first(struct first_guess *first, struct database *database, const char *application, const struct learn_facts *facts, enum model_use use)
{
    *first = (struct first_guess){0};
    for (int own = 1; own >= 0 && !first->model; own--) {
        if (!learn_read(&first->cases, database, own ? application : NULL))
            return false;
        first->of_application = own;
        first->model = model_learn(&first->cases, use);
        if (!first->model->error.better)
            guess_end(first);
    }
    if (!first->model)
        return true;
    first->count = first->cases.dimensions;
    first->guess = memory_array(first->count + 1, sizeof *first->guess);
    model_guess(first->model, facts, first->guess);
    return true;
}
