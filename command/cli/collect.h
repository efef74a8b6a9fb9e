/* After a run: profiles that their processes could not finish. */
#ifndef BLAME_COMMAND_CLI_COLLECT_H
#define BLAME_COMMAND_CLI_COLLECT_H

/* notes: the file in which each measured process left "directory\tfile\n", or "\n" when it said why it
 * measures nothing; a process that began no region has removed its profile. Moves measurement files that lie elsewhere into their directories, writes the CSV files
 * of processes that were killed, and prints their summaries. Returns the number of profiles. */
int collect_profiles(const char *notes);

#endif
