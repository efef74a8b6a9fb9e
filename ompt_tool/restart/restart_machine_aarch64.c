/* Handler code, as restart.c. A call's result takes the place of its first argument, which is worked out from the code that made the call
 * (restart_first.h). And no register is free to lead back into the program behind a call, so none of its registers is restored by us: the
 * stub runs in the place of the handler, on top of the kernel's frame, and ends as a handler does, by rt_sigreturn. A signal that comes
 * meanwhile finds the stub, and its context is to be the program's (restart_enter); it, too, leaves through the first one's frame. */
#include "restart_machine.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/kernel.h"
#include "base/registers.h"
#include "restart.h"
#include "restart_dropped.h"
#include "restart_first.h"
#include "restart_rest.h"
#include "restart_stub.h"

enum {
    PAGE_BYTES = 4096,   /* or a part of one */
    WINDOW_BYTES = 2048, /* of code, before and behind a call */
    STACK = 31,
    FRAME_ROOM = (RESTART_FRAME_BYTES + 15) / 16 * 16,
    PLACE_BYTES = 128, /* of the kernel's frame, its siginfo_t, before the context */
};

/* ---- the first argument ---- */

static uint64_t register_of(const ucontext_t *context, unsigned number)
{
    return number == STACK ? registers_sp(context) : context->uc_mcontext.regs[number];
}

static bool read_first(struct restart_first first, const ucontext_t *context, uint64_t *value)
{
    uint64_t added = first.kind == FIRST_IS_NUMBER ? 0 : register_of(context, first.reg);
    *value = added + (uint64_t)first.number;
    switch (first.kind) {
    case FIRST_IS_NUMBER:
    case FIRST_IN_REGISTER:
        return true;
    case FIRST_IN_LOW_HALF:
        *value = (uint32_t)*value;
        return true;
    case FIRST_IN_SIGNED_HALF:
        *value = (uint64_t)(int32_t)*value;
        return true;
    default:
        break;
    }
    if (first.kind == FIRST_IS_LOST || !restart_is_readable(*value))
        return false;
    int64_t word = *(const int32_t *)*value;
    *value = first.kind == FIRST_IN_MEMORY ? *(const uint64_t *)*value : (uint64_t)word;
    if (first.kind == FIRST_IN_WORD)
        *value = (uint32_t)*value;
    return true;
}

bool restart_find_first(struct restart_state *state, const ucontext_t *context)
{
    uintptr_t call = registers_pc(context) - REGISTERS_CALL_BYTES, low = call - WINDOW_BYTES,
              high = call + WINDOW_BYTES;
    if (!restart_is_readable(low))
        low = call / PAGE_BYTES * PAGE_BYTES;
    if (!restart_is_readable(high - sizeof(uint64_t)))
        high = (call / PAGE_BYTES + 1) * PAGE_BYTES;
    const size_t bytes = sizeof(uint32_t);
    struct restart_first first =
        restart_first_find((const uint32_t *)low, (high - low) / bytes, (call - low) / bytes);
    return read_first(first, context, &state->first);
}

/* ---- where a signal finds the stub ---- */

/* The answer that the program is to have, as far as the stub has come. */
static uint64_t answer_of(const struct restart_frame *frame, const ucontext_t *outer, uintptr_t pc,
                          uint64_t result)
{
    if (pc >= (uintptr_t)restart_wait_answered)
        return outer->uc_mcontext.regs[0];
    if (frame->result_known)
        return frame->result_known + ((int64_t)result > 0 ? result : 0);
    return result;
}

static void show_program(const ucontext_t *outer, ucontext_t *context, uint64_t result)
{
    const size_t begin = offsetof(mcontext_t, regs), end = offsetof(mcontext_t, __reserved);
    memcpy((char *)&context->uc_mcontext + begin, (const char *)&outer->uc_mcontext + begin, end - begin);
    context->uc_mcontext.regs[0] = result;
    restart_set_mask(context, restart_mask_of(outer));
}

void restart_enter(struct restart_state *state, ucontext_t *context)
{
    uintptr_t pc = registers_pc(context);
    state->outer = NULL;
    state->resume = NULL;
    state->waiting = false;
    if (pc < (uintptr_t)restart_wait_enter || pc >= (uintptr_t)restart_wait_end)
        return;
    const struct restart_frame *frame = (const struct restart_frame *)registers_sp(context);
    bool is_made = pc >= (uintptr_t)restart_wait_done, is_stored = pc >= (uintptr_t)restart_wait_stored;
    uint64_t result = is_stored && pc < (uintptr_t)restart_wait_answered
                          ? frame->result
                          : (uint64_t)registers_result(context);
    bool has_rest = is_made && !is_stored && restart_has_rest(frame, result);
    state->outer = (ucontext_t *)context->uc_mcontext.regs[19];
    if (!is_made || has_rest || (!is_stored && result == (uint64_t)-EINTR)) {
        state->waiting = true;
        memcpy(&state->job, frame, sizeof state->job);
        if (has_rest)
            restart_take_rest(&state->job, result);
        result = has_rest ? state->job.result_known : (uint64_t)-EINTR;
    } else {
        result = answer_of(frame, state->outer, pc, result);
    }
    show_program(state->outer, context, result);
}

/* ---- how a context goes on ---- */

void restart_repeat(const struct restart_state *state, ucontext_t *context, long call)
{
    context->uc_mcontext.regs[0] = state->first;
    context->uc_mcontext.regs[8] = (uint64_t)call;
    context->uc_mcontext.pc -= REGISTERS_CALL_BYTES;
}

uint64_t restart_frame_place(const struct restart_state *state, const ucontext_t *context)
{
    return (uint64_t)(state->outer ? state->outer : context) - PLACE_BYTES - FRAME_ROOM;
}

/* With a shadow stack (GCS), or ThreadSanitizer around the handler, only rt_sigreturn of the handler's own may end it. */
static bool must_return(const struct restart_state *state)
{
    register uint64_t features __asm__("x16") = 1; /* is there one? */
    __asm__ volatile(
        "hint #40"
        : "+r"(
            features)); /* chkfeat: where there is, the bit is cleared; does nothing on processors of before */
    return features == 0 || state->sanitized;
}

bool restart_go_wait(struct restart_state *state, ucontext_t *context)
{
    if (must_return(state))
        return false;
    state->resume = state->outer ? state->outer : context;
    return true;
}

bool restart_go_kernel(struct restart_state *state, ucontext_t *context)
{
    struct restart_frame *job = &state->job;
    memset(job, 0, sizeof *job);
    job->state = (uint64_t)state;
    job->call = SYS_restart_syscall;
    job->program_mask = restart_mask_of(context);
    job->deadline_ns = UINT64_MAX;
    job->unmask_first = 1;
    return restart_go_wait(state, context);
}

void restart_leave(struct restart_state *state, ucontext_t *context)
{
    ucontext_t *resume = state->resume, *outer = state->outer;
    const unsigned disarmed_on_delivery = 1u << 31; /* SS_AUTODISARM */
    state->resume = NULL;
    restart_take_dropped(state);
    if (resume == NULL && outer == NULL)
        return;
    if ((unsigned)context->uc_stack.ss_flags & disarmed_on_delivery)
        kernel_call(SYS_sigaltstack, (long)&context->uc_stack, 0, 0, 0, 0, 0);
    if (resume != NULL)
        restart_wait(resume, &state->job);
    outer->uc_mcontext.regs[0] = context->uc_mcontext.regs[0];
    registers_set_pc(outer, registers_pc(context));
    restart_set_mask(outer, restart_mask_of(context));
    restart_finish(outer);
}
