#ifndef BLAME_COMMAND_CLI_FINISH_H
#define BLAME_COMMAND_CLI_FINISH_H

#include <stdbool.h>

/* Writes the reports of a measurement file into the directory: all, or those that its header asks for.
 * Returns an exit status of command/cli/cli.h. */
int finish_reports(const char *directory, const char *file, bool all);

/* Makes the kernel end this process before the program, which may still be in memory, when memory runs out. */
void finish_offer_ourselves(void);

#endif
