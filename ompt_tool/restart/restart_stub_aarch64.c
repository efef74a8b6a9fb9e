/*
 * Assembly of restart.c for aarch64. The stub is where the handler was: right on top of the frame that the kernel made for a signal, which holds
 * all of the program's registers. It waits there, puts the result into the program's x0, and ends by rt_sigreturn. So it may change any
 * register; who unwinds from here finds a function that a signal's frame called, and behind that the program.
 *
 * restart_wait. x0 = the program's context, x1 = the job in the thread's restart_state, all signals blocked. Copies the job to the stack, so
 * that nested signals, each with stubs of their own, and siglongjmp are no problem. x19 = the context, from the begin on. What
 * restart_enter() finds, by program counter:
 *     .. wait_done          call not made, or interrupted: the frame at sp is valid
 *     wait_done ..          the call's result is in x0
 *     wait_stored ..        it is in the frame, without what was known
 *     wait_answered ..      it is in the program's context
 * No signal comes before the call's mask is set, but in the wait for the socket, nor from where all are blocked behind it.
 */
#include "restart_stub.h"

#include <stddef.h>
#include <signal.h>

#include "restart_state.h"

#define ASSERT_AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), #member)
_Static_assert(sizeof(struct restart_frame) == RESTART_FRAME_BYTES, "the stub copies 29 words");
ASSERT_AT(struct restart_frame, call, 64);
ASSERT_AT(struct restart_frame, args, 72);
ASSERT_AT(struct restart_frame, result, 120);
ASSERT_AT(struct restart_frame, program_mask, 128);
ASSERT_AT(struct restart_frame, wait_mask, 136);
ASSERT_AT(struct restart_frame, left, 160); /* zero where `ready` is set */
ASSERT_AT(struct restart_frame, unmask_first, 184);
ASSERT_AT(struct restart_frame, result_known, 208);
ASSERT_AT(struct restart_frame, ready, 216);
ASSERT_AT(struct restart_frame, received, 224);
ASSERT_AT(struct restart_state, base_time, 0);
ASSERT_AT(struct restart_state, base_usage, 16);
ASSERT_AT(ucontext_t, uc_mcontext.regs, 184);
ASSERT_AT(ucontext_t, uc_mcontext.regs[29], 416);
_Static_assert(sizeof(siginfo_t) == 128, "before the context in the kernel's frame");

__asm__(
    ".text\n"
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
    "    sub sp, x0, #368\n" /* 128 of siginfo_t and 240 for the frame */
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
    "    b.lt 6f\n" /* a signal of the program's: the part, as alone */
    "    b.eq 5f\n"
    "    ldrh w9, [sp, #222]\n"
    "    tst w9, #0x38\n" /* POLLERR, POLLHUP, POLLNVAL */
    "    b.eq 5f\n"
    "    ldr w0, [sp, #216]\n" /* ioctl(fd, FIONREAD, &received) */
    "    mov x1, #0x541b\n"
    "    add x2, sp, #224\n"
    "    mov x8, #29\n"
    "    svc #0\n"
    /* A reset that was being taken in had an error, but no end yet; the ioctl has waited for that. Look again, at once. */
    "    add x2, sp, #160\n"
    "    eor x20, x20, #1\n"
    "    cbnz x20, 7b\n"
    "    ldrh w9, [sp, #222]\n"
    "    tst w9, #0x30\n" /* an error without an end: a message in the error queue */
    "    b.eq 5f\n"
    "    ldrh w9, [sp, #220]\n"
    "    cmp w9, #1\n" /* nothing can be sent any more; what has come (POLLIN) is received */
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
    "    cmn x0, #38\n" /* ENOSYS: a call that stands for the program's is not there, so that stays interrupted (EINTR) */
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
    "    str x9, [sp, #136]\n" /* rt_sigprocmask(SIG_SETMASK, all): wait_mask is free */
    "    mov x0, #2\n"
    "    add x1, sp, #136\n"
    "    mov x2, #0\n"
    "    mov x3, #8\n"
    "    mov x8, #135\n"
    "    svc #0\n"
    /* The thread is seen running: a call that begins right after this one then has a known beginning. */
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
    "    nop\n" /* who unwinds looks up the instruction before a return address: this one is no function's */
    "restart_wait_leave:\n"
    "    mov x8, #139\n" /* rt_sigreturn; by these two unwinders know a signal's frame */
    "    svc #0\n"
    "restart_wait_end:\n"
    ".size restart_wait, . - restart_wait\n");
