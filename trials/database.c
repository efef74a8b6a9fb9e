#include "trials/database.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "trials/schema.h"

#define SLEEP_MS 20
#define CACHE_KB 65536
/* Of a new file. Larger pages: a trial of many contexts is written in long runs. What is pruned can be given back. */
#define FRESH "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL"

static bool failed(struct database *database, const char *what)
{
    snprintf(database->why, sizeof database->why, "%s: %s", database->path, what);
    return false;
}

bool database_failed(struct database *database)
{
    int code = sqlite3_errcode(database->sql), system = sqlite3_system_errno(database->sql);
    const char *message = sqlite3_errmsg(database->sql);
    char what[500];
    switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        snprintf(what, sizeof what, "another program has written to it for longer than %d s; nothing was changed: try again, or --wait longer", database->wait_s);
        break;
    case SQLITE_CORRUPT:
        snprintf(what, sizeof what, "is damaged (%s); nothing was changed: take a copy of before, or sqlite3 FILE .recover", message);
        break;
    case SQLITE_NOTADB:
        snprintf(what, sizeof what, "is no database, or its first page is damaged; accepted is a file made by blame db add");
        break;
    case SQLITE_FULL:
        snprintf(what, sizeof what, "there is no room left on the disk; nothing was changed");
        break;
    case SQLITE_IOERR:
        snprintf(what, sizeof what, "cannot be read or written (%s); nothing was changed", system ? strerror(system) : message);
        break;
    case SQLITE_READONLY:
        snprintf(what, sizeof what, "cannot be written to, or the folder around it cannot; nothing was changed");
        break;
    case SQLITE_CANTOPEN:
        snprintf(what, sizeof what, "%s; accepted is a database that blame db add has made, by --db or BLAME_DB", system ? strerror(system) : message);
        break;
    default:
        snprintf(what, sizeof what, "%s", message);
    }
    return failed(database, what);
}

bool database_run(struct database *database, const char *statements)
{
    return sqlite3_exec(database->sql, statements, NULL, NULL, NULL) == SQLITE_OK || database_failed(database);
}

bool database_begin(struct database *database)
{
    return database_run(database, "BEGIN IMMEDIATE");
}

bool database_commit(struct database *database)
{
    if (database_run(database, "COMMIT"))
        return true;
    database_rollback(database);
    return false;
}

/* After some failures SQLite has done it itself. */
void database_rollback(struct database *database)
{
    if (!sqlite3_get_autocommit(database->sql))
        sqlite3_exec(database->sql, "ROLLBACK", NULL, NULL, NULL);
}

/* The first number of a statement's answer; -1: none, why. */
static sqlite3_int64 ask_number(struct database *database, const char *question)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_int64 number = -1;
    if (sqlite3_prepare_v2(database->sql, question, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    else
        database_failed(database);
    sqlite3_finalize(statement);
    return number;
}

/* The version of an open file, which is ours or empty; -1: why. Whose it is, is asked last: another process may be making it, all at once. */
static int read_version(struct database *database)
{
    sqlite3_int64 tables = ask_number(database, "SELECT count(*) FROM sqlite_schema"), version = tables < 0 ? -1 : ask_number(database, "PRAGMA user_version"),
                  whose = version < 0 ? -1 : ask_number(database, "PRAGMA application_id");
    if (whose < 0)
        return -1;
    if (whose != SCHEMA_APPLICATION && (tables > 0 || whose || version)) {
        failed(database, "is a database of another program; accepted is one that blame db add has made, or a file that is not there");
        return -1;
    }
    if (version > (sqlite3_int64)schema_version) {
        char what[200];
        snprintf(what, sizeof what, "was made by a newer blame (schema %lld, this one knows %zu); use that", version, schema_version);
        failed(database, what);
        return -1;
    }
    return (int)version;
}

/* Until others let it: SQLite itself does not wait for this one. What cannot have a log beside it keeps its journal. */
static bool log_ahead(struct database *database)
{
    for (int waited_ms = 0;; waited_ms += SLEEP_MS) {
        int code = sqlite3_exec(database->sql, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code != SQLITE_BUSY || waited_ms >= 1000 * database->wait_s)
            return code == SQLITE_OK || database_failed(database);
        sqlite3_sleep(SLEEP_MS);
    }
}

/* Another process may do the same at the same time: what is to be done is known once nobody else can write. */
static bool migrate(struct database *database)
{
    char number[96];
    int version = read_version(database);
    if (version < 0 || version == (int)schema_version)
        return version >= 0;
    if (version == 0 && (!database_run(database, FRESH) || !log_ahead(database)))
        return false;
    if (!database_begin(database))
        return false;
    version = read_version(database);
    bool good = version >= 0;
    for (; good && version < (int)schema_version; version++)
        good = database_run(database, schema_steps[version]);
    snprintf(number, sizeof number, "PRAGMA user_version = %d; PRAGMA application_id = %d", version, SCHEMA_APPLICATION);
    if (good && database_run(database, number))
        return database_commit(database);
    database_rollback(database);
    return false;
}

static bool is_there(struct database *database)
{
    struct stat status;
    if (stat(database->path, &status) == 0)
        return S_ISREG(status.st_mode) || failed(database, "is no file; accepted is the name of a database");
    char what[200];
    snprintf(what, sizeof what, "%s; blame db add makes it (--db FILE, else BLAME_DB, else blame.db)", strerror(errno));
    return failed(database, what);
}

/* An older one cannot be read as today's, and is not changed by a reader. */
static bool check_readable(struct database *database)
{
    int version = read_version(database);
    if (version < 0 || version == (int)schema_version)
        return version >= 0;
    return failed(database, version ? "was made by an older blame; blame db add --db FILE brings it to today's schema"
                                    : "is an empty file; blame db add fills it");
}

bool database_open(struct database *database, const char *path, enum database_use use, int wait_s)
{
    int flags = use == DATABASE_READ    ? SQLITE_OPEN_READONLY
                : use == DATABASE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                        : SQLITE_OPEN_READWRITE;
    *database = (struct database){.path = path, .wait_s = wait_s};
    if (use != DATABASE_WRITE && !is_there(database))
        return false;
    bool good = sqlite3_open_v2(path, &database->sql, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK || database_failed(database);
    if (good)
        sqlite3_busy_timeout(database->sql, 1000 * wait_s);
    char cache[64];
    snprintf(cache, sizeof cache, "PRAGMA cache_size = -%d; PRAGMA temp_store = MEMORY", CACHE_KB);
    good = good && database_run(database, cache) && (use == DATABASE_READ ? check_readable(database) : migrate(database));
    if (!good)
        database_close(database);
    return good;
}

void database_close(struct database *database)
{
    sqlite3_close(database->sql);
    database->sql = NULL;
}
