/* Waiting in MPI, as libblame-mpi.so tells of it (base/mpi_layer.h). */
#ifndef BLAME_OMPT_TOOL_RANKS_MPI_WAIT_H
#define BLAME_OMPT_TOOL_RANKS_MPI_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/mpi_layer.h"
#include "ompt_tool/session/thread.h"

/* Begins to listen, if the process has that library. [init] */
void mpi_wait_init(void);

/* An address in its code, 0: it is not there. [init] */
uintptr_t mpi_wait_layer(void);

/* True if the thread, in MPI wait, has left its call without an end: by longjmp() or an exception. Then it works. [handler] */
bool mpi_wait_is_left(struct thread *thread, const ucontext_t *context);

/* The thread is in no call any more, as far as other ranks are concerned. [owner] */
void mpi_wait_forget(struct thread *thread);

/* What the library calls. */
extern const struct mpi_tool mpi_wait_tool;

#endif
