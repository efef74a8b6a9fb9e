/* Bystanders: idle workers that block the signals meant for the whole process.
 *
 * Such signals come from alarm(), a timer, kill() or the end of a child, and belong to the program's serial
 * code. The kernel gives them to the initial thread, unless that thread blocks them or has another signal
 * pending, which samples make likely. Then any thread that does not block them may get them. A handler that
 * leaves by siglongjmp() would then leave from a stack that is not the program's, and pause() in the initial
 * thread would wait for ever (docs/architecture.md, "Restarted system calls", 5).
 *
 * So a worker becomes a bystander if a sample finds it idle, or has found it working before its wait. It
 * blocks these signals until it works again. This costs two system calls for a wait that a sample hit, and
 * none for other waits. A bystander does not block signals that programs send to single threads (SIGUSR1,
 * real-time signals and others), those of profilers (SIGPROF, SIGVTALRM), or those of faults. */
#ifndef BLAME_OMPT_TOOL_RESTART_BYSTANDER_H
#define BLAME_OMPT_TOOL_RESTART_BYSTANDER_H

#include <stdint.h>
#include <ucontext.h>

struct bystander {
    /* signals that the tool blocks in the thread, one bit each; 0: the thread is no bystander */
    uint64_t added;
    uint64_t pending; /* signals of `added` that were pending at every look since since_ns */
    uint64_t since_ns;
    uint32_t looks;
};

/* Makes the interrupted thread block the signals when the handler ends. If the thread already blocks them,
 * checks by one system call (rt_sigpending) whether a signal stays pending: the initial thread may have ended
 * (pthread_exit), or may not take the signal. After 1.5 s no thread blocks that signal any more, and the
 * kernel chooses the thread that gets it. [handler] */
void bystander_begin(struct bystander *bystander, ucontext_t *context, uint64_t now_ns);

/* Makes the calling thread block the signals. [owner] */
void bystander_now(struct bystander *bystander);

/* Makes the interrupted thread accept the signals again when the handler ends. [handler] */
void bystander_wakes(struct bystander *bystander, ucontext_t *context);

/* Makes the calling thread accept the signals again. [owner] */
void bystander_end(struct bystander *bystander);

#endif
