/* The names of MPI calls in rows: one name for C and Fortran, for MPI_X and PMPI_X. */
#ifndef BLAME_COMMAND_ROWS_MPI_NAMES_H
#define BLAME_COMMAND_ROWS_MPI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "command/rows/row.h"

/* Returns the name of an enum mpi_function, also of an unknown number. */
const char *mpi_call_name(uint64_t number);

#define MPI_NAME_BYTES 64

/* Returns the name of a function, given its module and name: its MPI name, perhaps made in `text`, or the
 * name itself if it is not part of MPI. */
const char *mpi_function_name(const char *module, const char *name, char text[MPI_NAME_BYTES]);

/* Returns whether a row is in an MPI call that may wait for other ranks without libblame-mpi.so reporting
 * that it waits: the call is a frame on the path. */
bool mpi_is_untold(const struct row *row);

#endif
