/* The names of MPI functions in rows. A function has the same name in C and Fortran, and the same for MPI_X
 * and PMPI_X. */
#ifndef BLAME_COMMAND_ROWS_MPI_NAMES_H
#define BLAME_COMMAND_ROWS_MPI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "command/rows/row.h"

/* Returns the name of an enum mpi_function; "<unknown call of MPI>" for any other number. */
const char *row_mpi_call_name(uint64_t number);

#define MPI_NAME_BYTES 64

/* Returns the name that reports show for a function of a module. For an MPI function, this is the name in C,
 * which may be written to `text`. For other functions, it is `name`. */
const char *row_mpi_function_name(const char *module, const char *name, char text[MPI_NAME_BYTES]);

/* Returns whether a row is an MPI function whose waiting for other ranks libblame-mpi.so would have to report
 * but did not. Such a row is a frame on the call path. */
bool row_mpi_wait_is_unreported(const struct row *row);

#endif
