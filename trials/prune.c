#include "trials/prune.h"

#include "trials/statement.h"

static bool remove_each(struct database *database, const char *text, const int64_t *trials, size_t count)
{
    sqlite3_stmt *remove = statement_new(database, text);
    bool good = remove;
    for (size_t i = 0; good && i < count; i++) {
        sqlite3_bind_int64(remove, 1, trials[i]);
        good = statement_do(database, remove);
    }
    sqlite3_finalize(remove);
    return good;
}

/* Every context of a trial has a row of its metrics, and so have those above it. */
bool trials_remove(struct database *database, const int64_t *trials, size_t count)
{
    static const char *const of_trial[] = {"DELETE FROM location_metric WHERE trial = ?", "DELETE FROM location WHERE trial = ?",
                                           "DELETE FROM metric WHERE trial = ?", "DELETE FROM metadata WHERE trial = ?",
                                           "DELETE FROM trial WHERE id = ?"};
    if (!database_begin(database))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < sizeof of_trial / sizeof *of_trial; i++)
        good = remove_each(database, of_trial[i], trials, count);
    good = good && database_run(database, "DELETE FROM context WHERE id NOT IN (SELECT context FROM metric);"
                                          "DELETE FROM experiment WHERE id NOT IN (SELECT experiment FROM trial);"
                                          "DELETE FROM application WHERE id NOT IN (SELECT application FROM experiment)");
    if (!good) {
        database_rollback(database);
        return false;
    }
    if (!database_commit(database))
        return false;
    database_run(database, "PRAGMA incremental_vacuum"); /* they are gone, also where the file does not shrink */
    return true;
}
