/* Writes the files of a profile directory. */
#ifndef BLAME_COMMAND_FILES_OUTPUT_H
#define BLAME_COMMAND_FILES_OUTPUT_H

#include <stddef.h>

#include "command/tables/tables.h"

/* Writes profile.csv, threads.csv, locks.csv, waits.csv and run.json. If they apply, also writes phases.csv,
 * ranks.csv, spread.csv and balance.csv. All files are written under temporary names before any file is
 * renamed, so each file is either complete or absent. Returns 0. On failure, returns -1, writes one line to
 * error[] and leaves no new file. */
int report_write_files(const struct profile *profile, const struct report_tables *tables, const char *dir, char *error,
                       size_t error_bytes);

#endif
