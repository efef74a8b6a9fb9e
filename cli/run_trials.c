/* Runs of a set by a database: the profiles that its trials were made of, where they still are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run_set.h"
#include "report/profile/identity.h"
#include "report/text/format.h"
#include "report/text/memory.h"
#ifdef BLAME_TRIALS
#include "trials/select.h"

#define WAIT_S 60

/* The profile of a trial; false after a message: it is gone, or another run's by now. */
static bool add_trial(struct run_set *set, const struct selection *row)
{
    const char *source = selection_value(row, 1), *run = selection_value(row, 2);
    char id[PROFILE_IDENTITY_BYTES], *clean = format_clean(source ? source : "", true);
    size_t before = set->count;
    bool good = false;
    if (!source || access(source, R_OK) != 0)
        fprintf(stderr, "blame %s: trial %lld: its profile %s cannot be read any more; keep the profiles of a baseline\n", set->command,
                (long long)selection_integer(row, 0), clean);
    else
        good = run_set_add(set, source);
    if (good && set->count == before + 1) {
        profile_identity(set->profile[before], id);
        good = run && strcmp(id, run) == 0;
        if (!good)
            fprintf(stderr, "blame %s: trial %lld: %s is another run by now\n", set->command, (long long)selection_integer(row, 0), clean);
    }
    free(clean);
    return good;
}

bool run_set_add_trials(struct run_set *set, const char *path, const char *where)
{
    struct database database;
    struct selection row;
    size_t before = set->count;
    if (!database_open(&database, path, DATABASE_READ, WAIT_S)) {
        fprintf(stderr, "blame %s: %s\n", set->command, database.why);
        return false;
    }
    bool asked = select_trials(&row, &database, "id, source, run", where, "id"), good = asked;
    enum selected next = SELECTED_FAILED;
    while (good && (next = selection_next(&row)) == SELECTED_ROW)
        good = add_trial(set, &row);
    if (!asked || (good && next == SELECTED_FAILED)) {
        fprintf(stderr, "blame %s: %s\n", set->command, database.why);
        good = false;
    } else if (good && set->count == before) {
        fprintf(stderr, "blame %s: %s: no trial is of these; see blame db list\n", set->command, path);
        good = false;
    }
    if (asked)
        selection_close(&row);
    database_close(&database);
    return good;
}
#else
bool run_set_add_trials(struct run_set *set, const char *path, const char *where)
{
    (void)path, (void)where;
    fprintf(stderr, "blame %s: this blame was built without SQLite; build it where libsqlite3-dev is\n", set->command);
    return false;
}
#endif
