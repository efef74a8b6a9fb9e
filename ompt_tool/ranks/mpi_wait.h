/* Waiting in MPI, as reported by libblame-mpi.so (base/mpi_layer.h). */
#ifndef BLAME_OMPT_TOOL_RANKS_MPI_WAIT_H
#define BLAME_OMPT_TOOL_RANKS_MPI_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/mpi_layer.h"
#include "ompt_tool/session/thread.h"

/* Registers with that library, if the process has it. [init] */
void mpi_wait_init(void);

/* Returns an address in the library's code, 0 if it is not loaded. [init] */
uintptr_t mpi_wait_layer(void);

/* Returns true if the thread, in MPI wait, has left its call without an end: by longjmp() or an exception. It
 * then works. [handler] */
bool mpi_wait_is_left(struct thread *thread, const ucontext_t *context);

/* Ends the thread's call for the other ranks. [owner] */
void mpi_wait_forget(struct thread *thread);

/* The functions that the library calls. */
extern const struct mpi_tool mpi_wait_tool;

#endif
