/* Handler code, as restart.c. All arguments of a call outlive it here, and a context can be made to go on in the stub: the registers that it
 * may change, rcx and r11, are of no use to the program behind a system call. */
#include "restart_machine.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/kernel.h"
#include "base/registers.h"
#include "restart.h"
#include "restart_decode.h"
#include "restart_dropped.h"
#include "restart_rest.h"
#include "restart_stub.h"

/* The vector registers are the program's already: signals come only behind the xrstor. */
static void enter_resume(ucontext_t *context, uintptr_t rip)
{
    greg_t *gregs = context->uc_mcontext.gregs;
    if (rip == (uintptr_t)restart_resume_switched) {
        gregs[REG_RIP] = gregs[REG_R11] + 2;
        gregs[REG_RAX] = -EINTR;
        return;
    }
    const ucontext_t *copy = (const ucontext_t *)gregs[rip < (uintptr_t)restart_resume_rcx ? REG_RBX : REG_RCX];
    memcpy(gregs, copy->uc_mcontext.gregs, REG_CSGSFS * sizeof gregs[0]);
}

static void show_program(const struct restart_frame *frame, ucontext_t *context, uint64_t result)
{
    greg_t *gregs = context->uc_mcontext.gregs;
    static const int arguments[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    for (int i = 0; i < 6; i++)
        gregs[arguments[i]] = (greg_t)frame->program_args[i];
    gregs[REG_RAX] = (greg_t)result;
    gregs[REG_RIP] = (greg_t)frame->pc;
    gregs[REG_RSP] += RESTART_RED_ZONE_BYTES + RESTART_FRAME_BYTES;
}

static void enter_wait(struct restart_state *state, ucontext_t *context, uintptr_t rip)
{
    greg_t *gregs = context->uc_mcontext.gregs;
    if (rip == (uintptr_t)restart_wait_leave) {
        gregs[REG_RIP] = gregs[REG_RCX];
        return;
    }
    const struct restart_frame *frame = (const struct restart_frame *)gregs[REG_RSP];
    bool is_made = rip >= (uintptr_t)restart_wait_done, is_stored = rip >= (uintptr_t)restart_wait_stored;
    uint64_t result = is_stored ? frame->result : (uint64_t)gregs[REG_RAX];
    bool has_rest = rip == (uintptr_t)restart_wait_done && restart_has_rest(frame, result);
    if (!is_made || has_rest || (!is_stored && result == (uint64_t)-EINTR)) {
        state->waiting = true;
        memcpy(&state->job, frame, sizeof state->job);
        if (has_rest)
            restart_take_rest(&state->job, result);
        result = has_rest ? state->job.result_known : (uint64_t)-EINTR;
    } else if (frame->result_known && !is_stored) {
        result = frame->result_known + ((int64_t)result > 0 ? result : 0);
    }
    restart_set_mask(context, frame->program_mask);
    show_program(frame, context, result);
}

void restart_enter(struct restart_state *state, ucontext_t *context)
{
    greg_t *gregs = context->uc_mcontext.gregs;
    uintptr_t rip = (uintptr_t)gregs[REG_RIP];
    state->resume = NULL;
    state->waiting = false;
    if (rip >= (uintptr_t)restart_wait_enter && rip < (uintptr_t)restart_wait_end)
        enter_wait(state, context, rip);
    else if (rip >= (uintptr_t)restart_resume && rip < (uintptr_t)restart_resume_end)
        enter_resume(context, rip);
    else if (gregs[REG_RAX] == SYS_restart_syscall && restart_decode_at_syscall(context)) {
        /* It was about to be issued: the same as interrupted, the restart block is still the kernel's. */
        gregs[REG_RIP] += 2;
        gregs[REG_RAX] = -EINTR;
    }
}

bool restart_find_first(struct restart_state *state, const ucontext_t *context)
{
    state->first = registers_argument(context, 0);
    return true;
}

void restart_repeat(const struct restart_state *state, ucontext_t *context, long call)
{
    (void)state;
    context->uc_mcontext.gregs[REG_RAX] = call;
    context->uc_mcontext.gregs[REG_RIP] -= 2;
}

uint64_t restart_frame_place(const struct restart_state *state, const ucontext_t *context)
{
    (void)state;
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP] - RESTART_RED_ZONE_BYTES - RESTART_FRAME_BYTES;
}

bool restart_go_wait(struct restart_state *state, ucontext_t *context)
{
    greg_t *gregs = context->uc_mcontext.gregs;
    gregs[REG_RCX] = (greg_t)&state->job;
    gregs[REG_RIP] = (greg_t)restart_wait_enter;
    restart_set_mask(context, ~(uint64_t)0);
    return true;
}

/* With a shadow stack (CET), or ThreadSanitizer around the handler, only rt_sigreturn may end it. */
static bool must_return(const struct restart_state *state)
{
    uint64_t shadow_stack = 0;
    __asm__ volatile("rdsspq %0" : "+r"(shadow_stack)); /* does nothing without one */
    return shadow_stack != 0 || state->sanitized;
}

bool restart_go_kernel(struct restart_state *state, ucontext_t *context)
{
    if (must_return(state))
        return false;
    state->resume = context;
    return true;
}

void restart_leave(struct restart_state *state, ucontext_t *context)
{
    bool resumes = state->resume != NULL;
    const unsigned disarmed_on_delivery = 1u << 31; /* SS_AUTODISARM */
    state->resume = NULL;
    restart_take_dropped(state);
    if (!resumes)
        return;
    uint64_t words[RESTART_CONTEXT_BYTES / sizeof(uint64_t)];
    uint64_t place = (uint64_t)context->uc_mcontext.gregs[REG_RSP] - RESTART_RED_ZONE_BYTES - RESTART_CONTEXT_BYTES;
    memcpy(words, context, sizeof words);
    if ((unsigned)context->uc_stack.ss_flags & disarmed_on_delivery)
        kernel_call(SYS_sigaltstack, (uint64_t)&context->uc_stack, 0, 0, 0, 0, 0);
    restart_resume(place & ~(uint64_t)15, words, context->uc_mcontext.fpregs);
}
