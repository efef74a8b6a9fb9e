/* The parts of `blame db`. */
#ifndef BLAME_CLI_DB_H
#define BLAME_CLI_DB_H

#include <stdbool.h>

#include "base/option.h"

struct db_request {
    const char *path; /* of the database */
    const char **operand;
    int operand_count;
    const char *application, *experiment, *where, *output;
    struct option_list meta;
    bool sums, locations, dry_run, csv;
    int keep, top, wait_s; /* keep: -1: not given */
};

/* Each returns an exit status. */
int db_add(const struct db_request *request);
int db_list(const struct db_request *request);
int db_show(const struct db_request *request);
int db_export(const struct db_request *request);
int db_prune(const struct db_request *request);

#endif
