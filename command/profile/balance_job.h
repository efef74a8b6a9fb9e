/* Charges waiting that ranks on other nodes caused (command/profile/balance.h), by reading the ranks' files
 * again. */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_JOB_H
#define BLAME_COMMAND_PROFILE_BALANCE_JOB_H

#include "command/profile/profile.h"

/* Adds to a job the waiting that is charged to its ranks and their contexts. The job must come from
 * job_read() of the same files. If there is anything to charge, each file is read a second time, and the
 * files of the latest ranks a third time, in the order of paths[]. Files that can no longer be read are left
 * out. */
void job_add_balance(struct profile *job, const char *const *paths, size_t count, const char *identity);

#endif
