/*
 * Assembly of restart.c for x86-64. Both pieces run as if they were part of the program's system call: whatever register
 * the program may count on after a `syscall` instruction (all but rax, rcx and r11) has the program's value
 * when they are done.
 *
 * restart_wait_enter. Entered by rt_sigreturn, all signals blocked, rcx = the job in the thread's
 * restart_state, everything else as in the program. Copies the job to the stack below the red zone, so that
 * nested signals, each with stubs of their own, and siglongjmp are no problem. What restart_enter() finds, by
 * program counter:
 *     .. wait_unmasked      signals blocked, no delivery possible but in the wait for the socket
 *     .. wait_done          call not made, or interrupted: the frame at rsp is valid
 *     wait_done ..          the call's result is in rax; with what was known it goes to the frame
 *     .. wait_leave         the result is in the frame, the program's registers are in the frame
 *     wait_leave            everything is the program's again, rcx = where it goes on
 *
 * restart_resume. Called at the end of the handler, all signals blocked, rdi = where the program's context is copied to, rsi = the context, rdx =
 * its vector registers. What rt_sigreturn does, but the kernel keeps its restart block. The kernel's frame may be on an alternate stack, which
 * the next signal's frame overwrites: so the context is copied to the interrupted stack, below the red zone, before signals can come. The vector
 * registers come first, as they may be in that place. The stack pointer stays below the copy until the last instruction but one.
 *     .. resume_rcx         rbx = the copy             (signals can come from resume_unmasked on)
 *     .. resume_switched    rcx = the copy
 *     resume_switched       everything is the program's again, r11 = its syscall instruction, rax =
 * restart_syscall
 */
#include "restart_stub.h"

#include <stddef.h>

#include "restart_state.h"

#define ASSERT_AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), #member)
#define GREG(n)                         (40 + 8 * (n))
_Static_assert(sizeof(struct restart_frame) == RESTART_FRAME_BYTES, "the stub copies 29 words");
ASSERT_AT(struct restart_frame, pc, 8);
ASSERT_AT(struct restart_frame, program_args, 16);
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
ASSERT_AT(ucontext_t, uc_mcontext.gregs[REG_R8], GREG(0));
ASSERT_AT(ucontext_t, uc_mcontext.gregs[REG_RDI], GREG(8));
ASSERT_AT(ucontext_t, uc_mcontext.gregs[REG_RSP], GREG(15));
ASSERT_AT(ucontext_t, uc_mcontext.gregs[REG_EFL], GREG(17));
ASSERT_AT(ucontext_t, uc_mcontext.fpregs, 224);
ASSERT_AT(ucontext_t, uc_sigmask, 296);
_Static_assert(RESTART_CONTEXT_BYTES == 38 * 8, "the stub copies 38 words");

__asm__(".text\n"
        ".globl restart_wait_enter, restart_wait_unmasked, restart_wait_done, restart_wait_stored\n"
        ".globl restart_wait_leave, restart_wait_end\n"
        ".hidden restart_wait_enter, restart_wait_unmasked, restart_wait_done, restart_wait_stored\n"
        ".hidden restart_wait_leave, restart_wait_end\n"
        ".type restart_wait_enter, @function\n"
        ".p2align 4\n"
        "restart_wait_enter:\n"
        "    .cfi_startproc\n"
        "    leaq -360(%rsp), %rsp\n" /* 128 of red zone and 232 of frame */
        "    .cfi_def_cfa %rsp, 360\n"
        "    .cfi_offset %rip, 8 - 360\n"
        "    .set restart_word, 0\n"
        "    .rept 29\n"
        "    movq restart_word(%rcx), %r11\n"
        "    movq %r11, restart_word(%rsp)\n"
        "    .set restart_word, restart_word + 8\n"
        "    .endr\n"
        "    cmpw $0, 220(%rsp)\n" /* ready.events */
        "    je 5f\n"
        "    xorl %edx, %edx\n"
        "    xorl %r9d, %r9d\n"
        "7:  movl $271, %eax\n" /* ppoll(&ready, 1, NULL, &program_mask) */
        "    leaq 216(%rsp), %rdi\n"
        "    movl $1, %esi\n"
        "    leaq 128(%rsp), %r10\n"
        "    movl $8, %r8d\n"
        "    syscall\n"
        "    testq %rax, %rax\n"
        "    js 6f\n" /* a signal of the program's: the part, as alone */
        "    je 5f\n"
        "    testb $0x38, 222(%rsp)\n" /* POLLERR, POLLHUP, POLLNVAL */
        "    je 5f\n"
        "    movl $16, %eax\n" /* ioctl(fd, FIONREAD, &received) */
        "    movl 216(%rsp), %edi\n"
        "    movl $0x541b, %esi\n"
        "    leaq 224(%rsp), %rdx\n"
        "    syscall\n"
        /* A reset that was being taken in had an error, but no end yet; the ioctl has waited for that. Look again, at once. */
        "    leaq 160(%rsp), %rdx\n"
        "    xorl $1, %r9d\n"
        "    jnz 7b\n"
        "    testb $0x30, 222(%rsp)\n" /* an error without an end: a message in the error queue */
        "    je 5f\n"
        "    cmpw $1, 220(%rsp)\n" /* nothing can be sent any more; what has come (POLLIN) is received */
        "    jne 6f\n"
        "    cmpl $0, 224(%rsp)\n"
        "    jne 5f\n"
        "6:  movq 208(%rsp), %r11\n"
        "    jmp 4f\n"
        "5:  cmpq $0, 184(%rsp)\n"
        "    je 1f\n"
        "    movl $14, %eax\n" /* rt_sigprocmask(SIG_SETMASK, program_mask) */
        "    movl $2, %edi\n"
        "    leaq 128(%rsp), %rsi\n"
        "    xorl %edx, %edx\n"
        "    movl $8, %r10d\n"
        "    syscall\n"
        "restart_wait_unmasked:\n"
        "1:  movq 64(%rsp), %rax\n"
        "    movq 72(%rsp), %rdi\n"
        "    movq 80(%rsp), %rsi\n"
        "    movq 88(%rsp), %rdx\n"
        "    movq 96(%rsp), %r10\n"
        "    movq 104(%rsp), %r8\n"
        "    movq 112(%rsp), %r9\n"
        "    syscall\n"
        "restart_wait_done:\n"
        "    movq %rax, %r11\n"
        "    movq 208(%rsp), %rcx\n"
        "    testq %rcx, %rcx\n"
        "    je 4f\n"
        "    testq %rax, %rax\n"
        "    jns 3f\n"
        "    xorl %r11d, %r11d\n"
        "3:  addq %rcx, %r11\n"
        "4:  movq %r11, 120(%rsp)\n"
        "restart_wait_stored:\n"
        "    cmpq $0, 184(%rsp)\n"
        "    je 2f\n"
        "    movq $-1, 136(%rsp)\n" /* rt_sigprocmask(SIG_SETMASK, all): wait_mask is free, and rsp stays the
                                       frame */
        "    movl $14, %eax\n"
        "    movl $2, %edi\n"
        "    leaq 136(%rsp), %rsi\n"
        "    xorl %edx, %edx\n"
        "    movl $8, %r10d\n"
        "    syscall\n"
        /* The thread is seen running: a call that begins right after this one then has a known beginning. */
        "2:  movl $228, %eax\n" /* clock_gettime(CLOCK_MONOTONIC, &state->base_time) */
        "    movl $1, %edi\n"
        "    movq (%rsp), %rsi\n"
        "    syscall\n"
        "    movl $98, %eax\n" /* getrusage(RUSAGE_THREAD, &state->base_usage) */
        "    movl $1, %edi\n"
        "    movq (%rsp), %rsi\n"
        "    addq $16, %rsi\n"
        "    syscall\n"
        "    movl $14, %eax\n" /* rt_sigprocmask(SIG_SETMASK, program_mask) */
        "    movl $2, %edi\n"
        "    leaq 128(%rsp), %rsi\n"
        "    xorl %edx, %edx\n"
        "    movl $8, %r10d\n"
        "    syscall\n"
        "    movq 16(%rsp), %rdi\n"
        "    movq 24(%rsp), %rsi\n"
        "    movq 32(%rsp), %rdx\n"
        "    movq 40(%rsp), %r10\n"
        "    movq 48(%rsp), %r8\n"
        "    movq 56(%rsp), %r9\n"
        "    movq 120(%rsp), %rax\n"
        "    movq 8(%rsp), %rcx\n"
        "    leaq 360(%rsp), %rsp\n"
        "    .cfi_def_cfa %rsp, 0\n"
        "    .cfi_register %rip, %rcx\n"
        "restart_wait_leave:\n"
        "    jmp *%rcx\n"
        "    .cfi_endproc\n"
        "restart_wait_end:\n"
        ".size restart_wait_enter, . - restart_wait_enter\n");

/* For who unwinds from here, as a cancellation does: the program's registers are in the context that `base` holds. */
#define SAVED(base, dwarf_register, low, high) ".cfi_escape 0x10, " #dwarf_register ", 3, " base ", " low ", " high "\n"
#define IN_CONTEXT(base)                                                                                     \
    ".cfi_escape 0x0f, 4, " base ", 0xa0, 0x01, 0x06\n" /* its rsp */                                        \
    SAVED(base, 3, "0x80", "0x01")                      /* rbx */                                            \
    SAVED(base, 6, "0xf8", "0x00")                      /* rbp */                                            \
    SAVED(base, 12, "0xc8", "0x00")                                                                          \
    SAVED(base, 13, "0xd0", "0x00")                                                                          \
    SAVED(base, 14, "0xd8", "0x00")                                                                          \
    SAVED(base, 15, "0xe0", "0x00")                                                                          \
    SAVED(base, 16, "0xa8", "0x01") /* rip */
#define IN_RBX "0x73"
#define IN_RCX "0x72"

__asm__(
    ".text\n"
    ".globl restart_resume, restart_resume_unmasked, restart_resume_rcx, restart_resume_switched, "
    "restart_resume_end\n"
    ".hidden restart_resume, restart_resume_unmasked, restart_resume_rcx, restart_resume_switched, "
    "restart_resume_end\n"
    ".type restart_resume, @function\n"
    ".p2align 4\n"
    "restart_resume:\n"
    "    .cfi_startproc\n"
    "    .cfi_signal_frame\n"
    "    movq %rdi, %rbx\n"
    "    movq %rdx, %r8\n"
    "    testq %r8, %r8\n"
    "    jz 2f\n"
    "    cmpl $0x46505853, 464(%r8)\n" /* FP_XSTATE_MAGIC1: the kernel saved by xsave, and says which parts */
    "    jne 1f\n"
    "    movl 472(%r8), %eax\n"
    "    movl 476(%r8), %edx\n"
    "    xrstor64 (%r8)\n"
    "    jmp 2f\n"
    "1:  fxrstor64 (%r8)\n"
    "2:  movl $38, %ecx\n"
    "    rep movsq\n"
    "    leaq -64(%rbx), %rsp\n" IN_CONTEXT(IN_RBX) /* nothing below the copy is needed: repeated deliveries here do not pile up */
    "    movl $14, %eax\n" /* rt_sigprocmask(SIG_SETMASK, &context->uc_sigmask) */
    "    movl $2, %edi\n"
    "    leaq 296(%rbx), %rsi\n"
    "    xorl %edx, %edx\n"
    "    movl $8, %r10d\n"
    "    syscall\n"
    "restart_resume_unmasked:\n"
    "    movq %rbx, %rcx\n"
    "restart_resume_rcx:\n" IN_CONTEXT(IN_RCX)
    "    pushq 176(%rcx)\n"
    "    popfq\n"
    "    movq 168(%rcx), %r11\n"
    "    leaq -2(%r11), %r11\n"
    "    movq 40(%rcx), %r8\n"
    "    movq 48(%rcx), %r9\n"
    "    movq 56(%rcx), %r10\n"
    "    movq 72(%rcx), %r12\n"
    "    movq 80(%rcx), %r13\n"
    "    movq 88(%rcx), %r14\n"
    "    movq 96(%rcx), %r15\n"
    "    movq 104(%rcx), %rdi\n"
    "    movq 112(%rcx), %rsi\n"
    "    movq 120(%rcx), %rbp\n"
    "    movq 128(%rcx), %rbx\n"
    "    movq 136(%rcx), %rdx\n"
    "    movl $219, %eax\n" /* restart_syscall */
    "    movq 160(%rcx), %rsp\n"
    ".cfi_def_cfa %rsp, 0\n"
    ".cfi_same_value %rbx\n"
    ".cfi_same_value %rbp\n"
    ".cfi_same_value %r12\n"
    ".cfi_same_value %r13\n"
    ".cfi_same_value %r14\n"
    ".cfi_same_value %r15\n"
    ".cfi_register %rip, %r11\n"
    "restart_resume_switched:\n"
    "    jmp *%r11\n"
    "    .cfi_endproc\n"
    "restart_resume_end:\n"
    ".size restart_resume, . - restart_resume\n");
