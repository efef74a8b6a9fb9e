#ifndef BLAME_COMMAND_CLI_FINISH_H
#define BLAME_COMMAND_CLI_FINISH_H

#include <stdbool.h>

/* Writes the reports of a measurement file into the directory: those that its header asks for, or all. Returns an exit status
 * of command/cli/cli.h. */
int finish_reports(const char *directory, const char *file, bool all);

/* The program is still there, and its memory with it: when there is none left, it is not the one to go. */
void finish_offer_ourselves(void);

#endif
