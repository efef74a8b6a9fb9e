/* Finds the newest profile, for commands that are given none. */
#ifndef BLAME_COMMAND_CLI_NEWEST_H
#define BLAME_COMMAND_CLI_NEWEST_H

/* Returns the name of the profile directory in the current folder whose measurement was written last. Returns
 * "." if that is the current folder itself, NULL if there is no profile. The text is static. */
const char *newest_profile(void);

#endif
