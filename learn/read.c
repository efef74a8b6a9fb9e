#include "learn/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"
#include "trials/facts.h"
#include "trials/select.h"

enum { TRIAL, APPLICATION, HOST, CORES, CPU_MODEL, THREADS, WORK, IDLENESS, OVERHEAD, LOCK_WAIT, KIND, NAME, VALUE, TYPE };

/* A trial of a search, with a row for each thing known of it. */
static const char question[] =
    "SELECT run.id, application, host, cores, cpu_model, threads, work, idleness, overhead, lock_wait, kind, metadata.name, value, typeof(value)"
    " FROM run JOIN metadata ON metadata.trial = run.id WHERE run.id IN (SELECT trial FROM metadata WHERE name = 'tune')"
    " AND (metadata.name GLOB 'tune*' OR kind IN ('user', 'parameter') OR metadata.name GLOB 'input.*') ORDER BY run.id, metadata.name, kind";
static const char which_dimensions[] = "SELECT DISTINCT name FROM metadata WHERE name GLOB 'tune.*' ORDER BY name";

#define SHARES 4

struct trial_read {
    int64_t id; /* 0: there is none yet */
    char *application, *host, *cpu_model, *search;
    double cores, threads, share[SHARES];
    struct learn_facts facts;
    int *value;
    double seconds;
    bool profiled, usual; /* usual: each dimension has its default */
};

/* What a search says of its tries besides their setting. */
static bool is_dimension(const char *name)
{
    return strncmp(name, "tune.", 5) == 0 && strcmp(name, TUNE_SECONDS) != 0 && strcmp(name, TUNE_PROFILED) != 0;
}

static const char *text_of(const struct selection *row, int column)
{
    const char *text = selection_value(row, column);
    return text ? text : "";
}

static bool is_number(const struct selection *row)
{
    return strcmp(text_of(row, TYPE), "integer") == 0 || strcmp(text_of(row, TYPE), "real") == 0;
}

static void say_number(struct learn_facts *facts, const char *name, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", number);
    facts_say(facts, name, text, number);
}

/* What the trial itself says: of the machine, and of one in its default state, with its threads and, profiled, where its time went. */
static void say_columns(struct trial_read *trial)
{
    static const char *const shares[] = {"share.work", "share.idleness", "share.overhead", "share.lock_wait"};
    double all = 0;
    if (trial->cores > 0)
        say_number(&trial->facts, "machine.cores", trial->cores);
    if (*trial->cpu_model)
        facts_say(&trial->facts, "machine.cpu_model", trial->cpu_model, NAN);
    if (trial->usual && trial->threads > 0)
        say_number(&trial->facts, "machine.threads", trial->threads);
    for (size_t i = 0; i < SHARES; i++)
        all += trial->share[i];
    for (size_t i = 0; trial->usual && trial->profiled && all > 0 && i < SHARES; i++)
        facts_say(&trial->facts, shares[i], "", trial->share[i] / all);
}

static void begin_trial(struct trial_read *trial, const struct selection *row)
{
    trial->id = selection_integer(row, TRIAL);
    trial->application = memory_text("%s", text_of(row, APPLICATION));
    trial->host = memory_text("%s", text_of(row, HOST));
    trial->cpu_model = memory_text("%s", text_of(row, CPU_MODEL));
    trial->cores = selection_number(row, CORES);
    trial->threads = selection_number(row, THREADS);
    for (int i = 0; i < SHARES; i++)
        trial->share[i] = selection_number(row, WORK + i);
}

static void read_row(struct learn_cases *cases, struct trial_read *trial, const struct selection *row)
{
    const char *name = text_of(row, NAME), *value = text_of(row, VALUE);
    double number = is_number(row) ? selection_number(row, VALUE) : NAN;
    if (is_dimension(name)) {
        size_t dimension = cases_dimension(cases, name + 5);
        trial->value[dimension] = words_put(&cases->dimension[dimension].values, value);
        trial->usual &= trial->value[dimension] == 0;
    } else if (strcmp(name, TUNE_SEARCH) == 0) {
        free(trial->search);
        trial->search = memory_text("%s", value);
    } else if (strcmp(name, TUNE_SECONDS) == 0)
        trial->seconds = number;
    else if (strcmp(name, TUNE_PROFILED) == 0)
        trial->profiled = number > 0;
    else if (strncmp(name, TUNE_INPUT, strlen(TUNE_INPUT)) == 0)
        facts_say(&trial->facts, name, value, number);
    else if (*name) { /* of the user or a parameter: the question asks for no other */
        bool theirs = strcmp(text_of(row, KIND), FACT_USER) == 0;
        char *full = memory_text("%s%s", theirs ? TUNE_INPUT : "parameter.", name);
        facts_say(&trial->facts, full, value, number);
        free(full);
    }
}

/* Which case: a search of an application, on a machine, with one input. */
static char *key_of(const struct trial_read *trial)
{
    char *text;
    FILE *out = memory_stream(&text);
    fprintf(out, "%s\n%s\n%s", trial->application, trial->search, trial->host);
    for (size_t i = 0; i < trial->facts.count; i++)
        if (strncmp(trial->facts.item[i].name, TUNE_INPUT, strlen(TUNE_INPUT)) == 0)
            fprintf(out, "\n%s=%s", trial->facts.item[i].name, trial->facts.item[i].text);
    memory_stream_close(out);
    return text;
}

static void end_trial(struct learn_cases *cases, struct trial_read *trial, const char *application)
{
    bool wanted = trial->id && trial->search && (!application || strcmp(application, trial->application) == 0);
    if (wanted && isfinite(trial->seconds) && trial->seconds > 0) {
        char *key = key_of(trial);
        say_columns(trial);
        struct learn_case *of = cases_put(cases, key, trial->application);
        for (size_t i = 0; i < trial->facts.count; i++)
            if (!trial->facts.item[i].doubtful)
                facts_say(&of->facts, trial->facts.item[i].name, trial->facts.item[i].text, trial->facts.item[i].number);
        case_add_run(of, trial->value, cases->dimensions, trial->seconds, trial->profiled);
        free(key);
    }
    free(trial->application);
    free(trial->host);
    free(trial->cpu_model);
    free(trial->search);
    facts_end(&trial->facts);
    memset(trial->value, 0, cases->dimensions * sizeof *trial->value);
    *trial = (struct trial_read){.value = trial->value, .seconds = NAN, .usual = true};
}

static bool read_dimensions(struct learn_cases *cases, struct database *database)
{
    struct selection selection;
    enum selected next;
    if (!select_text(&selection, database, which_dimensions, NULL, 0))
        return false;
    while ((next = selection_next(&selection)) == SELECTED_ROW)
        if (is_dimension(text_of(&selection, 0)))
            cases_dimension(cases, text_of(&selection, 0) + 5);
    selection_close(&selection);
    return next == SELECTED_END;
}

static bool read_trials(struct learn_cases *cases, struct database *database, const char *application)
{
    struct selection row;
    enum selected next;
    struct trial_read trial = {.value = memory_array(cases->dimensions + 1, sizeof *trial.value), .seconds = NAN, .usual = true};
    bool good = select_text(&row, database, question, NULL, 0);
    while (good && (next = selection_next(&row)) != SELECTED_END) {
        good = next == SELECTED_ROW;
        if (good && trial.id != selection_integer(&row, TRIAL)) {
            end_trial(cases, &trial, application);
            begin_trial(&trial, &row);
        }
        if (good)
            read_row(cases, &trial, &row);
    }
    end_trial(cases, &trial, application);
    free(trial.value);
    selection_close(&row);
    return good;
}

bool learn_read(struct learn_cases *cases, struct database *database, const char *application)
{
    *cases = (struct learn_cases){0};
    if (read_dimensions(cases, database) && read_trials(cases, database, application)) {
        cases_judge(cases);
        return true;
    }
    cases_free(cases);
    return false;
}
