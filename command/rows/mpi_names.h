/* What calls of MPI's are called in rows: one name in C and in Fortran, of MPI_X and of PMPI_X. */
#ifndef BLAME_COMMAND_ROWS_MPI_NAMES_H
#define BLAME_COMMAND_ROWS_MPI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "command/rows/row.h"

/* Of an enum mpi_function; what is none has a name, too. */
const char *mpi_call_name(uint64_t number);

#define MPI_NAME_BYTES 64

/* Of a function by its module and name; the name itself, where it is none of MPI's. Else it may be put into text. */
const char *mpi_function_name(const char *module, const char *name, char text[MPI_NAME_BYTES]);

/* Whether it is in a call of MPI's that may wait for other ranks, and nobody has told that it waits: a frame on the path, without
 * libblame-mpi.so. */
bool mpi_is_untold(const struct row *row);

#endif
