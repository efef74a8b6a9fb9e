/* The files of a profile directory. */
#ifndef BLAME_COMMAND_FILES_OUTPUT_H
#define BLAME_COMMAND_FILES_OUTPUT_H

#include <stddef.h>

#include "command/tables/tables.h"

/* Writes profile.csv, threads.csv, locks.csv, waits.csv, run.json and, of a program with phases, phases.csv into dir.
 * Each appears whole or not at all: all are written under other names first, then renamed. Returns 0, or -1 with one
 * line in error[] and nothing left behind. */
int report_write_files(const struct profile *profile, const struct report_tables *tables, const char *dir, char *error,
                       size_t error_bytes);

#endif
