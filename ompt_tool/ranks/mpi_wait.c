/* An MPI call costs a few stores at its start and at its end, to the thread's own lines and to the line of
 * its rank. */
#include "ompt_tool/ranks/mpi_wait.h"

#include <errno.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/os.h"
#include "base/registers.h"
#include "blame/attribute.h"
#include "blame/ranks.h"
#include "ompt_tool/ranks/ranks_join.h"

/* A function of libblame-mpi.so; NULL if that library is not loaded. (dlsym() would use the program's heap if
 * the name is missing.) */
extern mpi_layer_attach blame_mpi_attach __attribute__((weak));

static bool mpi_frame_is_on_own_stack(const struct thread *thread, uintptr_t address)
{
    return address >= thread->unwinder.own_stack_low && address < thread->unwinder.own_stack_high;
}

/* Returns true if the frame still has this return address. The frame is read by os_copy_memory(), because the
 * stack of a fiber may have been unmapped. */
static bool mpi_frame_returns_to(uintptr_t frame, uintptr_t returns_to)
{
    uintptr_t found = 0;
    int saved = errno;
    bool read = os_copy_memory(&found, frame + sizeof(found), sizeof(found));
    errno = saved;
    return read && found == returns_to;
}

/* Returns true if the MPI function that the thread called has returned or was left by a jump: its frame is
 * deeper on the stack than the address `stack`, or other frames have overwritten it. */
static bool mpi_call_is_left(const struct thread *thread, uintptr_t stack)
{
    const uintptr_t *frame = thread->mpi.frame;
    if (unlikely(!mpi_frame_is_on_own_stack(thread, (uintptr_t)frame)))
        return !mpi_frame_returns_to((uintptr_t)frame, thread->mpi.returns_to);
    return frame[1] != thread->mpi.returns_to || (stack >= (uintptr_t)frame && stack < thread->unwinder.own_stack_high);
}

bool mpi_wait_is_left(struct thread *thread, const ucontext_t *context)
{
    bool left = mpi_call_is_left(thread, registers_sp(context) - REGISTERS_FP_AT_SP);
    if (unlikely(left)) {
        thread->mpi.told = thread->mpi.told && !ranks_wait_left();
        state_set_work(thread->line);
    }
    return left;
}

void mpi_wait_forget(struct thread *thread)
{
    if (unlikely(thread->mpi.told))
        ranks_wait_end();
    thread->mpi.told = false;
}

/* Begins a wait. An MPI call inside another one is part of the outer call, because MPICH's Fortran functions
 * call its C functions. */
static bool mpi_call_begin_waiting(uint32_t number, const uintptr_t *frame, uint64_t peer)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread))
        return false;
    uint8_t state = thread->line->state;
    if (unlikely(state != STATE_WORK)) {
        if (state == STATE_ASLEEP) /* as its last sample found it */
            state_wake_up(thread->line, clock_ticks());
        else if (state == STATE_MPI_WAIT && mpi_call_is_left(thread, (uintptr_t)frame))
            state_set_work(thread->line); /* M1: the previous call has ended */
        else
            return false;
    }
    mpi_wait_forget(thread);
    ranks_come();
    thread->mpi.number = number;
    thread->mpi.samples = 0;
    thread->mpi.returns_to = frame[1];
    thread->mpi.frame = frame;
    thread->mpi.told = ranks_wait_begin(ranks_join_call(number, frame[1]), peer);
    signal_fence(); /* M1: the call is stored before the state */
    state_set_mpi_wait(thread->line);
    return true;
}

static bool mpi_call_begin(uint32_t number, const uintptr_t *frame)
{
    return mpi_call_begin_waiting(number, frame, 0);
}

static bool mpi_call_begin_for(uint32_t number, const uintptr_t *frame, uint32_t rank)
{
    return mpi_call_begin_waiting(number, frame, RANKS_PEER(rank));
}

static bool mpi_call_end(const uintptr_t *frame)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread || thread->mpi.frame != frame))
        return false;
    if (likely(thread->line->state == STATE_MPI_WAIT))
        state_set_work(thread->line);
    mpi_wait_forget(thread);
    return thread->mpi.samples > 0;
}

/* Stores the call's number of ranks and of bytes in those fields of its record that the handler's sums do not
 * use (cct/profile_format.h). */
static void mpi_call_size(uint32_t ranks, double bytes)
{
    struct thread *thread = thread_self;
    if (!thread || !thread_enter_tool(thread))
        return;
    struct profile_metric *metric =
        thread->mpi.grafts == thread->tree.grafts ? attribute_at(&thread->tree, thread->mpi.node_idx) : NULL;
    if (metric) {
        metric->waits++;
        metric->overhead += ranks;
        metric->lock_wait_here += bytes;
    }
    thread_leave_tool(thread);
}

const struct mpi_tool mpi_wait_tool = {sizeof(struct mpi_tool), mpi_call_begin, mpi_call_end, mpi_call_size,
                                       mpi_call_begin_for};

uintptr_t mpi_wait_layer(void)
{
    return (uintptr_t)blame_mpi_attach;
}

void mpi_wait_init(void)
{
    if (!blame_mpi_attach)
        return;
    ranks_join();
    blame_mpi_attach(&mpi_wait_tool);
}
