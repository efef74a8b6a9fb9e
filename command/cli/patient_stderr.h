/* Messages of a command that runs beside a program: a reader that does not read must not stop them. */
#ifndef BLAME_COMMAND_CLI_PATIENT_STDERR_H
#define BLAME_COMMAND_CLI_PATIENT_STDERR_H

/* Sends `stderr` through log_write() from now on, line by line. */
void patient_stderr(void);

#endif
