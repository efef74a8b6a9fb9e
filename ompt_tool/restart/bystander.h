/* Signals for the whole process are the program's serial code's: alarm(), a timer, kill(), a child that ends. The kernel
 * gives them to the initial thread, unless that has another signal pending or blocks them: then to any thread that
 * takes them. Our samples make it so: a handler that leaves by siglongjmp() would then leave from a stack that is not
 * the program's, and pause() would wait for ever (docs/architecture.md, "Restarted system calls", 5).
 *
 * A worker that a sample finds idle, or found at work before it waits, therefore blocks such signals until it works
 * again: two system calls for a wait next to a sample, none for others. What programs send to single threads (SIGUSR1, real-time signals ...), what
 * profilers use (SIGPROF, SIGVTALRM) and what a fault raises is not blocked. */
#ifndef BLAME_OMPT_TOOL_RESTART_BYSTANDER_H
#define BLAME_OMPT_TOOL_RESTART_BYSTANDER_H

#include <stdint.h>
#include <ucontext.h>

struct bystander {
    uint64_t added;   /* signals that it does not block by itself, a bit each; 0: it is no bystander */
    uint64_t pending; /* those of them that were at each look since then */
    uint64_t since_ns;
    uint32_t looks;
};

/* From the end of the handler on the interrupted thread blocks them, too. One that does already looks whether one stays
 * pending: the initial thread has ended (pthread_exit), or does not take it. After a second and a half that one is no longer
 * blocked, by anybody: it goes where the kernel sends it. A look is a system call (rt_sigpending). [handler] */
void bystander_begin(struct bystander *bystander, ucontext_t *context, uint64_t now_ns);

/* The calling thread blocks them from now on. [owner] */
void bystander_now(struct bystander *bystander);

/* From the end of the handler on it takes them again. [handler] */
void bystander_wakes(struct bystander *bystander, ucontext_t *context);

/* The calling thread takes them again. [owner] */
void bystander_end(struct bystander *bystander);

#endif
