/* What MPI's launchers and SLURM tell a process of its job, by variables. Reads the environment: [init]. */
#ifndef BLAME_BASE_LAUNCHER_H
#define BLAME_BASE_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/* The process's rank in its job; NULL: there is none. [init] */
const char *launcher_rank(void);
const char *launcher_ranks(void);    /* how many there are; NULL: not known. [init] */
bool launcher_starts_many(void);     /* the process is one of several ranks. [init] */
uint32_t launcher_local_ranks(void); /* how many run on this node; 0: not known. [init] */

/* Whether this process says what every rank of its program would: it is the first of them, or alone. [init] */
bool launcher_speaks(void);

#endif
