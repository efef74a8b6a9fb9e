/* Handler code; the rules of restart.c hold. A call's result replaces its first argument, which is found by
 * means of the code before the call (restart_first.h). After a call, no register is free for a jump back into
 * the program, so the tool cannot restore the registers itself. Instead, the stub runs in place of the
 * handler, on top of the kernel's frame, and ends like a handler, by rt_sigreturn. A signal that comes
 * meanwhile interrupts the stub. restart_enter() makes that signal's context show the program, and its
 * handler also leaves through the first signal's frame. */
#include "restart_machine.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/kernel.h"
#include "base/registers.h"
#include "restart.h"
#include "restart_first.h"
#include "restart_rest.h"

/* ---- the machine code around a call ---- */

/* The kernel leaves the call's number in x8, so only the instruction is checked. */

enum {
    SUPERVISOR_CALL = 0xd4000001, /* svc #0 */
    PAGE_BYTES = 4096,            /* the page size, or a number that divides it */
    CALL_LIMIT = 1024,            /* larger numbers are not system calls */
};

long restart_decode_call_before(const ucontext_t *context)
{
    uintptr_t call = registers_pc(context) - REGISTERS_CALL_BYTES;
    if (call % PAGE_BYTES == PAGE_BYTES - REGISTERS_CALL_BYTES && !restart_is_readable(call - REGISTERS_CALL_BYTES))
        return RESTART_DECODE_NOT_A_CALL;
    if (*(const uint32_t *)call != SUPERVISOR_CALL)
        return RESTART_DECODE_NOT_A_CALL;
    long number = registers_number(context);
    return number >= 0 && number < CALL_LIMIT ? number : RESTART_DECODE_NO_NUMBER;
}

/* The number of a call stays in its register. */
void restart_know_syscall(uintptr_t behind)
{
    (void)behind;
}

bool restart_decode_at_syscall(const ucontext_t *context)
{
    return *(const uint32_t *)registers_pc(context) == SUPERVISOR_CALL;
}

/* ---- the assembly ---- */

/* The stub is where the handler was: on top of the frame that the kernel made for a signal, which holds all
 * of the program's registers. It waits there, stores the result in the program's x0, and ends by
 * rt_sigreturn. So it may change any register. To an unwinder, the stub is a function that the signal's frame
 * called, and the program comes after that frame.
 *
 * restart_wait: x0 = the program's context, x1 = the job in the thread's restart_state, all signals blocked.
 * It copies the job to the stack, so that nested signals, each with a stub of its own, and siglongjmp do no
 * harm. x19 = the context, from the start. The program counter tells restart_enter() how far the stub has
 * come:
 *     .. wait_done          the call was not made, or was interrupted: the frame at sp is valid
 *     wait_done ..          the call's result is in x0
 *     wait_stored ..        the result is in the frame, without the bytes moved before
 *     wait_answered ..      the result is in the program's context
 * No signal comes before the call's mask is set, except in the wait for the socket, nor after all signals are
 * blocked again after the call. */

#define ASSERT_AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), #member)
_Static_assert(sizeof(struct restart_frame) == RESTART_FRAME_BYTES, "the stub copies 29 words");
ASSERT_AT(struct restart_frame, call, 64);
ASSERT_AT(struct restart_frame, args, 72);
ASSERT_AT(struct restart_frame, result, 120);
ASSERT_AT(struct restart_frame, program_mask, 128);
ASSERT_AT(struct restart_frame, wait_mask, 136);
ASSERT_AT(struct restart_frame, left, 160); /* zero if `ready` is set */
ASSERT_AT(struct restart_frame, unmask_first, 184);
ASSERT_AT(struct restart_frame, result_known, 208);
ASSERT_AT(struct restart_frame, ready, 216);
ASSERT_AT(struct restart_frame, received, 224);
ASSERT_AT(struct restart_state, base_time, 0);
ASSERT_AT(struct restart_state, base_usage, 16);
ASSERT_AT(ucontext_t, uc_mcontext.regs, 184);
ASSERT_AT(ucontext_t, uc_mcontext.regs[29], 416);
_Static_assert(sizeof(siginfo_t) == 128, "the kernel's frame has 128 bytes of siginfo_t before the context");

__asm__(".text\n"
        ".globl restart_wait, restart_wait_enter, restart_wait_done, restart_wait_stored, restart_wait_answered\n"
        ".globl restart_wait_leave, restart_wait_end, restart_finish\n"
        ".hidden restart_wait, restart_wait_enter, restart_wait_done, restart_wait_stored, "
        "restart_wait_answered\n"
        ".hidden restart_wait_leave, restart_wait_end, restart_finish\n"
        ".type restart_wait, %function\n"
        ".type restart_finish, %function\n"
        ".p2align 4\n"
        "restart_finish:\n"
        "    hint #34\n" /* bti c */
        "    mov x19, x0\n"
        "    sub sp, x0, #128\n"
        "    b restart_wait_leave\n"
        ".size restart_finish, . - restart_finish\n"
        ".p2align 4\n"
        "restart_wait:\n"
        "restart_wait_enter:\n"
        "    .cfi_startproc\n"
        "    hint #34\n"
        "    mov x19, x0\n"
        "    ldr x29, [x0, #416]\n"
        "    adr x30, restart_wait_leave\n"
        "    sub sp, x0, #368\n" /* 128 bytes of siginfo_t and 240 bytes of frame */
        "    .cfi_def_cfa sp, 240\n"
        "    mov x9, #0\n"
        "1:  ldr x10, [x1, x9]\n"
        "    str x10, [sp, x9]\n"
        "    add x9, x9, #8\n"
        "    cmp x9, #232\n"
        "    b.lo 1b\n"
        "    ldrh w9, [sp, #220]\n" /* ready.events */
        "    cbz w9, 5f\n"
        "    mov x20, #0\n"
        "    mov x2, #0\n"
        "7:  add x0, sp, #216\n" /* ppoll(&ready, 1, NULL, &program_mask) */
        "    mov x1, #1\n"
        "    add x3, sp, #128\n"
        "    mov x4, #8\n"
        "    mov x8, #73\n"
        "    svc #0\n"
        "    cmp x0, #0\n"
        "    b.lt 6f\n" /* a signal for the program is pending: return only the part that is already done */
        "    b.eq 5f\n"
        "    ldrh w9, [sp, #222]\n"
        "    tst w9, #0x38\n" /* POLLERR, POLLHUP, POLLNVAL */
        "    b.eq 5f\n"
        "    ldr w0, [sp, #216]\n" /* ioctl(fd, FIONREAD, &received) */
        "    mov x1, #0x541b\n"
        "    add x2, sp, #224\n"
        "    mov x8, #29\n"
        "    svc #0\n"
        /* If the kernel was processing a reset, there was an error, but the connection had not ended yet. The
         * ioctl has waited for the end, so poll again, without waiting. */
        "    add x2, sp, #160\n"
        "    eor x20, x20, #1\n"
        "    cbnz x20, 7b\n"
        "    ldrh w9, [sp, #222]\n"
        /* an error while the connection has not ended: there is a message in the error queue */
        "    tst w9, #0x30\n"
        "    b.eq 5f\n"
        "    ldrh w9, [sp, #220]\n"
        /* nothing can be sent any more, but bytes that have arrived (POLLIN) can be received */
        "    cmp w9, #1\n"
        "    b.ne 6f\n"
        "    ldr w9, [sp, #224]\n"
        "    cbnz w9, 5f\n"
        "6:  ldr x0, [sp, #208]\n"
        "    b 4f\n"
        "5:  ldr x9, [sp, #184]\n"
        "    cbz x9, 1f\n"
        "    mov x0, #2\n" /* rt_sigprocmask(SIG_SETMASK, program_mask) */
        "    add x1, sp, #128\n"
        "    mov x2, #0\n"
        "    mov x3, #8\n"
        "    mov x8, #135\n"
        "    svc #0\n"
        "1:  ldr x8, [sp, #64]\n"
        "    ldp x0, x1, [sp, #72]\n"
        "    ldp x2, x3, [sp, #88]\n"
        "    ldp x4, x5, [sp, #104]\n"
        "    svc #0\n"
        "restart_wait_done:\n"
        /* ENOSYS: the kernel lacks the call that the stub made, so the program's call returns EINTR */
        "    cmn x0, #38\n"
        "    mov x9, #-4\n"
        "    csel x0, x9, x0, eq\n"
        "    str x0, [sp, #120]\n"
        "restart_wait_stored:\n"
        "    ldr x9, [sp, #208]\n"
        "    cbz x9, 4f\n"
        "    cmp x0, #0\n"
        "    csel x0, xzr, x0, lt\n"
        "    add x0, x0, x9\n"
        "4:  str x0, [x19, #184]\n"
        "restart_wait_answered:\n"
        "    ldr x9, [sp, #184]\n"
        "    cbz x9, 2f\n"
        "    mov x9, #-1\n"
        "    str x9, [sp, #136]\n" /* rt_sigprocmask(SIG_SETMASK, all); wait_mask is no longer needed */
        "    mov x0, #2\n"
        "    add x1, sp, #136\n"
        "    mov x2, #0\n"
        "    mov x3, #8\n"
        "    mov x8, #135\n"
        "    svc #0\n"
        /* Sets the baseline, because the thread is running now. If another call follows at once, its start is
         * then known. */
        "2:  mov x0, #1\n" /* clock_gettime(CLOCK_MONOTONIC, &state->base_time) */
        "    ldr x1, [sp]\n"
        "    mov x8, #113\n"
        "    svc #0\n"
        "    mov x0, #1\n" /* getrusage(RUSAGE_THREAD, &state->base_usage) */
        "    ldr x1, [sp]\n"
        "    add x1, x1, #16\n"
        "    mov x8, #165\n"
        "    svc #0\n"
        "    add sp, sp, #240\n"
        "    .cfi_def_cfa_offset 0\n"
        "    .cfi_endproc\n"
        /* unwinders look up the instruction before a return address, so this one must belong to no function */
        "    nop\n"
        "restart_wait_leave:\n"
        /* rt_sigreturn; unwinders recognise a signal's frame by these two instructions */
        "    mov x8, #139\n"
        "    svc #0\n"
        "restart_wait_end:\n"
        ".size restart_wait, . - restart_wait\n");

/* ---- where a signal finds the stub, and how a context continues ---- */

enum {
    WINDOW_BYTES = 2048, /* number of bytes of code that are searched before a call, and after it */
    STACK = 31,
    FRAME_ROOM = (RESTART_FRAME_BYTES + 15) / 16 * 16,
    PLACE_BYTES = 128, /* size in bytes of the part of the kernel's frame before the context: its siginfo_t */
};

/* ---- the first argument ---- */

static uint64_t restart_context_register(const ucontext_t *context, unsigned number)
{
    return number == STACK ? registers_sp(context) : context->uc_mcontext.regs[number];
}

static bool read_first_argument(struct restart_first first, const ucontext_t *context, uint64_t *value)
{
    uint64_t added = first.kind == FIRST_IS_NUMBER ? 0 : restart_context_register(context, first.reg);
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
    struct restart_first first = restart_first_find((const uint32_t *)low, (high - low) / bytes, (call - low) / bytes);
    return read_first_argument(first, context, &state->first);
}

/* ---- where a signal finds the stub ---- */

/* Returns the result of the program's call, as far as the stub had come at pc. */
static uint64_t result_of_stub(const struct restart_frame *frame, const ucontext_t *outer, uintptr_t pc,
                               uint64_t result)
{
    if (pc >= (uintptr_t)restart_wait_answered)
        return outer->uc_mcontext.regs[0];
    if (frame->result_known)
        return frame->result_known + ((int64_t)result > 0 ? result : 0);
    return result;
}

static void restart_context_show_program(const ucontext_t *outer, ucontext_t *context, uint64_t result)
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
    uint64_t result =
        is_stored && pc < (uintptr_t)restart_wait_answered ? frame->result : (uint64_t)registers_result(context);
    bool has_rest = is_made && !is_stored && restart_has_rest(frame, result);
    state->outer = (ucontext_t *)context->uc_mcontext.regs[19];
    if (!is_made || has_rest || (!is_stored && result == (uint64_t)-EINTR)) {
        state->waiting = true;
        memcpy(&state->job, frame, sizeof state->job);
        if (has_rest)
            restart_take_rest(&state->job, result);
        result = has_rest ? state->job.result_known : (uint64_t)-EINTR;
    } else {
        result = result_of_stub(frame, state->outer, pc, result);
    }
    restart_context_show_program(state->outer, context, result);
}

/* ---- how a context continues ---- */

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

/* Returns true if the handler must end by its own rt_sigreturn, because there is a shadow stack (GCS), or
 * because ThreadSanitizer called the handler. */
static bool restart_handler_must_return(const struct restart_state *state)
{
    register uint64_t features __asm__("x16") = 1; /* the question is whether there is a shadow stack */
    __asm__ volatile("hint #40"
                     /* chkfeat clears the bit if there is a shadow stack; older processors ignore it */
                     : "+r"(features));
    return features == 0 || state->sanitized;
}

bool restart_go_wait(struct restart_state *state, ucontext_t *context)
{
    if (restart_handler_must_return(state))
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

void restart_machine_leave(struct restart_state *state, ucontext_t *context)
{
    ucontext_t *resume = state->resume, *outer = state->outer;
    const unsigned disarmed_on_delivery = 1u << 31; /* SS_AUTODISARM */
    state->resume = NULL;
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
