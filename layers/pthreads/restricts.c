/* A program that forbids itself system calls (seccomp) may be killed for those that a tool makes afterwards. The tool is
 * told before. Both functions are variadic in libc: they take as many arguments as any call has. */
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "base/atomics.h"
#include "base/pthreads_layer.h"
#include "layers/pthreads/functions.h"

#define REAL(name) load_relaxed(&pthreads_real.name)

int prctl(int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth);
long restricts_syscall(long number, long first, long second, long third, long fourth, long fifth,
                       long sixth) __asm__("syscall"); /* whose prototype is variadic */

static void restricts_tell(void)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    if (tool)
        tool->restricts();
}

EXPORT int prctl(int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth)
{
    if (option == PR_SET_SECCOMP)
        restricts_tell();
    return REAL(prctl)(option, second, third, fourth, fifth);
}

EXPORT long restricts_syscall(long number, long first, long second, long third, long fourth, long fifth, long sixth)
{
    if (number == SYS_seccomp && (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER))
        restricts_tell();
    return REAL(syscall)(number, first, second, third, fourth, fifth, sixth);
}
