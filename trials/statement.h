/* Statements of one kind, again and again: prepared once. */
#ifndef BLAME_TRIALS_STATEMENT_H
#define BLAME_TRIALS_STATEMENT_H

#include <sqlite3.h>
#include <stdint.h>

#include "trials/database.h"

/* NULL: why. */
sqlite3_stmt *statement_new(struct database *database, const char *text);

/* Counted from 1 on. Other programs read text, which is UTF-8 therefore; of a path other bytes stay, as a blob. */
void statement_name(sqlite3_stmt *statement, int place, const char *text);
void statement_path(sqlite3_stmt *statement, int place, const char *path);
/* The same of text that may not be there, or be "": NULL. */
void statement_text(sqlite3_stmt *statement, int place, const char *text);
void statement_real(sqlite3_stmt *statement, int place, double value);

/* Of one without an answer, which is ready again then. False: why. */
bool statement_do(struct database *database, sqlite3_stmt *statement);
/* Of one with a row or none: its first number, or `none`. False: why. */
bool statement_number(struct database *database, sqlite3_stmt *statement, int64_t none, int64_t *number);

#endif
