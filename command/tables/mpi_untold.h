/* Waiting for other ranks that was not measured, because libblame-mpi.so did not intercept the MPI calls on
 * the call paths. */
#ifndef BLAME_COMMAND_TABLES_MPI_UNTOLD_H
#define BLAME_COMMAND_TABLES_MPI_UNTOLD_H

#include "command/rows/rows.h"

/* Returns the seconds of work and blocked time in MPI calls that were not intercepted. Some of this time may
 * have been waiting. */
double mpi_untold_s(const struct rows *rows);

#endif
