#include "trials/add.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/profile/identity.h"
#include "report/rows/metric.h"
#include "report/tables/conservation.h"
#include "report/tables/ranks.h"
#include "report/text/memory.h"
#include "trials/metrics.h"
#include "trials/statement.h"

/* The number of the row of that name, which is made if it is not there. 0: why. */
static int64_t number_of(struct database *database, const char *insert, const char *find, int64_t above, const char *name)
{
    int64_t number = 0;
    const char *const texts[] = {insert, find};
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *statement = statement_new(database, texts[i]);
        bool good = statement;
        if (statement) {
            statement_name(statement, 1, name);
            if (above)
                sqlite3_bind_int64(statement, 2, above);
            good = i ? statement_number(database, statement, 0, &number) : statement_do(database, statement);
        }
        sqlite3_finalize(statement);
        if (!good)
            return 0;
    }
    return number;
}

static const char *application_of(const struct trial_input *input)
{
    const struct profile *profile = input->profile;
    return input->application ? input->application : *profile->header.program ? profile->header.program : "unknown";
}

static int64_t experiment_of(struct database *database, const struct trial_input *input)
{
    int64_t application = number_of(database, "INSERT OR IGNORE INTO application(name) VALUES (?)", "SELECT id FROM application WHERE name = ?", 0,
                                    application_of(input));
    return application ? number_of(database, "INSERT OR IGNORE INTO experiment(name, application) VALUES (?, ?)",
                                   "SELECT id FROM experiment WHERE name = ? AND application = ?", application,
                                   input->experiment ? input->experiment : "default")
                       : 0;
}

static void format_time(char text[32], int64_t realtime_ns)
{
    time_t when = (time_t)(realtime_ns / 1000000000);
    struct tm utc;
    *text = '\0';
    if (realtime_ns > 0 && gmtime_r(&when, &utc))
        strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* The texts of a trial; the rest are numbers. */
static void bind_texts(sqlite3_stmt *insert, const struct trial_input *input, const char *run, char times[2][32])
{
    const struct profile *profile = input->profile;
    const struct profile_header *header = &profile->header;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    format_time(times[0], (int64_t)now.tv_sec * 1000000000);
    format_time(times[1], header->start_realtime_ns);
    const char *const texts[] = {run,
                                 NULL, /* source */
                                 times[0],
                                 times[1],
                                 header->finished ? "normally" : header->snapshot ? "not yet" : "killed",
                                 *header->program ? header->program : NULL,
                                 profile_text(profile, "command"),
                                 header->merged ? profile->rank_count ? profile->ranks[0].host : NULL : profile_text(profile, "host"),
                                 profile_text(profile, "cpu_model"),
                                 profile_text(profile, "binding"),
                                 header->clock ? "cpu" : "wall",
                                 header->environment ? "shared" : "dedicated",
                                 input->rows->events ? profile_text(profile, "sample") : "s",
                                 profile_text(profile, "runtime"),
                                 profile_text(profile, "version")};
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        statement_text(insert, i + 1, texts[i]);
    statement_path(insert, 2, input->source);
}

static sqlite3_stmt *new_insert(struct database *database)
{
    char *text, name[32];
    FILE *out = memory_stream(&text);
    fputs("INSERT INTO trial(run, source, added, started, ended, program, command, host, cpu_model, binding, clock, environment, unit, runtime,"
          " blame, id, experiment, state, cores, threads, ranks, nodes, rate, wall_s",
          out);
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        metrics_column((enum metric)i, name);
        fprintf(out, ", %s", name);
    }
    fputs(") VALUES (?", out);
    for (int i = 1; i < 24 + METRIC_COLUMNS; i++)
        fputs(",?", out);
    fputs(")", out);
    memory_stream_close(out);
    sqlite3_stmt *insert = statement_new(database, text);
    free(text);
    return insert;
}

/* id: 0 for a new one. */
static bool write_trial(struct database *database, const struct trial_input *input, const char *run, const char *state, int64_t experiment, int64_t id)
{
    const struct profile_header *header = &input->profile->header;
    sqlite3_stmt *insert = new_insert(database);
    char times[2][32];
    if (!insert)
        return false;
    bind_texts(insert, input, run, times);
    if (id)
        sqlite3_bind_int64(insert, 16, id);
    const int64_t numbers[] = {header->cores, header->threads_max, header->merged ? header->merged : 1,
                               header->merged ? (int64_t)ranks_nodes(input->profile) : 1, header->rate};
    sqlite3_bind_int64(insert, 17, experiment);
    statement_text(insert, 18, state);
    for (int i = 0; i < 5; i++)
        sqlite3_bind_int64(insert, 19 + i, numbers[i]);
    statement_real(insert, 24, profile_wall_s(input->profile));
    for (int i = 0; i < METRIC_COLUMNS; i++)
        statement_real(insert, 25 + i, metric_value(input->rows, input->rows->row[0].inclusive, (enum metric)i));
    bool good = statement_do(database, insert);
    sqlite3_finalize(insert);
    return good;
}

/* What the user has said of a trial since stays, unless it is replaced. */
static bool write_facts(struct database *database, int64_t trial, const struct facts *facts, bool replace)
{
    sqlite3_stmt *remove = statement_new(database, "DELETE FROM metadata WHERE trial = ? AND kind = ? AND name = ?");
    sqlite3_stmt *insert = statement_new(database, "INSERT OR IGNORE INTO metadata(trial, kind, name, value) SELECT ?1, ?2, ?3, ?4 WHERE ?2 <> 'user'"
                                                   " OR NOT EXISTS (SELECT 1 FROM metadata WHERE trial = ?1 AND kind = ?2 AND name = ?3)");
    bool good = remove && insert;
    for (size_t i = 0; good && i < facts->count; i++) {
        const struct fact *fact = &facts->fact[i];
        sqlite3_stmt *const both[] = {remove, insert};
        for (int j = 0; j < 2; j++) {
            sqlite3_bind_int64(both[j], 1, trial);
            sqlite3_bind_text(both[j], 2, fact->kind, -1, SQLITE_STATIC);
            sqlite3_bind_text(both[j], 3, fact->name, -1, SQLITE_STATIC);
        }
        if (!fact_is_number(fact))
            sqlite3_bind_text(insert, 4, fact->value, -1, SQLITE_STATIC);
        else if (strchr(fact->value, '.'))
            sqlite3_bind_double(insert, 4, strtod(fact->value, NULL));
        else
            sqlite3_bind_int64(insert, 4, strtoll(fact->value, NULL, 10));
        good = (!replace || statement_do(database, remove)) && statement_do(database, insert);
    }
    sqlite3_finalize(remove);
    sqlite3_finalize(insert);
    return good;
}

/* Whether it is kept what each location has. */
static bool has_locations(const struct locations *locations)
{
    return locations && locations->location[0].kind != LOCATION_ALL;
}

/* "SAMPLES ROWS FINISHED RANKS WHAT": what is added of a run that goes on differs. */
static char *state_of(const struct trial_input *input)
{
    const struct profile *profile = input->profile;
    return memory_text("%" PRIu64 " %zu %u %u %s", (uint64_t)input->rows->row[0].inclusive->samples, input->rows->count, profile->header.finished,
                       profile->header.merged, has_locations(input->locations) ? "locations" : "sums");
}

/* Of as many samples a state without locations is less, whatever else differs. */
static enum trial_added compare_states(const char *old, const char *state)
{
    uint64_t before = strtoull(old, NULL, 10), now = strtoull(state, NULL, 10);
    bool had = strstr(old, "locations"), has = strstr(state, "locations");
    if (strcmp(old, state) == 0)
        return TRIAL_THERE;
    return now > before || (now == before && has >= had) ? TRIAL_RENEWED : TRIAL_OUTDATED;
}

struct old_trial {
    int64_t id, experiment; /* 0: there is none */
    char *state;
};

static bool find_trial(struct database *database, const char *run, struct old_trial *old)
{
    sqlite3_stmt *find = statement_new(database, "SELECT id, experiment, state FROM trial WHERE run = ?");
    *old = (struct old_trial){0};
    if (!find)
        return false;
    sqlite3_bind_text(find, 1, run, -1, SQLITE_STATIC);
    int code = sqlite3_step(find);
    if (code == SQLITE_ROW) {
        old->id = sqlite3_column_int64(find, 0);
        old->experiment = sqlite3_column_int64(find, 1);
        old->state = memory_text("%s", (const char *)sqlite3_column_text(find, 2));
    }
    bool good = code == SQLITE_ROW || code == SQLITE_DONE || database_failed(database);
    sqlite3_finalize(find);
    return good;
}

static bool run_of_trial(struct database *database, const char *text, int64_t first, int64_t second)
{
    sqlite3_stmt *statement = statement_new(database, text);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, first);
    if (second)
        sqlite3_bind_int64(statement, 2, second);
    bool good = statement_do(database, statement);
    sqlite3_finalize(statement);
    return good;
}

/* All of it but what the user has said. */
static bool clear_trial(struct database *database, int64_t trial)
{
    static const char *const texts[] = {"DELETE FROM location_metric WHERE trial = ?", "DELETE FROM location WHERE trial = ?",
                                        "DELETE FROM metric WHERE trial = ?", "DELETE FROM metadata WHERE trial = ? AND kind <> 'user'",
                                        "DELETE FROM trial WHERE id = ?"};
    bool good = true;
    for (size_t i = 0; good && i < sizeof texts / sizeof *texts; i++)
        good = run_of_trial(database, texts[i], trial, 0);
    return good;
}

/* Of one that is there, what the user says of it now. */
static bool rename_trial(struct database *database, const struct trial_input *input, struct trial_result *result)
{
    result->named = input->application || input->experiment || input->given->count;
    if (input->application || input->experiment) {
        int64_t experiment = experiment_of(database, input);
        if (!experiment || !run_of_trial(database, "UPDATE trial SET experiment = ?1 WHERE id = ?2", experiment, result->trial))
            return false;
    }
    return write_facts(database, result->trial, input->given, true);
}

static bool write_anew(struct database *database, const struct trial_input *input, struct trial_result *result, const char *state,
                       const struct old_trial *old)
{
    bool stays = old->id && !input->application && !input->experiment;
    int64_t experiment = stays ? old->experiment : experiment_of(database, input);
    if (!experiment || (old->id && !clear_trial(database, old->id)) || !write_trial(database, input, result->run, state, experiment, old->id))
        return false;
    if (!old->id)
        result->trial = sqlite3_last_insert_rowid(database->sql);
    return write_facts(database, result->trial, input->facts, false) && write_facts(database, result->trial, input->given, true) &&
           metrics_write(database, result->trial, input);
}

/* Trials of one application are compared: that a program of another name is among them may be a slip. */
static bool find_other(struct database *database, struct trial_result *result)
{
    sqlite3_stmt *find = statement_new(database, "SELECT other.program FROM trial JOIN run AS mine ON mine.id = trial.id"
                                                 " JOIN run AS other ON other.application = mine.application"
                                                 " WHERE trial.id = ? AND other.program <> trial.program LIMIT 1");
    if (!find)
        return false;
    sqlite3_bind_int64(find, 1, result->trial);
    int code = sqlite3_step(find);
    if (code == SQLITE_ROW)
        result->other_program = memory_text("%s", (const char *)sqlite3_column_text(find, 0));
    bool good = code == SQLITE_ROW || code == SQLITE_DONE || database_failed(database);
    sqlite3_finalize(find);
    return good;
}

static bool add(struct database *database, const struct trial_input *input, struct trial_result *result)
{
    struct old_trial old;
    char *state = state_of(input);
    bool good = find_trial(database, result->run, &old);
    result->trial = old.id;
    result->added = old.id ? compare_states(old.state, state) : TRIAL_NEW;
    if (good && (result->added == TRIAL_NEW || result->added == TRIAL_RENEWED))
        good = write_anew(database, input, result, state, &old);
    else if (good)
        good = rename_trial(database, input, result);
    free(state);
    free(old.state);
    return good && (!input->application || find_other(database, result));
}

bool trial_add(struct database *database, const struct trial_input *input, struct trial_result *result)
{
    *result = (struct trial_result){0};
    profile_identity(input->profile, result->run);
    if (!database_begin(database))
        return false;
    if (add(database, input, result) && database_commit(database))
        return true;
    database_rollback(database);
    free(result->other_program);
    result->other_program = NULL;
    return false;
}
