#ifndef BLAME_COMMAND_CLI_FINISH_H
#define BLAME_COMMAND_CLI_FINISH_H

#include <stdbool.h>

/* Writes the reports for a measurement file into the directory. `all` requests every report, otherwise the
 * file's header says which. Returns an exit status of command/cli/cli.h. */
int finish_reports(const char *directory, const char *file, bool all);

/* Third arguments of `blame finish DIR FILE`: everything but the summary, because the program's stderr is no longer
 * open; only the summary. */
#define FINISH_UNHEARD "unheard"
#define FINISH_SUMMARY "summary"

/* Makes the kernel kill this process first when memory runs out, rather than the program, which may still be
 * running. */
void finish_offer_ourselves(void);

#endif
