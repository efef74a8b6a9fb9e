/* Messages of a command beside a program, which must not be kept by who does not read them. */
#ifndef BLAME_COMMAND_CLI_PATIENT_STDERR_H
#define BLAME_COMMAND_CLI_PATIENT_STDERR_H

/* From now on what is printed on `stderr` goes by log_write(), line by line. */
void patient_stderr(void);

#endif
