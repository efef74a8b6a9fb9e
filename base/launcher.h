/* What MPI's launchers and SLURM tell a process about its job. All functions read environment variables, so
 * all are [init]. */
#ifndef BLAME_BASE_LAUNCHER_H
#define BLAME_BASE_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the process's rank in its job; NULL if it has none. [init] */
const char *launcher_rank(void);
/* Returns the number of ranks in the process's job, as text; NULL if unknown. [init] */
const char *launcher_ranks(void);
bool launcher_starts_many(void);     /* Returns true if the process is one of several ranks. [init] */
uint32_t launcher_local_ranks(void); /* Returns the number of ranks on this node; 0 if unknown. [init] */

/* Returns true if this process should print what is the same for all ranks of its program: it is the first of
 * these ranks, or the only one. [init] */
bool launcher_speaks(void);

#endif
