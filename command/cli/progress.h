/* A line on the terminal while something takes longer than a second, removed at the end. */
#ifndef BLAME_COMMAND_CLI_PROGRESS_H
#define BLAME_COMMAND_CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Starts the line on a terminal; NULL: nothing is ever printed. */
void progress_start(FILE *terminal, uint64_t (*now_ns)(void));
/* Sets the text for the following work; borrowed. */
void progress_phase(const char *what);
/* Sets how much of the work is done. Cheap enough for every thousandth step. */
void progress_step(size_t done, size_t total);
/* Removes the line, before anything else is printed. */
void progress_end(void);

#endif
