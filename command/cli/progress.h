/* A line on the terminal while something takes longer than a second; gone when it is done. */
#ifndef BLAME_COMMAND_CLI_PROGRESS_H
#define BLAME_COMMAND_CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* terminal: where the line goes; NULL: nothing is ever printed. */
void progress_start(FILE *terminal, uint64_t (*now_ns)(void));
/* What is done from now on; borrowed. */
void progress_phase(const char *what);
/* How much of the phase is done. Cheap enough for every thousandth step. */
void progress_step(size_t done, size_t total);
/* Takes the line away: before anything else is printed. */
void progress_end(void);

#endif
