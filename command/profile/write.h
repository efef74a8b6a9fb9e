/* Writes a merged profile as a measurement file. profile_read() makes the same profile from it. */
#ifndef BLAME_COMMAND_PROFILE_WRITE_H
#define BLAME_COMMAND_PROFILE_WRITE_H

#include "command/profile/profile.h"

/* Writes the file completely or not at all. An existing file is replaced. Returns 0 or an errno value. */
int profile_write(const struct profile *profile, const char *path);
/* Does the same with an open descriptor, and closes it. */
int profile_write_fd(const struct profile *profile, int file);

#endif
