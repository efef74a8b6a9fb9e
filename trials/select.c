#include "trials/select.h"

#include <ctype.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/format.h"
#include "report/text/memory.h"

#define LONGEST_VALUE 10000000 /* bytes: a condition needs no longer ones, and could ask for them */
#define FEWEST_DIGITS 4

/* All that reads, and no function that does something. */
static int allow(void *unused, int action, const char *first, const char *second, const char *where, const char *trigger)
{
    (void)unused, (void)first, (void)where, (void)trigger;
    if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
        return SQLITE_OK;
    return action == SQLITE_FUNCTION && sqlite3_stricmp(second, "load_extension") != 0 ? SQLITE_OK : SQLITE_DENY;
}

static bool prepare(struct selection *selection, const char *text, bool guarded)
{
    struct database *database = selection->database;
    const char *rest = NULL;
    if (guarded) {
        sqlite3_limit(database->sql, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
        sqlite3_db_config(database->sql, SQLITE_DBCONFIG_DQS_DML, 0, NULL); /* "thraeds" is no text: it is a slip */
        sqlite3_set_authorizer(database->sql, allow, NULL);
    }
    int code = sqlite3_prepare_v2(database->sql, text, -1, &selection->statement, &rest);
    if (guarded)
        sqlite3_set_authorizer(database->sql, NULL, NULL);
    if (code == SQLITE_OK && !*rest)
        return true;
    bool theirs = guarded && (code == SQLITE_OK || code == SQLITE_ERROR || code == SQLITE_AUTH || code == SQLITE_TOOBIG);
    char *message = format_clean(code == SQLITE_OK ? "it ends in the middle" : sqlite3_errmsg(database->sql), true);
    if (theirs)
        snprintf(database->why, sizeof database->why,
                 "--where: %s; accepted is a condition in SQL on the columns of blame db list --format csv and names of metadata (blame db show), as "
                 "\"threads = 8 and host like 'node%%'\"; it cannot write",
                 message);
    else
        database_failed(database);
    free(message);
    selection_close(selection);
    return false;
}

/* Whether the word stands in the text, not inside another. */
static bool mentions(const char *text, const char *word)
{
    size_t bytes = strlen(word);
    for (const char *at = text; bytes && (at = strcasestr(at, word)); at++) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !(isalnum((unsigned char)at[bytes]) || at[bytes] == '_'))
            return true;
    }
    return false;
}

static bool is_column(struct database *database, const char *name)
{
    struct selection of_view;
    bool found = false;
    if (!select_text(&of_view, database, "SELECT * FROM run LIMIT 0", NULL, 0))
        return true;
    for (int i = 0; i < selection_columns(&of_view); i++)
        found |= sqlite3_stricmp(selection_name(&of_view, i), name) == 0;
    selection_close(&of_view);
    return found;
}

/* Names of metadata that the condition mentions become columns: what the user said before what the program said, and that before what its
 * environment said. Names are found by leaps, not by reading all. */
static bool put_columns(FILE *out, struct database *database, const char *where)
{
    struct selection names;
    enum selected next;
    if (!select_text(&names, database,
                     "WITH RECURSIVE n(name) AS (SELECT min(name) FROM metadata UNION ALL SELECT (SELECT min(name) FROM metadata WHERE name > n.name)"
                     " FROM n WHERE n.name IS NOT NULL) SELECT name FROM n WHERE name IS NOT NULL",
                     NULL, 0))
        return false;
    while ((next = selection_next(&names)) == SELECTED_ROW) {
        const char *name = selection_value(&names, 0);
        char *quoted = memory_check(sqlite3_mprintf("%w", name));
        bool wanted = mentions(where, quoted) && !is_column(database, name);
        sqlite3_free(quoted);
        if (!wanted)
            continue;
        char *column = sqlite3_mprintf(", (SELECT value FROM metadata WHERE trial = run.id AND name = %Q ORDER BY kind = 'user' DESC,"
                                       " kind = 'parameter' DESC, kind, value LIMIT 1) AS \"%w\"",
                                       name, name);
        fputs(memory_check(column), out);
        sqlite3_free(column);
    }
    selection_close(&names);
    return next == SELECTED_END;
}

bool select_trials(struct selection *selection, struct database *database, const char *columns, const char *where, const char *order)
{
    char *text;
    *selection = (struct selection){.database = database};
    FILE *out = memory_stream(&text);
    fprintf(out, "SELECT %s FROM (SELECT run.*", columns);
    bool good = !where || put_columns(out, database, where);
    /* The condition in lines of its own: a comment in it ends there. */
    fprintf(out, " FROM run) AS run WHERE (\n%s\n) ORDER BY %s", where ? where : "1", order);
    memory_stream_close(out);
    good = good && prepare(selection, text, where);
    free(text);
    return good;
}

bool select_text(struct selection *selection, struct database *database, const char *text, const int64_t *numbers, int count)
{
    *selection = (struct selection){.database = database};
    if (!prepare(selection, text, false))
        return false;
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(selection->statement, i + 1, numbers[i]);
    return true;
}

enum selected selection_next(struct selection *selection)
{
    int code = sqlite3_step(selection->statement);
    if (code == SQLITE_ROW)
        return SELECTED_ROW;
    return code == SQLITE_DONE || database_failed(selection->database) ? SELECTED_END : SELECTED_FAILED;
}

void selection_close(struct selection *selection)
{
    sqlite3_finalize(selection->statement);
    selection->statement = NULL;
}

int selection_columns(const struct selection *selection)
{
    return sqlite3_column_count(selection->statement);
}

const char *selection_name(const struct selection *selection, int column)
{
    return sqlite3_column_name(selection->statement, column);
}

const char *selection_value(const struct selection *selection, int column)
{
    return (const char *)sqlite3_column_text(selection->statement, column);
}

double selection_number(const struct selection *selection, int column)
{
    return sqlite3_column_double(selection->statement, column);
}

int64_t selection_integer(const struct selection *selection, int column)
{
    return sqlite3_column_int64(selection->statement, column);
}

/* Names are not more than 6 of them, wherever they come from. */
static void put_csv_value(FILE *out, const struct selection *selection, int column)
{
    if (sqlite3_column_type(selection->statement, column) == SQLITE_FLOAT)
        format_csv_number(out, selection_number(selection, column));
    else if (selection_value(selection, column))
        format_csv_text(out, selection_value(selection, column));
}

bool selection_csv(struct selection *selection, FILE *out, bool titles)
{
    int columns = selection_columns(selection);
    enum selected next;
    for (int i = 0; titles && i < columns; i++)
        fprintf(out, "%s%s", selection_name(selection, i), i + 1 < columns ? "," : "\n");
    while ((next = selection_next(selection)) == SELECTED_ROW)
        for (int i = 0; i < columns; i++) {
            put_csv_value(out, selection, i);
            putc(i + 1 < columns ? ',' : '\n', out);
        }
    return next == SELECTED_END;
}

int64_t find_trial(struct database *database, const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef"), length = strlen(text);
    sqlite3_stmt *find = NULL;
    int64_t found = 0, count = 0;
    if (sqlite3_prepare_v2(database->sql,
                           "SELECT id FROM trial WHERE id = ?1 UNION SELECT id FROM trial WHERE length(?2) >= ?3 AND run >= ?2 AND run < ?2 || 'g'"
                           " LIMIT 2",
                           -1, &find, NULL) != SQLITE_OK) {
        database_failed(database);
        return 0;
    }
    bool number = length < 19 && strspn(text, "0123456789") == length;
    sqlite3_bind_int64(find, 1, number ? strtoll(text, NULL, 10) : 0);
    sqlite3_bind_text(find, 2, digits == length ? text : "", -1, SQLITE_STATIC);
    sqlite3_bind_int64(find, 3, FEWEST_DIGITS);
    for (; sqlite3_step(find) == SQLITE_ROW; count++)
        found = sqlite3_column_int64(find, 0);
    bool good = sqlite3_finalize(find) == SQLITE_OK;
    if (!good)
        database_failed(database);
    else if (count != 1) {
        char *clean = format_clean(text, true);
        snprintf(database->why, sizeof database->why, "%s: %s; accepted is a number of blame db list, or the first digits of a run's id, at least %d", clean,
                 count ? "may be one of several trials" : "there is no such trial", FEWEST_DIGITS);
        free(clean);
    }
    return good && count == 1 ? found : 0;
}
