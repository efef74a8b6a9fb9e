/* Starts the measurement of a process without an OpenMP runtime, once it is clear that the process works.
 *
 * `blame run` also loads the tool into shells, and into everything that the program starts. Most of these
 * processes only start others, and should neither wait for the tool nor leave a profile. So the tool only sets
 * a timer, the fuse: when the process has used SESSION_LEAST_CPU_NS of CPU time since then, the timer's
 * signal starts the measurement. A process that uses less has no profile.
 *
 * The measurement then starts in a signal handler, although it calls functions that are not async-signal-safe
 * (snprintf). None of these uses the heap, which the thread may be changing: what needs it is made before
 * main (thread_prepare). Of the C library's other locks they take only that of the list of loaded objects, which the
 * thread may hold already. The handler does not start if the thread was interrupted in the dynamic loader, where that
 * list may be half changed; it then tries again after FUSE_AGAIN_NS.
 *
 * Each setting of the timer sends one signal, because the program may install a handler of its own for that signal. */
#ifndef BLAME_OMPT_TOOL_LIFE_FUSE_H
#define BLAME_OMPT_TOOL_LIFE_FUSE_H

#include <stdbool.h>
#include <stdint.h>

#define FUSE_AGAIN_NS 1000000u /* CPU time in ns until the next attempt to start */

/* Lights the fuse of this process: start() is called in the initial thread, on a stack of the tool, with an address
 * on the thread's own stack. It returns false if nothing can be measured. The sampling signal must be installed. Returns false if there is
 * no timer or memory. [init] */
bool fuse_light(bool (*start)(uintptr_t stack));

/* Starts the measurement now if the fuse is lit and its thread calls this: the process is about to get a second thread.
 * [owner] */
void fuse_blow_before_thread(void);

/* Puts out the fuse for good, in children, too. [any] */
void fuse_forbid(void);

/* Puts out the fuse, because the measurement starts for another reason, or the process ends. If the fuse has just
 * blown in another thread, waits for that start, for a second at most. [any] */
void fuse_put_out(void);

#endif
