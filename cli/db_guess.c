/* `blame tune`: what searches of before say of a new one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tune.h"
#include "learn/guess.h"
#include "report/text/memory.h"

#define WAIT_S 60

static void say(struct learn_facts *facts, const char *name, const char *text)
{
    char *end;
    double number = strtod(text, &end);
    facts_say(facts, name, text, end == text || *end ? NAN : number);
}

/* All that is known of it, by the names of docs/learning.md. */
static void say_all(struct learn_facts *facts, const struct tuning *tuning, const struct profile *profile, const struct tune_causes *causes)
{
    static const char *const share[] = {"share.work", "share.idleness", "share.overhead", "share.lock_wait"}; /* the first of tune_cause */
    double all = 0;
    for (size_t i = 0; i < tuning->request->input.count; i++) {
        const char *item = tuning->request->input.item[i], *value = strchr(item, '=');
        char *name = memory_text("input.%.*s", (int)(value - item), item);
        say(facts, name, value + 1);
        free(name);
    }
    facts_say(facts, "machine.cores", "", profile->header.cores);
    facts_say(facts, "machine.threads", "", profile->header.threads_max);
    facts_say(facts, "machine.cpu_model", profile_text(profile, "cpu_model"), NAN);
    for (size_t i = 0; i < sizeof share / sizeof *share; i++)
        all += causes->seconds[i];
    for (size_t i = 0; all > 0 && i < sizeof share / sizeof *share; i++)
        facts_say(facts, share[i], "", causes->seconds[i] / all);
}

static void take(struct tuning *tuning, const struct guess *guess)
{
    for (size_t i = 0; i < tuning->space.count; i++) {
        const struct space_dimension *of = &tuning->space.dimension[i];
        for (size_t v = 1; strcmp(of->name, guess->dimension) == 0 && v < of->values; v++)
            if (strcmp(of->value[v], guess->value) == 0)
                tuning->guess[i] = v;
        tuning->guessed |= tuning->guess[i] != 0;
    }
}

void tune_guess(struct tuning *tuning, const struct profile *profile, const struct tune_causes *causes)
{
    struct database database;
    struct learn_facts facts = {0};
    struct first_guess first;
    if (!database_open(&database, tuning->request->database, DATABASE_READ, WAIT_S))
        return; /* there is none yet; what else is wrong with it, the first trial says */
    const char *application = tuning->request->application ? tuning->request->application : profile->header.program;
    say_all(&facts, tuning, profile, causes);
    if (guess_first(&first, &database, application, &facts, MODEL_EARLY)) {
        for (size_t i = 0; i < first.count; i++)
            take(tuning, &first.guess[i]);
        guess_end(&first);
    }
    facts_end(&facts);
    database_close(&database);
}
