/* Completes the profiles of processes that were killed, after a run. */
#ifndef BLAME_COMMAND_CLI_COLLECT_H
#define BLAME_COMMAND_CLI_COLLECT_H

/* Moves measurement files into their directories, and writes the reports of killed processes. Returns the
 * number of profiles. `notes` is the path of the file with one note for each process (run_notes.h). A process
 * that started no parallel region has removed its profile. */
int collect_profiles(const char *notes);

#endif
