/* Between libblame-mpi.so, whose functions stand in front of MPI's, and libblame.so, which keeps the threads' states. Either
 * works without the other. */
#ifndef BLAME_BASE_MPI_LAYER_H
#define BLAME_BASE_MPI_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the calling thread; nothing that the tool keeps is in the program's memory. */
#define MPI_LAYER_LEAST offsetof(struct mpi_tool, begin_for) /* what each version has */
struct mpi_tool {
    uint32_t bytes; /* of this struct: later versions are longer */
    /* A call begins, by its enum mpi_function; frame: where its function keeps the caller's frame pointer, and behind it the
     * address that it returns to. False: its end need not be told. [any] */
    bool (*begin)(uint32_t number, const uintptr_t *frame);
    /* The call of that frame ends. True if samples hit it. [any] */
    bool (*end)(const uintptr_t *frame);
    /* Of the call that ended last, if samples hit it: how many ranks are in its communicator, and how many bytes it sent or
     * received; 0: not known. [any] */
    void (*size)(uint32_t ranks, double bytes);
    /* begin(), of a call that waits for that rank of MPI_COMM_WORLD and for no other. [any] */
    bool (*begin_for)(uint32_t number, const uintptr_t *frame, uint32_t rank);
};

/* What libblame-mpi.so exports: its calls are told to that tool from now on. */
#define MPI_LAYER_ATTACH "blame_mpi_attach"
typedef void mpi_layer_attach(const struct mpi_tool *tool);

#endif
