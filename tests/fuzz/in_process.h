/* Whole commands of `blame` within the fuzzer's process, in a folder in memory: command_lines.h says which, and over what. */
#ifndef BLAME_TESTS_FUZZ_IN_PROCESS_H
#define BLAME_TESTS_FUZZ_IN_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#define IN_PROCESS_JOB "fuzz 1" /* "job_identity" of the good one */

/* Makes the folder, and the profiles in it that stay: `good`. What is printed is thrown away, but for sanitizers' reports. */
void in_process_start(const unsigned char *good, size_t size);

/* A command over a changed measurement, which is also a rank's file of the job. What the command wrote is removed, and static options are as
 * before it. More than 10 s of a processor abort. */
void in_process_run(size_t command, const void *bytes, size_t size);

/* A file of the folder. */
void in_process_put(const char *name, const void *bytes, size_t size);

/* The measurement of a job of two processes like the good one; malloc'ed. */
unsigned char *in_process_merged(size_t *size);

/* How often each command ran, and was refused its file. */
void in_process_print_counts(void);

#endif
