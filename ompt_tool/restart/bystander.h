/* Signals for the whole process belong to the program's serial code: alarm(), a timer, kill(), a child's end.
 * The kernel gives them to the initial thread, unless that thread has another signal pending or blocks them.
 * Then any thread that takes them gets them, and samples make this likely. A handler that leaves by
 * siglongjmp() would then leave from a stack that is not the program's, and pause() would wait for ever
 * (docs/architecture.md, "Restarted system calls", 5).
 *
 * So a worker that a sample finds idle, or found at work before its wait, blocks such signals until it works
 * again. This costs two system calls for a wait that a sample hit, and none for others. Not blocked are the
 * signals that programs send to single threads (SIGUSR1, real-time signals ...), those of profilers (SIGPROF,
 * SIGVTALRM) and those of faults. */
#ifndef BLAME_OMPT_TOOL_RESTART_BYSTANDER_H
#define BLAME_OMPT_TOOL_RESTART_BYSTANDER_H

#include <stdint.h>
#include <ucontext.h>

struct bystander {
    /* signals that the tool blocks in the thread, a bit each; 0: the thread is no bystander */
    uint64_t added;
    uint64_t pending; /* those of them that were pending at each look since since_ns */
    uint64_t since_ns;
    uint32_t looks;
};

/* Makes the interrupted thread block the signals, from the end of the handler on. A thread that already
 * blocks them checks whether one stays pending: the initial thread has ended (pthread_exit), or does not take
 * it. After 1.5 seconds no thread blocks that signal any more, and the kernel chooses its thread. Such a
 * check is one system call (rt_sigpending). [handler] */
void bystander_begin(struct bystander *bystander, ucontext_t *context, uint64_t now_ns);

/* Makes the calling thread block the signals from now on. [owner] */
void bystander_now(struct bystander *bystander);

/* Makes the interrupted thread take the signals again, from the end of the handler on. [handler] */
void bystander_wakes(struct bystander *bystander, ucontext_t *context);

/* Makes the calling thread take the signals again. [owner] */
void bystander_end(struct bystander *bystander);

#endif
