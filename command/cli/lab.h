/* Starts the laboratory (lab/): commands in Python with statistics over many runs. */
#ifndef BLAME_COMMAND_CLI_LAB_H
#define BLAME_COMMAND_CLI_LAB_H

/* Replaces this process by the command argv[0] of lab/, in the interpreter that docs/lab.md describes.
 * Returns an exit status after a message if that fails. */
int lab_start(int argc, char **argv);

#endif
