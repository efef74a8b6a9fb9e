#include "trials/statement.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/format.h"

sqlite3_stmt *statement_new(struct database *database, const char *text)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database->sql, text, -1, &statement, NULL) != SQLITE_OK)
        database_failed(database);
    return statement;
}

void statement_name(sqlite3_stmt *statement, int place, const char *text)
{
    sqlite3_bind_text(statement, place, format_clean(text, false), -1, free);
}

void statement_path(sqlite3_stmt *statement, int place, const char *path)
{
    char *clean = format_clean(path, false);
    if (strcmp(clean, path) == 0)
        sqlite3_bind_text(statement, place, path, -1, SQLITE_STATIC);
    else
        sqlite3_bind_blob(statement, place, path, (int)strlen(path), SQLITE_STATIC);
    free(clean);
}

void statement_text(sqlite3_stmt *statement, int place, const char *text)
{
    if (text && *text)
        statement_name(statement, place, text);
    else
        sqlite3_bind_null(statement, place);
}

/* A damaged file may have what is no number, which SQLite would take for nothing. */
void statement_real(sqlite3_stmt *statement, int place, double value)
{
    sqlite3_bind_double(statement, place, isfinite(value) ? value : 0);
}

bool statement_do(struct database *database, sqlite3_stmt *statement)
{
    bool good = sqlite3_step(statement) == SQLITE_DONE || database_failed(database);
    sqlite3_reset(statement);
    return good;
}

bool statement_number(struct database *database, sqlite3_stmt *statement, int64_t none, int64_t *number)
{
    int code = sqlite3_step(statement);
    *number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : none;
    bool good = code == SQLITE_ROW || code == SQLITE_DONE || database_failed(database);
    sqlite3_reset(statement);
    return good;
}
