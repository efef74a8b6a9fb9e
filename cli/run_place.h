/* Whether the output directory of a run can be made, asked before the program starts: it would run for nothing. */
#ifndef BLAME_CLI_RUN_PLACE_H
#define BLAME_CLI_RUN_PLACE_H

#include <stdbool.h>

/* Returns false after a message if no directory can be made where BLAME_OUT, or the default name, puts it. typed: the
 * value of --out, which has set BLAME_OUT; NULL: it was not given. */
bool run_place_is_there(const char *typed);

#endif
