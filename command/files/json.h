/* run.json: what ran, how it was measured, what was lost, and whether the conservation laws hold. */
#ifndef BLAME_COMMAND_FILES_JSON_H
#define BLAME_COMMAND_FILES_JSON_H

#include <stdio.h>

#include "command/profile/profile.h"
#include "command/tables/tables.h"

struct json_t; /* declared by jansson */

/* Returns the contents of run.json. The caller releases them with json_decref(). */
struct json_t *run_json(const struct profile *profile, const struct rows *rows);

/* Writes run.json. A write error stays in the stream (ferror). */
void write_run_json(FILE *out, const struct profile *profile, const struct report_tables *tables);

#endif
