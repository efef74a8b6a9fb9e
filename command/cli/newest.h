/* The default profile of commands: the newest one. */
#ifndef BLAME_COMMAND_CLI_NEWEST_H
#define BLAME_COMMAND_CLI_NEWEST_H

/* Returns the profile directory in the current folder whose measurement was written last, "." if that is the folder itself,
 * NULL if there is none. The text is static. */
const char *newest_profile(void);

#endif
