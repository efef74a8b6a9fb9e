/* System calls that a program makes by libc's function, which is how languages and libraries beside libc wait on words of
 * their own (futex).
 *
 * A program that forbids itself system calls (seccomp) may be killed for those that a tool makes afterwards. The tool is
 * told before. Both functions are variadic in libc: they take as many arguments as any call has. */
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "base/atomics.h"
#include "base/pthreads_layer.h"
#include "layers/pthreads/reports.h"

int prctl(int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth);
long syscalls_call(long number, long first, long second, long third, long fourth, long fifth,
                   long sixth) __asm__("syscall"); /* whose prototype is variadic */

/* On x86-64, libc's function leaves the number of the call in no register, but the tool must know which call its signal
 * has interrupted. So the number stays in rbx, and pthreads_words has the address to which libc's function returns. A
 * call that begins a process or thread may return on another stack, so it is made as it is. */
#ifdef __x86_64__
long syscalls_told(long number, long first, long second, long third, long fourth, long fifth, long sixth,
                   __typeof__(syscalls_call) *function) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".hidden syscalls_told, syscalls_behind\n"
        ".globl syscalls_told, syscalls_behind\n"
        ".type syscalls_told, @function\n"
        "syscalls_told:\n"
        "    .cfi_startproc\n"
        "    pushq %rbx\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbx, -16\n"
        "    movq %rdi, %rbx\n"
        "    subq $8, %rsp\n"
        "    .cfi_def_cfa_offset 24\n"
        "    pushq 24(%rsp)\n" /* the sixth */
        "    .cfi_def_cfa_offset 32\n"
        "    call *40(%rsp)\n"
        "syscalls_behind:\n"
        "    addq $16, %rsp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    popq %rbx\n"
        "    .cfi_def_cfa_offset 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size syscalls_told, . - syscalls_told\n");

static inline bool syscalls_is_told(long number)
{
    return number != SYS_clone && number != SYS_clone3 && number != SYS_fork && number != SYS_vfork;
}
#else
#define syscalls_told(number, first, second, third, fourth, fifth, sixth, function)                                    \
    function(number, first, second, third, fourth, fifth, sixth)
#define syscalls_is_told(number) false
#endif

static void syscalls_tell_of_filter(void)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    if (tool)
        tool->restricts();
}

EXPORT int prctl(int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth)
{
    if (option == PR_SET_SECCOMP)
        syscalls_tell_of_filter();
    return REAL(prctl)(option, second, third, fourth, fifth);
}

/* Returns the tool if it heeds words that are locks. */
static const struct pthreads_tool *syscalls_lock_tool(void)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    return tool && tool->bytes > offsetof(struct pthreads_tool, word_wakes) ? tool : NULL;
}

/* Its frame is that of a wait for a lock: a jump of a signal handler may leave it. */
static NOINLINE long syscalls_wait_for_lock(const struct pthreads_tool *tool, long word, long operation, long third,
                                            long fourth, long fifth, long sixth)
{
    bool told = tool->wait_begins(PTHREADS_WORD | (fourth ? PTHREADS_LIMITED : 0), (const void *)word,
                                  __builtin_frame_address(0));
    long status = syscalls_told(SYS_futex, word, operation, third, fourth, fifth, sixth, REAL(syscall));
    if (told)
        tool->wait_ends();
    return status;
}

/* A word on which a thread waits need not be a lock: some locks queue their waiters, each on a word of its own. For words that
 * are not locks, the thread that wakes is reported as just that, not as a holder. */
static NOINLINE long syscalls_wait(long word, long operation, long third, long fourth, long fifth, long sixth)
{
    const struct pthreads_tool *tool = syscalls_lock_tool();
    if (tool && tool->word_waits((const void *)word, (uint32_t)third))
        return syscalls_wait_for_lock(tool, word, operation, third, fourth, fifth, sixth);
    tool = report_sleep(PTHREADS_FUTEX, (const void *)word);
    long status = syscalls_told(SYS_futex, word, operation, third, fourth, fifth, sixth, REAL(syscall));
    report_slept(tool, 0, status == 0);
    return status;
}

/* If the word is a lock, the thread has just released it. */
static long syscalls_wake_one(long word, long operation, long third, long fourth, long fifth, long sixth)
{
    const struct pthreads_tool *tool = syscalls_lock_tool();
    struct pthreads_left left;
    if (!tool)
        return REAL(syscall)(SYS_futex, word, operation, third, fourth, fifth, sixth);
    tool->word_wakes((const void *)word);
    bool taken = something_is_left() && tool->take(PTHREADS_WORD, (const void *)word, &left);
    long status = REAL(syscall)(SYS_futex, word, operation, third, fourth, fifth, sixth);
    if (taken)
        tool->book(PTHREADS_WORD, (const void *)word, &left, true);
    return status;
}

static NOINLINE long syscalls_futex(long word, long operation, long third, long fourth, long fifth, long sixth)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        return syscalls_wait(word, operation, third, fourth, fifth, sixth);
    case FUTEX_WAKE_OP: /* wakes at the fifth argument, too */
        report_wake((const void *)fifth);
        report_wake((const void *)word);
        break;
    case FUTEX_WAKE:
        report_wake((const void *)word);
        if (third == 1)
            return syscalls_wake_one(word, operation, third, fourth, fifth, sixth);
        break;
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        report_wake((const void *)word);
    }
    return REAL(syscall)(SYS_futex, word, operation, third, fourth, fifth, sixth);
}

EXPORT long syscalls_call(long number, long first, long second, long third, long fourth, long fifth, long sixth)
{
    if (number == SYS_seccomp && (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER))
        syscalls_tell_of_filter();
    if (number == SYS_futex)
        return syscalls_futex(first, second, third, fourth, fifth, sixth);
    if (syscalls_is_told(number))
        return syscalls_told(number, first, second, third, fourth, fifth, sixth, REAL(syscall));
    return REAL(syscall)(number, first, second, third, fourth, fifth, sixth);
}
