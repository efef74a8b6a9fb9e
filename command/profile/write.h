/* Writes a merged profile as a measurement file, from which profile_read() makes the same profile. */
#ifndef BLAME_COMMAND_PROFILE_WRITE_H
#define BLAME_COMMAND_PROFILE_WRITE_H

#include "command/profile/profile.h"

/* Writes the file completely or not at all, replacing an existing one. Returns 0 or an errno value. */
int profile_write(const struct profile *profile, const char *path);
/* The same to an open file, which is closed. */
int profile_write_fd(const struct profile *profile, int file);

#endif
