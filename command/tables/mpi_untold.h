/* Waiting for other ranks that was not measured: call paths contain MPI calls, but libblame-mpi.so did not
 * intercept them. */
#ifndef BLAME_COMMAND_TABLES_MPI_UNTOLD_H
#define BLAME_COMMAND_TABLES_MPI_UNTOLD_H

#include "command/rows/rows.h"

/* Returns the seconds of work and sleep in such calls. Some of this time may have been waiting. */
double mpi_untold_s(const struct rows *rows);

#endif
