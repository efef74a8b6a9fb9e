/* Two stores to the thread's own lines at the begin of a call, and two at its end. */
#include "ompt_tool/mpi_wait.h"

#include <stddef.h>

#include "base/atomics.h"

/* libblame-mpi.so's. (Asking by name for what is not there takes the program's heap.) */
extern mpi_layer_attach blame_mpi_attach __attribute__((weak));

/* True if the place on the stack lies further out than the call's function: that has returned, or was jumped out of. */
static bool is_behind(const struct thread *thread, const struct mpi_call *call, uintptr_t stack)
{
    uintptr_t frame = (uintptr_t)call->frame;
    return stack >= frame && stack < thread->unwinder.own_stack_high &&
           frame >= thread->unwinder.own_stack_low;
}

static void leave(struct thread *thread)
{
    state_set_work(thread->line);
    signal_fence(); /* the handler finds a call where it finds the state */
    store_relaxed(&thread->mpi, NULL);
}

bool mpi_wait_is_left(struct thread *thread, const ucontext_t *context)
{
    bool left = is_behind(thread, thread->mpi, (uintptr_t)context->uc_mcontext.gregs[REG_RSP]);
    if (unlikely(left))
        leave(thread);
    return left;
}

/* A call inside a call is the outer one's: MPICH's Fortran calls its C. */
static bool begin(struct mpi_call *call)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread))
        return false;
    uint8_t state = thread->line->state;
    if (unlikely(state != STATE_WORK) &&
        !(state == STATE_MPI_WAIT && is_behind(thread, thread->mpi, (uintptr_t)call->frame)))
        return false;
    store_relaxed(&thread->mpi, call);
    signal_fence(); /* as above */
    state_set_mpi_wait(thread->line);
    return true;
}

static void end(struct mpi_call *call)
{
    struct thread *thread = thread_self;
    if (likely(thread && thread->mpi == call && thread->line->state == STATE_MPI_WAIT))
        leave(thread);
}

const struct mpi_tool mpi_wait_tool = {sizeof(struct mpi_tool), begin, end};

uintptr_t mpi_wait_layer(void)
{
    return (uintptr_t)blame_mpi_attach;
}

void mpi_wait_init(void)
{
    if (blame_mpi_attach)
        blame_mpi_attach(&mpi_wait_tool);
}
