/* The laboratory: commands that are statistics over many runs, in Python (lab/). This starts them. */
#ifndef BLAME_COMMAND_CLI_LAB_H
#define BLAME_COMMAND_CLI_LAB_H

/* Replaces the process by the command argv[0] of lab/, in the interpreter that docs/lab.md names. Returns an exit status, after a message, if that cannot be
 * started. */
int lab_start(int argc, char **argv);

#endif
