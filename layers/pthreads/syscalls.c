/* System calls that a program makes by libc's function, which is how languages and libraries beside libc wait on words of
 * their own (futex).
 *
 * A program that forbids itself system calls (seccomp) may be killed for those that a tool makes afterwards. The tool is
 * told before. Both functions are variadic in libc: they take as many arguments as any call has. */
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "base/atomics.h"
#include "base/pthreads_layer.h"
#include "layers/pthreads/reports.h"

int prctl(int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth);
long syscalls_call(long number, long first, long second, long third, long fourth, long fifth,
                   long sixth) __asm__("syscall"); /* whose prototype is variadic */

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

/* A word on which a thread waits need not be a lock: some locks queue their waiters, each on a word of its own. So the thread
 * that wakes is reported as just that, not as a holder. */
static NOINLINE long syscalls_futex(long word, long operation, long third, long fourth, long fifth, long sixth)
{
    const struct pthreads_tool *tool;
    long status;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        tool = report_sleep(PTHREADS_FUTEX, (const void *)word);
        status = REAL(syscall)(SYS_futex, word, operation, third, fourth, fifth, sixth);
        report_slept(tool, 0, status == 0);
        return status;
    case FUTEX_WAKE_OP: /* wakes at the fifth argument, too */
        report_wake((const void *)fifth);
        report_wake((const void *)word);
        break;
    case FUTEX_WAKE:
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
    return REAL(syscall)(number, first, second, third, fourth, fifth, sixth);
}
