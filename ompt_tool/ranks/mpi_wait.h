/* Waiting in MPI calls, which libblame-mpi.so reports (base/mpi_layer.h). */
#ifndef BLAME_OMPT_TOOL_RANKS_MPI_WAIT_H
#define BLAME_OMPT_TOOL_RANKS_MPI_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/mpi_layer.h"
#include "ompt_tool/session/thread.h"

/* Registers the tool with libblame-mpi.so, if the process has loaded it. [init] */
void mpi_wait_init(void);

/* Returns an address in the code of libblame-mpi.so; 0 if it is not loaded. [init] */
uintptr_t mpi_wait_layer(void);

/* For a thread in the state MPI wait: returns true if it has left its call by longjmp() or an exception, and
 * then sets its state to work. [handler] */
bool mpi_wait_is_left(struct thread *thread, const ucontext_t *context);

/* If the rank's line counts the thread's wait, removes the wait from it. [owner] */
void mpi_wait_forget(struct thread *thread);

/* The functions that libblame-mpi.so calls. */
extern const struct mpi_tool mpi_wait_tool;

#endif
