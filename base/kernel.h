/* The system call itself: without a C library, and without its errno. */
#ifndef BLAME_BASE_KERNEL_H
#define BLAME_BASE_KERNEL_H

#include <sys/syscall.h>

/* A negative value is an error's number. [handler] */
static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
