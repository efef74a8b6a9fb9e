/* Waiting for other ranks that nobody told: MPI's calls are on the paths, and libblame-mpi.so did not stand before them. */
#ifndef BLAME_COMMAND_TABLES_MPI_UNTOLD_H
#define BLAME_COMMAND_TABLES_MPI_UNTOLD_H

#include "command/rows/rows.h"

/* Seconds of work and sleep in such calls; part of it may have been waiting. */
double mpi_untold_s(const struct rows *rows);

#endif
