#include "cli/export_trial.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/job_files.h"
#include "cli/open_profile.h"
#include "cli/run_set.h"
#include "compare/comparable.h"
#include "export/trial.h"
#include "report/findings/findings.h"
#include "report/profile/identity.h"
#include "report/symbols/producers.h"
#include "report/text/memory.h"

struct exporting {
    const struct trial_request *request;
    FILE *out;
    bool bad; /* a profile could not be read */
};

static void put_recorded_compilers(struct facts *facts, const struct profile *profile, size_t folder_bytes)
{
    char *file = memory_text("%.*s/run.json", (int)folder_bytes, profile->path), id[PROFILE_IDENTITY_BYTES];
    json_t *json = json_load_file(file, 0, NULL), *compilers = json_object_get(json, "compilers");
    const char *whose = json_string_value(json_object_get(json, "id"));
    profile_identity(profile, id);
    for (size_t i = 0; whose && strcmp(whose, id) == 0 && i < json_array_size(compilers); i++)
        if (json_is_string(json_array_get(compilers, i)))
            facts_put(facts, FACT_COMPILER, "compiler", json_string_value(json_array_get(compilers, i)));
    json_decref(json);
    free(file);
}

/* As the program's binary says; where that is gone, as it said when the run ended. */
static void put_compilers(struct facts *facts, const struct profile *profile, struct symbols *symbols)
{
    const char *compiler[SYMBOLS_PRODUCERS], *slash = strrchr(profile->path, '/');
    size_t count = symbols_producers(symbols, profile_program(profile), compiler);
    for (size_t i = 0; i < count; i++)
        facts_put(facts, FACT_COMPILER, "compiler", compiler[i]);
    if (!count && slash)
        put_recorded_compilers(facts, profile, (size_t)(slash - profile->path));
}

static void put_run(struct exporting *exporting, const char *path, const struct opened_profile *opened)
{
    struct facts facts = {0};
    struct locations locations;
    struct job_files ranks = job_find_files(path, opened->profile);
    locations_find(&locations, opened->profile, opened->rows, (const char *const *)ranks.path, (size_t)ranks.count);
    facts_of_profile(&facts, opened->profile);
    put_compilers(&facts, opened->profile, opened->symbols);
    struct lock_table *locks = locks_gather(opened->profile, opened->rows, opened->symbols);
    struct wait_table *waits = waits_gather(opened->profile, opened->rows, locks, opened->symbols);
    struct findings *findings = findings_gather(opened->profile, opened->rows, locks, waits);
    struct trial_run run = {.path = path,
                            .profile = opened->profile,
                            .facts = &facts,
                            .rows = opened->rows,
                            .locations = exporting->request->sums ? NULL : &locations,
                            .findings = findings};
    if (!export_trial(exporting->out, &run)) {
        fprintf(stderr, "blame export: %s; this run is incomplete in what was written\n", locations.refusal);
        exporting->bad = true;
    }
    findings_free(findings);
    waits_free(waits);
    locks_free(locks);
    facts_free(&facts);
    locations_free(&locations);
    job_free_files(&ranks);
}

static bool put_path(void *to, const char *path)
{
    struct exporting *exporting = to;
    struct opened_profile opened;
    if (!open_rows("export", path, &opened)) {
        exporting->bad = true;
        return true;
    }
    put_run(exporting, path, &opened);
    close_profile(&opened);
    return !ferror(exporting->out);
}

static bool put_compared(const struct trial_request *request, FILE *out)
{
    struct run_set set = {.command = "export"};
    bool good = run_set_add_all(&set, request->operand, request->operand_count);
    if (good) {
        const char *const *name = (const char *const *)set.name;
        comparable_complain_but_size(stderr, "export", set.profile, name, set.count);
        comparable_complain_repeats(stderr, "export", set.profile, name, set.count);
        for (size_t i = 0; i < set.count; i++) {
            struct facts facts = {0};
            facts_of_profile(&facts, set.profile[i]);
            export_trial(out, &(struct trial_run){.path = set.name[i], .profile = set.profile[i], .facts = &facts});
            facts_free(&facts);
        }
        bool flat = request->common == VIEW_FLAT;
        struct comparison *comparison = comparison_new(set.profile, name, (const size_t[SIDES]){[SIDE_BASE] = set.count}, NORMALISE_NONE);
        run_set_compare(&set, flat ? NULL : comparison, flat ? comparison : NULL);
        export_trial_compared(out, comparison);
        comparison_free(comparison);
    }
    run_set_free(&set);
    return good;
}

int trial_export(const struct trial_request *request, const char *output)
{
    struct out_file out;
    if (!out_file_create(&out, "export", output))
        return CLI_BAD_INPUT;
    struct exporting exporting = {request, out.stream, false};
    bool good = true;
    if (request->common >= 0)
        exporting.bad = !put_compared(request, out.stream);
    else
        for (int i = 0; good && i < request->operand_count; i++)
            good = run_set_each(request->operand[i], put_path, &exporting);
    int status = out_file_close(&out, good);
    return status == CLI_DONE && exporting.bad ? CLI_BAD_INPUT : status;
}
