/* A merged profile as a measurement file: what profile_read() makes the same profile of. */
#ifndef BLAME_COMMAND_PROFILE_WRITE_H
#define BLAME_COMMAND_PROFILE_WRITE_H

#include "command/profile/profile.h"

/* The file appears whole or not at all, in the place of one that is there. 0 or an errno value. */
int profile_write(const struct profile *profile, const char *path);
/* To an open file, which is closed. */
int profile_write_fd(const struct profile *profile, int file);

#endif
