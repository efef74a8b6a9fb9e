/* Questions to a database. What the user says of trials is a condition in SQL: it can read, and nothing else. */
#ifndef BLAME_TRIALS_SELECT_H
#define BLAME_TRIALS_SELECT_H

#include <stdint.h>
#include <stdio.h>

#include "trials/database.h"

struct sqlite3_stmt;

struct selection {
    struct database *database;
    struct sqlite3_stmt *statement;
};

enum selected { SELECTED_ROW, SELECTED_END, SELECTED_FAILED };

/* columns of the view run (docs/trials.md) of the trials of which `where` is true, NULL: of all. In it names of metadata stand for their values.
 * order: "id". False: why; nothing is to be closed. */
bool select_trials(struct selection *selection, struct database *database, const char *columns, const char *where, const char *order);
/* Any question of ours; a number for each `?`. */
bool select_text(struct selection *selection, struct database *database, const char *text, const int64_t *numbers, int count);
enum selected selection_next(struct selection *selection);
void selection_close(struct selection *selection);

int selection_columns(const struct selection *selection);
const char *selection_name(const struct selection *selection, int column);
const char *selection_value(const struct selection *selection, int column); /* NULL: nothing; until the next row */
double selection_number(const struct selection *selection, int column);
int64_t selection_integer(const struct selection *selection, int column);

/* The trial that the user means: its number, or the first digits of its run's id, at least four. 0: why. */
int64_t find_trial(struct database *database, const char *text);

/* CSV with a line of titles, unless they are there already. False: why. */
bool selection_csv(struct selection *selection, FILE *out, bool titles);

#endif
