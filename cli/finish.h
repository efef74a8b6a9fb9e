#ifndef BLAME_CLI_FINISH_H
#define BLAME_CLI_FINISH_H

#include <stdbool.h>

/* Writes the reports of a measurement file into the directory: those that its header asks for, or all. Returns an exit status
 * of cli/cli.h. */
int finish_reports(const char *directory, const char *file, bool all);

#endif
