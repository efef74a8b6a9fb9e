/* `blame db add`. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/db.h"
#include "cli/job_files.h"
#include "cli/open_profile.h"
#include "cli/run_set.h"
#include "report/profile/identity.h"
#include "report/symbols/producers.h"
#include "report/text/format.h"
#include "report/text/memory.h"
#include "trials/add.h"

struct adding {
    const struct db_request *request;
    struct database database;
    struct facts given;
    bool bad; /* a profile could not be read; the others are added */
};

static const char *const words[] = {[TRIAL_NEW] = "added", [TRIAL_THERE] = "there", [TRIAL_RENEWED] = "renewed", [TRIAL_OUTDATED] = "outdated"};
static const char *const said[] = {[TRIAL_NEW] = "added",
                                   [TRIAL_THERE] = "was there already",
                                   [TRIAL_RENEWED] = "was there with less, and is now as it is here",
                                   [TRIAL_OUTDATED] = "is there with more than here, and stays"};

static void tell(const struct adding *adding, const char *path, const struct trial_result *result)
{
    char *clean = format_clean(path, true);
    if (adding->request->csv) {
        printf("%lld,%s,%s,", result->trial, result->run, words[result->added]);
        format_csv_text(stdout, path);
        putchar('\n');
    } else {
        printf("%s: trial %lld %s%s\n", clean, result->trial, said[result->added],
               result->named && (result->added == TRIAL_THERE || result->added == TRIAL_OUTDATED) ? "; what is said of it is now as given" : "");
    }
    if (result->other_program) {
        char *other = format_clean(result->other_program, true);
        fprintf(stderr, "blame db add: %s: application %s has trials of another program, too: %s\n", clean, adding->request->application, other);
        free(other);
    }
    free(clean);
}

/* As its binary says, or as that said when the run ended: it may be another one by now. */
static void put_compilers(struct facts *facts, const struct opened_profile *opened)
{
    const char *compiler[SYMBOLS_PRODUCERS], *slash = strrchr(opened->profile->path, '/');
    size_t count = symbols_producers(opened->symbols, profile_program(opened->profile), compiler);
    for (size_t i = 0; i < count; i++)
        facts_put(facts, FACT_COMPILER, "compiler", compiler[i]);
    if (count || !slash)
        return;
    char *file = memory_text("%.*s/run.json", (int)(slash - opened->profile->path), opened->profile->path), id[PROFILE_IDENTITY_BYTES];
    json_t *json = json_load_file(file, 0, NULL), *compilers = json_object_get(json, "compilers");
    const char *whose = json_string_value(json_object_get(json, "id"));
    profile_identity(opened->profile, id);
    for (size_t i = 0; whose && strcmp(whose, id) == 0 && i < json_array_size(compilers); i++)
        if (json_is_string(json_array_get(compilers, i)))
            facts_put(facts, FACT_COMPILER, "compiler", json_string_value(json_array_get(compilers, i)));
    json_decref(json);
    free(file);
}

static bool add_opened(struct adding *adding, const char *path, const struct opened_profile *opened)
{
    const struct db_request *request = adding->request;
    struct facts facts = {0};
    struct locations locations;
    struct trial_result result;
    struct job_files ranks = job_find_files(path, opened->profile);
    locations_find(&locations, opened->profile, opened->rows, (const char *const *)ranks.path, (size_t)ranks.count);
    facts_of_profile(&facts, opened->profile);
    put_compilers(&facts, opened);
    char *real = realpath(path, NULL);
    struct trial_input input = {.source = real ? real : path,
                                .profile = opened->profile,
                                .rows = opened->rows,
                                .locations = request->sums ? NULL : &locations,
                                .application = request->application,
                                .experiment = request->experiment,
                                .facts = &facts,
                                .given = &adding->given};
    bool good = trial_add(&adding->database, &input, &result);
    if (good)
        tell(adding, path, &result);
    else
        fprintf(stderr, "blame db add: %s\n", adding->database.why);
    if (good)
        free(result.other_program);
    free(real);
    facts_free(&facts);
    locations_free(&locations);
    job_free_files(&ranks);
    return good;
}

/* One that cannot be read does not keep the others out. */
static bool add_path(void *to, const char *path)
{
    struct adding *adding = to;
    struct opened_profile opened;
    if (!open_rows("db add", path, &opened)) {
        adding->bad = true;
        return true;
    }
    bool good = add_opened(adding, path, &opened);
    close_profile(&opened);
    return good;
}

static void take_meta(struct facts *facts, const struct option_list *meta)
{
    for (size_t i = 0; i < meta->count; i++)
        facts_put_lines(facts, FACT_USER, meta->item[i], "");
}

int db_add(const struct db_request *request)
{
    struct adding adding = {.request = request};
    if (!database_open(&adding.database, request->path, DATABASE_WRITE, request->wait_s)) {
        fprintf(stderr, "blame db add: %s\n", adding.database.why);
        return CLI_BAD_INPUT;
    }
    take_meta(&adding.given, &request->meta);
    bool good = true;
    if (request->csv)
        puts("trial,run,status,profile");
    for (int i = 0; good && i < request->operand_count; i++)
        good = run_set_each(request->operand[i], add_path, &adding);
    facts_free(&adding.given);
    database_close(&adding.database);
    return good && !adding.bad ? CLI_DONE : CLI_BAD_INPUT;
}
