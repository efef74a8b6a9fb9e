/* The interface between libblame-mpi.so, whose functions precede MPI's, and libblame.so, which keeps the
 * threads' states. Each works without the other. */
#ifndef BLAME_BASE_MPI_LAYER_H
#define BLAME_BASE_MPI_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All calls concern the calling thread. The tool stores nothing in the program's memory. */
#define MPI_LAYER_LEAST offsetof(struct mpi_tool, begin_for) /* size common to all versions */
struct mpi_tool {
    uint32_t bytes; /* size of this struct; later versions are longer */
    /* A call begins; the number is its enum mpi_function. frame[0] is the caller's frame pointer, frame[1]
     * the return address. Returns false if its end need not be reported. [any] */
    bool (*begin)(uint32_t number, const uintptr_t *frame);
    /* The call with that frame ends. Returns true if samples hit it. [any] */
    bool (*end)(const uintptr_t *frame);
    /* Reports about the last ended call that samples hit: ranks in its communicator, and bytes sent or
     * received; 0: unknown. [any] */
    void (*size)(uint32_t ranks, double bytes);
    /* Like begin(), for a call that waits for that rank of MPI_COMM_WORLD only. [any] */
    bool (*begin_for)(uint32_t number, const uintptr_t *frame, uint32_t rank);
};

/* The function that libblame-mpi.so exports. After it, calls are reported to that tool. */
#define MPI_LAYER_ATTACH "blame_mpi_attach"
typedef void mpi_layer_attach(const struct mpi_tool *tool);

#endif
