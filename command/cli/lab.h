/* Starts the laboratory (lab/): commands in Python with statistics over many runs. */
#ifndef BLAME_COMMAND_CLI_LAB_H
#define BLAME_COMMAND_CLI_LAB_H

/* Replaces this process by the Python command argv[0] of lab/. docs/lab.md says which interpreter is used. If
 * that fails, prints a message and returns an exit status. */
int lab_start(int argc, char **argv);

#endif
