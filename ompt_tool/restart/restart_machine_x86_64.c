/* Handler code; the rules of restart.c hold. On this machine, all arguments of a call are still in their
 * registers after the call. A context can continue in the stub, because the stub changes only registers that
 * the program cannot use after a system call, rcx and r11. */
#include "restart_machine.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/atomics.h"
#include "base/kernel.h"
#include "base/os.h"
#include "base/registers.h"
#include "restart.h"
#include "restart_rest.h"

/* ---- the machine code around a call ---- */

/* The kernel does not say which call it interrupted, but the code shows it: compilers load the number by `mov
 * $imm32, %eax` directly before `syscall`, or with a few loads of other registers in between. Other sequences
 * are not trusted. */

enum {
    /* 5 bytes of mov $imm32, %eax, up to 17 bytes of other instructions, 2 bytes of syscall */
    WINDOW_BYTES = 24,
    MOV_EAX_BYTES = 5,
    SYSCALL_BYTES = 2,
    PAGE_BYTES = 4096,
    CALL_LIMIT = 1024, /* larger numbers are not system calls */
};

static bool code_is_syscall(const uint8_t *code)
{
    return code[0] == 0x0f && code[1] == 0x05;
}

/* Copies the code before rip to `window`. If the window spans two pages, the first page is read only if it is
 * mapped. */
static bool restart_read_code_before(uintptr_t rip, uint8_t window[WINDOW_BYTES])
{
    uintptr_t begin = rip - WINDOW_BYTES;
    memset(window, 0, WINDOW_BYTES);
    if (begin / PAGE_BYTES != (rip - 1) / PAGE_BYTES || rip % PAGE_BYTES == 0) {
        if (!restart_is_readable(begin))
            begin = rip / PAGE_BYTES * PAGE_BYTES;
    }
    if (begin == rip)
        return false;
    memcpy(window + (WINDOW_BYTES - (rip - begin)), (const void *)begin, rip - begin);
    return true;
}

/* Returns the number of bytes of an operand's modrm, sib and displacement. The operand is in memory at
 * disp8(%rsp) or disp32(%rsp), or in a register. */
static int restart_operand_bytes(const uint8_t *modrm)
{
    int mode = modrm[0] >> 6;
    int base = modrm[0] & 7;
    if (mode == 3)
        return 1;
    if (base == 4)
        return mode == 0 ? (modrm[1] == 0x24 ? 2 : 0) : (mode == 1 ? 3 : 6);
    return mode == 0 ? (base == 5 ? 5 : 1) : (mode == 1 ? 2 : 5);
}

/* Returns the length of an instruction that loads a register other than rax, or changes a bit of the second
 * argument; 0 for other instructions. */
static int restart_harmless_instruction_bytes(const uint8_t *code)
{
    int prefix = code[0] >= 0x40 && code[0] <= 0x4f;
    bool reg_extended = prefix && (code[0] & 4) != 0;
    bool base_extended = prefix && (code[0] & 1) != 0;
    bool wide = prefix && (code[0] & 8) != 0;
    const uint8_t *rest = code + prefix;
    int reg = rest[1] >> 3 & 7;
    int base = rest[1] & 7;
    if (rest[0] == 0x8b || rest[0] == 0x8d) { /* mov or lea to a register */
        int operand = restart_operand_bytes(rest + 1);
        return operand != 0 && (reg != 0 || reg_extended) ? prefix + 1 + operand : 0;
    }
    if ((rest[0] == 0x89 || rest[0] == 0x31) && rest[1] >> 6 == 3) /* mov or xor between registers */
        return base != 0 || base_extended ? prefix + 2 : 0;
    if (rest[0] == 0x80 && prefix && base == 6 && rest[1] >> 6 == 3) /* xor or and $imm8, %sil */
        return prefix + 3;
    if (rest[0] == 0x83 && rest[1] >> 6 == 3 && (base != 0 || base_extended)) /* and, or ... $imm8, register */
        return prefix + 3;
    if (rest[0] == 0x81 && rest[1] >> 6 == 3 && (base != 0 || base_extended))
        return prefix + 6;
    if (rest[0] > 0xb8 && rest[0] <= 0xbf && !wide) /* mov $imm32 to a register */
        return prefix + 5;
    return 0;
}

/* Returns true if the bytes consist of at most four harmless instructions. */
static bool restart_instructions_are_harmless(const uint8_t *code, int bytes)
{
    for (int i = 0; i < 4 && bytes > 0; i++) {
        int length = restart_harmless_instruction_bytes(code);
        if (length == 0)
            return false;
        code += length;
        bytes -= length;
    }
    return bytes == 0;
}

static uintptr_t behind_syscall;

void restart_know_syscall(uintptr_t behind)
{
    store_relaxed(&behind_syscall, behind);
}

/* Returns a number on the interrupted stack, if it can be that of a call. */
static long restart_number_at(uint64_t address)
{
    uint64_t number;
    return os_copy_memory(&number, address, sizeof number) && number < CALL_LIMIT ? (long)number
                                                                                  : RESTART_DECODE_NO_NUMBER;
}

/* Returns true if the thread of __syscall_cancel_arch is to be cancelled: whatever ends the call, libc must learn of it,
 * because its handler for that has only interrupted the call. */
static bool restart_is_cancelled(uint64_t stack)
{
    enum { CANCELED = 8 }; /* in the word that the first argument points to */
    uint64_t word;
    uint32_t flags;
    return !os_copy_memory(&word, stack + sizeof word, sizeof word) || !os_copy_memory(&flags, word, sizeof flags) ||
           flags & CANCELED;
}

/* Returns the number of the call that the caller of __syscall_cancel_arch has passed: it has loaded the second argument
 * from the stack, and has then only moved registers. */
static long restart_number_of_caller(uint64_t stack)
{
    enum { LOAD_BYTES = 5, MOVE_BYTES = 3, MOST_MOVES = 4 };
    static const uint8_t load_rsi[] = {0x48, 0x8b, 0x74, 0x24}; /* mov n(%rsp), %rsi */
    uint8_t code[LOAD_BYTES + MOST_MOVES * MOVE_BYTES + MOV_EAX_BYTES], *call = code + sizeof code - MOV_EAX_BYTES;
    uint64_t caller;
    if (!os_copy_memory(&caller, stack, sizeof caller) || !os_copy_memory(code, caller - sizeof code, sizeof code) ||
        *call != 0xe8)
        return RESTART_DECODE_NO_NUMBER;
    const uint8_t *at = call - MOVE_BYTES; /* to any register but rsi */
    while (at >= code + LOAD_BYTES && (at[0] & 0xf0) == 0x40 && at[1] == 0x89 && at[2] >> 6 == 3 &&
           (at[0] & 1 || (at[2] & 7) != 6))
        at -= MOVE_BYTES;
    at += MOVE_BYTES - LOAD_BYTES;
    return memcmp(at, load_rsi, sizeof load_rsi) == 0 && at[LOAD_BYTES - 1] < 0x80
               ? restart_number_at(stack + sizeof caller + at[LOAD_BYTES - 1])
               : RESTART_DECODE_NO_NUMBER;
}

/* Returns the number of a call that can be cancelled, since glibc 2.41. `end` is the end of the code before `syscall`. A
 * process with one thread loads the number from the stack; otherwise the call is in __syscall_cancel_arch (assembly). */
static long restart_number_of_cancellable(const ucontext_t *context, const uint8_t *end)
{
    enum { LOAD_BYTES = 5 };
    static const uint8_t load_rax[] = {0x48, 0x8b, 0x44, 0x24}, /* mov n(%rsp), %rax */
        arch[] = {0x4c, 0x89, 0xc2, 0x4d, 0x89, 0xca, 0x4c, 0x8b, 0x44, 0x24, 0x08,
                  0x4c, 0x8b, 0x4c, 0x24, 0x10, 0x4c, 0x89, 0x5c, 0x24, 0x08};
    uint64_t stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    if (memcmp(end - LOAD_BYTES, load_rax, sizeof load_rax) == 0 && end[-1] < 0x80)
        return restart_number_at(stack + end[-1]);
    if (memcmp(end - sizeof arch, arch, sizeof arch) != 0)
        return RESTART_DECODE_NO_NUMBER;
    return restart_is_cancelled(stack) ? RESTART_DECODE_CANCELLED : restart_number_of_caller(stack);
}

/* Returns the number of a call that libc's syscall() has made for libblame-pthreads.so, which keeps it in rbx. */
static long restart_number_of_syscall(const ucontext_t *context)
{
    uintptr_t behind = load_relaxed(&behind_syscall), returns_to;
    uint64_t number = (uint64_t)context->uc_mcontext.gregs[REG_RBX];
    bool is_told = behind && number < CALL_LIMIT &&
                   os_copy_memory(&returns_to, (uintptr_t)context->uc_mcontext.gregs[REG_RSP], sizeof returns_to) &&
                   returns_to == behind;
    return is_told ? (long)number : RESTART_DECODE_NO_NUMBER;
}

long restart_decode_call_before(const ucontext_t *context)
{
    uintptr_t rip = registers_pc(context);
    /* 8 bytes more, so that decoding the last instruction stays inside the array */
    uint8_t window[WINDOW_BYTES + 8] = {0};
    if (!restart_read_code_before(rip, window))
        return RESTART_DECODE_NOT_A_CALL;
    const uint8_t *end = window + WINDOW_BYTES - SYSCALL_BYTES;
    if (!code_is_syscall(end))
        return RESTART_DECODE_NOT_A_CALL;
    if (end[-2] == 0x31 && end[-1] == 0xc0) /* xor %eax, %eax */
        return SYS_read;
    for (const uint8_t *load = end - MOV_EAX_BYTES; load >= window; load--) {
        uint32_t number;
        memcpy(&number, load + 1, sizeof number);
        const uint8_t *between = load + MOV_EAX_BYTES;
        if (load[0] == 0xb8 && number < CALL_LIMIT && restart_instructions_are_harmless(between, (int)(end - between)))
            return (long)number;
    }
    long number = restart_number_of_syscall(context);
    return number == RESTART_DECODE_NO_NUMBER ? restart_number_of_cancellable(context, end) : number;
}

bool restart_decode_at_syscall(const ucontext_t *context)
{
    /* The second byte is read only if the first one shows that there is a second. */
    const uint8_t *code = (const uint8_t *)registers_pc(context);
    return code[0] == 0x0f && code[1] == 0x05;
}

/* ---- the assembly ---- */

/* Both pieces run as if they were part of the program's system call. At their end, every register that the
 * program may rely on after a `syscall` instruction (all but rax, rcx and r11) has the program's value.
 *
 * restart_wait_enter: entered by rt_sigreturn with all signals blocked, rcx = the job in the thread's
 * restart_state, everything else as in the program. It copies the job to the stack below the red zone, so
 * that nested signals, each with a stub of its own, and siglongjmp do no harm. The program counter tells
 * restart_enter() how far the stub has come:
 *     .. wait_unmasked      signals are blocked; no delivery is possible except in the wait for the socket
 *     .. wait_done          the call was not made, or was interrupted: the frame at rsp is valid
 *     wait_done ..          the call's result is in rax; it goes to the frame with the bytes moved before
 *     .. wait_leave         the result and the program's registers are in the frame
 *     wait_leave            all registers are the program's again, rcx = where the program continues
 *
 * restart_resume: called at the end of the handler with all signals blocked, rdi = address to which the
 * program's context is copied, rsi = the context, rdx = its vector registers. It does what rt_sigreturn does,
 * except that the kernel keeps its restart block. The kernel's frame may be on an alternate stack, where the
 * next signal's frame would overwrite it. So the context is copied to the interrupted stack, below the red
 * zone, before signals can come. The vector registers are loaded first, because they may be where the copy
 * goes. The stack pointer stays below the copy until the last instruction but one.
 *     .. resume_rcx         rbx = the copy             (signals can come from resume_unmasked on)
 *     .. resume_switched    rcx = the copy
 *     resume_switched       all registers are the program's again, r11 = its syscall instruction,
 *                           rax = restart_syscall */

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
ASSERT_AT(struct restart_frame, left, 160); /* zero if `ready` is set */
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
        ".globl restart_wait_enter, restart_wait_done, restart_wait_stored\n"
        ".globl restart_wait_leave, restart_wait_end\n"
        ".hidden restart_wait_enter, restart_wait_done, restart_wait_stored\n"
        ".hidden restart_wait_leave, restart_wait_end\n"
        ".type restart_wait_enter, @function\n"
        ".p2align 4\n"
        "restart_wait_enter:\n"
        "    .cfi_startproc\n"
        "    leaq -360(%rsp), %rsp\n" /* 128 bytes of red zone and 232 bytes of frame */
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
        "    js 6f\n" /* a signal for the program is pending: return only the part that is already done */
        "    je 5f\n"
        "    testb $0x38, 222(%rsp)\n" /* POLLERR, POLLHUP, POLLNVAL */
        "    je 5f\n"
        "    movl $16, %eax\n" /* ioctl(fd, FIONREAD, &received) */
        "    movl 216(%rsp), %edi\n"
        "    movl $0x541b, %esi\n"
        "    leaq 224(%rsp), %rdx\n"
        "    syscall\n"
        /* If the kernel was processing a reset, there was an error, but the connection had not ended yet. The
         * ioctl has waited for the end, so poll again, without waiting. */
        "    leaq 160(%rsp), %rdx\n"
        "    xorl $1, %r9d\n"
        "    jnz 7b\n"
        /* an error while the connection has not ended: there is a message in the error queue */
        "    testb $0x30, 222(%rsp)\n"
        "    je 5f\n"
        /* nothing can be sent any more, but bytes that have arrived (POLLIN) can be received */
        "    cmpw $1, 220(%rsp)\n"
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
        /* rt_sigprocmask(SIG_SETMASK, all); wait_mask is no longer needed, and rsp still points to the frame */
        "    movq $-1, 136(%rsp)\n"
        "    movl $14, %eax\n"
        "    movl $2, %edi\n"
        "    leaq 136(%rsp), %rsi\n"
        "    xorl %edx, %edx\n"
        "    movl $8, %r10d\n"
        "    syscall\n"
        /* Sets the baseline, because the thread is running now. If another call follows at once, its start is
         * then known. */
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

/* Tells unwinders, for instance during a cancellation, that the program's registers are in the context to
 * which `base` points. */
#define SAVED(base, dwarf_register, low, high) ".cfi_escape 0x10, " #dwarf_register ", 3, " base ", " low ", " high "\n"
#define IN_CONTEXT(base)                                                                                               \
    ".cfi_escape 0x0f, 4, " base ", 0xa0, 0x01, 0x06\n" /* the context's rsp */                                        \
        SAVED(base, 3, "0x80", "0x01")                  /* rbx */                                                      \
        SAVED(base, 6, "0xf8", "0x00")                  /* rbp */                                                      \
        SAVED(base, 12, "0xc8", "0x00") SAVED(base, 13, "0xd0", "0x00") SAVED(base, 14, "0xd8", "0x00")                \
            SAVED(base, 15, "0xe0", "0x00") SAVED(base, 16, "0xa8", "0x01") /* rip */
#define IN_RBX "0x73"
#define IN_RCX "0x72"

__asm__(".text\n"
        ".globl restart_resume, restart_resume_rcx, restart_resume_switched, restart_resume_end\n"
        ".hidden restart_resume, restart_resume_rcx, restart_resume_switched, restart_resume_end\n"
        ".type restart_resume, @function\n"
        ".p2align 4\n"
        "restart_resume:\n"
        "    .cfi_startproc\n"
        "    .cfi_signal_frame\n"
        "    movq %rdi, %rbx\n"
        "    movq %rdx, %r8\n"
        "    testq %r8, %r8\n"
        "    jz 2f\n"
        /* FP_XSTATE_MAGIC1: the kernel saved by xsave, and lists the parts */
        "    cmpl $0x46505853, 464(%r8)\n"
        "    jne 1f\n"
        "    movl 472(%r8), %eax\n"
        "    movl 476(%r8), %edx\n"
        "    xrstor64 (%r8)\n"
        "    jmp 2f\n"
        "1:  fxrstor64 (%r8)\n"
        "2:  movl $38, %ecx\n"
        "    rep movsq\n"
        /* nothing below the copy is needed, so repeated deliveries here use no more stack */
        "    leaq -64(%rbx), %rsp\n" IN_CONTEXT(IN_RBX) /* right below the copy */
        "    movl $14, %eax\n"                          /* rt_sigprocmask(SIG_SETMASK, &context->uc_sigmask) */
        "    movl $2, %edi\n"
        "    leaq 296(%rbx), %rsi\n"
        "    xorl %edx, %edx\n"
        "    movl $8, %r10d\n"
        "    syscall\n"
        "restart_resume_unmasked:\n"
        "    movq %rbx, %rcx\n"
        "restart_resume_rcx:\n" IN_CONTEXT(IN_RCX) "    pushq 176(%rcx)\n"
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

/* ---- where a signal finds the stub, and how a context continues ---- */

/* Makes the context that of the program at its call. The vector registers already have the program's values,
 * because signals can come only after the xrstor. */
static void enter_from_resume(ucontext_t *context, uintptr_t rip)
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

static void restart_context_show_program(const struct restart_frame *frame, ucontext_t *context, uint64_t result)
{
    greg_t *gregs = context->uc_mcontext.gregs;
    static const int arguments[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    for (int i = 0; i < 6; i++)
        gregs[arguments[i]] = (greg_t)frame->program_args[i];
    gregs[REG_RAX] = (greg_t)result;
    gregs[REG_RIP] = (greg_t)frame->pc;
    gregs[REG_RSP] += RESTART_RED_ZONE_BYTES + RESTART_FRAME_BYTES;
}

static void enter_from_stub(struct restart_state *state, ucontext_t *context, uintptr_t rip)
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
    restart_context_show_program(frame, context, result);
}

void restart_enter(struct restart_state *state, ucontext_t *context)
{
    greg_t *gregs = context->uc_mcontext.gregs;
    uintptr_t rip = (uintptr_t)gregs[REG_RIP];
    state->resume = NULL;
    state->waiting = false;
    if (rip >= (uintptr_t)restart_wait_enter && rip < (uintptr_t)restart_wait_end)
        enter_from_stub(state, context, rip);
    else if (rip >= (uintptr_t)restart_resume && rip < (uintptr_t)restart_resume_end)
        enter_from_resume(context, rip);
    else if (gregs[REG_RAX] == SYS_restart_syscall && restart_decode_at_syscall(context)) {
        /* restart_syscall was about to be issued. This equals an interrupted call, because the kernel still
         * has the restart block. */
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

/* Returns true if the handler must end by rt_sigreturn, because there is a shadow stack (CET), or because
 * ThreadSanitizer called the handler. */
static bool restart_handler_must_return(const struct restart_state *state)
{
    uint64_t shadow_stack = 0;
    /* leaves the variable unchanged if there is no shadow stack */
    __asm__ volatile("rdsspq %0" : "+r"(shadow_stack));
    return shadow_stack != 0 || state->sanitized;
}

bool restart_go_kernel(struct restart_state *state, ucontext_t *context)
{
    if (restart_handler_must_return(state))
        return false;
    state->resume = context;
    return true;
}

void restart_machine_leave(struct restart_state *state, ucontext_t *context)
{
    bool resumes = state->resume != NULL;
    const unsigned disarmed_on_delivery = 1u << 31; /* SS_AUTODISARM */
    state->resume = NULL;
    if (!resumes)
        return;
    uint64_t words[RESTART_CONTEXT_BYTES / sizeof(uint64_t)];
    uint64_t place = (uint64_t)context->uc_mcontext.gregs[REG_RSP] - RESTART_RED_ZONE_BYTES - RESTART_CONTEXT_BYTES;
    memcpy(words, context, sizeof words);
    if ((unsigned)context->uc_stack.ss_flags & disarmed_on_delivery)
        kernel_call(SYS_sigaltstack, (uint64_t)&context->uc_stack, 0, 0, 0, 0, 0);
    restart_resume(place & ~(uint64_t)15, words, context->uc_mcontext.fpregs);
}
