/* When the program's calls of locks reach libblame-pthreads.so. Under `blame run` they go to libc as long as the process has
 * one thread: there, libc acquires a mutex without an atomic operation, and nobody waits. */
#ifndef BLAME_OMPT_TOOL_LOCKS_DIVERSION_H
#define BLAME_OMPT_TOOL_LOCKS_DIVERSION_H

#include <stdint.h>

#include "base/atomics.h"

extern uint32_t diversion_begun;

/* libc's <sys/single_threaded.h>; NULL before glibc 2.32. */
extern char __libc_single_threaded __attribute__((weak));

/* Sets the function that diverts the calls: of libblame-loader.so, async-signal-safe. [init] */
void diversion_init(void (*how)(void));

/* Diverts the calls from now on. [handler] */
void diversion_begin(void);

/* Diverts the calls if the process has threads, which may have come unseen. [handler] */
static inline void diversion_heed_threads(void)
{
    if (unlikely(!load_relaxed(&diversion_begun)) && &__libc_single_threaded && !__libc_single_threaded)
        diversion_begin();
}

#endif
