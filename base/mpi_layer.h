/* The interface between libblame-mpi.so, whose functions are called in place of the MPI library's, and
 * libblame.so, which keeps the threads' states. Each library works without the other. */
#ifndef BLAME_BASE_MPI_LAYER_H
#define BLAME_BASE_MPI_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of libblame.so that libblame-mpi.so calls. They act on the calling thread, and do not change the
 * program's memory. */
#define MPI_LAYER_LEAST offsetof(struct mpi_tool, begin_for) /* size of the first version of the structure */
struct mpi_tool {
    uint32_t bytes; /* size of this struct; later versions of it are longer */
    /* Reports the start of an MPI call. `number` is an enum mpi_function; frame[0] is the caller's frame
     * pointer, frame[1] the return address. Returns false if the end of the call need not be reported. [any] */
    bool (*begin)(uint32_t number, const uintptr_t *frame);
    /* Reports the end of the call that began with this frame. Returns true if a sample was taken in the call.
     * [any] */
    bool (*end)(const uintptr_t *frame);
    /* Reports the sizes of the last call in which a sample was taken: number of ranks in its communicator,
     * and bytes sent or received; 0: unknown. [any] */
    void (*size)(uint32_t ranks, double bytes);
    /* Like begin(), for a call that waits only for this rank of MPI_COMM_WORLD. [any] */
    bool (*begin_for)(uint32_t number, const uintptr_t *frame, uint32_t rank);
};

/* Name and type of the function in libblame-mpi.so that makes the library report calls to `tool`. */
#define MPI_LAYER_ATTACH "blame_mpi_attach"
typedef void mpi_layer_attach(const struct mpi_tool *tool);

#endif
