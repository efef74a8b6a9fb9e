/* A database of trials: one file, SQLite's. Nothing here ends the process; what goes wrong is a line. */
#ifndef BLAME_TRIALS_DATABASE_H
#define BLAME_TRIALS_DATABASE_H

#include <stdbool.h>

#define DATABASE_WAIT_S 60 /* for others who write */

struct sqlite3;

struct database {
    const char *path;
    struct sqlite3 *sql;
    int wait_s;
    char why[700]; /* of what failed last */
};

enum database_use {
    DATABASE_READ,  /* a file that is there; nothing can be written */
    DATABASE_WRITE, /* made if it is not there, and brought to today's schema */
    DATABASE_CHANGE, /* the same, of a file that is there */
};

/* False: why, and nothing is open. */
bool database_open(struct database *database, const char *path, enum database_use use, int wait_s);
/* Allowed also of what was not opened. */
void database_close(struct database *database);

/* Between them all is done or nothing: another process sees it before or after. False: why. */
bool database_begin(struct database *database);
bool database_commit(struct database *database);
void database_rollback(struct database *database);

/* Statements without results. False: why. */
bool database_run(struct database *database, const char *statements);
/* Sets why from SQLite's last error, as what it means for the user. Returns false. */
bool database_failed(struct database *database);

#endif
