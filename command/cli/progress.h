/* A progress line on the terminal, shown while a command works for more than a second and removed at the end. */
#ifndef BLAME_COMMAND_CLI_PROGRESS_H
#define BLAME_COMMAND_CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Enables the progress line on a terminal; NULL disables it. */
void progress_start(FILE *terminal, uint64_t (*now_ns)(void));
/* Sets the text that describes the current work. The text is borrowed. */
void progress_phase(const char *what);
/* Sets how much of the current work is done. One call in a thousand steps costs nothing noticeable. */
void progress_step(size_t done, size_t total);
/* Removes the progress line. Call this before printing anything else. */
void progress_end(void);

#endif
