/* Waits in MPI calls, which libblame-mpi.so reports (base/mpi_layer.h). */
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

/* Returns true if the thread, in the state MPI wait, has left its call by longjmp() or an exception. The
 * thread's state then becomes work. [handler] */
bool mpi_wait_is_left(struct thread *thread, const ucontext_t *context);

/* Removes the thread's wait from the rank's line, if the line counts it. [owner] */
void mpi_wait_forget(struct thread *thread);

/* The functions that libblame-mpi.so calls. */
extern const struct mpi_tool mpi_wait_tool;

#endif
