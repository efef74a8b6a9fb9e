/* Profiles that their processes could not finish, after a run. */
#ifndef BLAME_COMMAND_CLI_COLLECT_H
#define BLAME_COMMAND_CLI_COLLECT_H

/* Moves measurement files into their directories, writes the reports of killed processes, and returns the
 * number of profiles. notes: the file with a note for each process (run_notes.h). A process that started no
 * region has removed its profile. */
int collect_profiles(const char *notes);

#endif
