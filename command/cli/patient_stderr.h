/* stderr of a command that runs beside a program: a blocked reader must not stop the command. */
#ifndef BLAME_COMMAND_CLI_PATIENT_STDERR_H
#define BLAME_COMMAND_CLI_PATIENT_STDERR_H

/* Makes `stderr` write each line through log_write(), which gives up on blocked readers after one second. */
void patient_stderr(void);

#endif
