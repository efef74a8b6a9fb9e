/* Between libblame-mpi.so, whose functions stand in front of MPI's, and libblame.so, which keeps the threads' states. Either
 * works without the other. */
#ifndef BLAME_BASE_MPI_LAYER_H
#define BLAME_BASE_MPI_LAYER_H

#include <stdbool.h>
#include <stdint.h>

/* A call that goes on, in its function's frame. */
struct mpi_call {
    uint32_t number;  /* enum mpi_function */
    uint32_t samples; /* that hit it */
    const uintptr_t
        *frame; /* of the function: the caller's frame pointer, and the address that it returns to */
};

struct mpi_tool {
    uint32_t bytes; /* of this struct: later versions are longer */
    /* Of the calling thread. False: its end need not be told. [any] */
    bool (*begin)(struct mpi_call *call);
    void (*end)(struct mpi_call *call);
};

/* What libblame-mpi.so exports: its calls are told to that tool from now on. */
#define MPI_LAYER_ATTACH "blame_mpi_attach"
typedef void mpi_layer_attach(const struct mpi_tool *tool);

#endif
