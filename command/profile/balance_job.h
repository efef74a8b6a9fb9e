/* Waiting between nodes, from the ranks' files. */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_JOB_H
#define BLAME_COMMAND_PROFILE_BALANCE_JOB_H

#include "command/profile/profile.h"

/* The job, as job_read() made it of these files, gets what its ranks are charged (command/profile/balance.h), if there is anything: then each file is read
 * once more, and those of the latest ranks a third time, in the order of the list. A file that cannot be read again is left out. */
void job_add_balance(struct profile *job, const char *const *paths, size_t count, const char *identity);

#endif
