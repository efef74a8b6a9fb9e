/* Bystanders: idle workers that block the signals that are sent to the whole process.
 *
 * Such signals come from alarm(), a timer, kill() or the end of a child, and are meant for the program's
 * serial code. The kernel gives them to the initial thread, unless that thread blocks them or has another
 * signal pending, which samples make likely. Then any thread that does not block them may get them. A handler
 * that leaves by siglongjmp() would then leave from a stack that is not the program's, and pause() in the
 * initial thread would wait for ever (docs/architecture.md, "Restarted system calls", 4).
 *
 * So a worker becomes a bystander if a sample finds it idle, or if the last sample before its wait found it
 * working. It blocks these signals until it works again. This costs two system calls for each wait in which a
 * sample was taken, and none for other waits. A bystander does not block signals that programs send to single
 * threads (SIGUSR1, real-time signals and others), those of profilers (SIGPROF, SIGVTALRM), or those of
 * faults. */
#ifndef BLAME_OMPT_TOOL_RESTART_BYSTANDER_H
#define BLAME_OMPT_TOOL_RESTART_BYSTANDER_H

#include <stdint.h>
#include <ucontext.h>

struct bystander {
    /* signals that the tool blocks in the thread, one bit each; 0: the thread is not a bystander */
    uint64_t added;
    uint64_t pending; /* those signals of `added` that every look since since_ns has found pending */
    uint64_t since_ns;
    uint32_t looks;
};

/* Makes the interrupted thread block the signals when the handler ends. If the thread already blocks them,
 * checks by one system call (rt_sigpending) whether a signal stays pending, because the initial thread may
 * have ended (pthread_exit) or may not take the signal. After 1.5 s, no thread blocks that signal any more,
 * and the kernel chooses the thread that gets it. [handler] */
void bystander_begin(struct bystander *bystander, ucontext_t *context, uint64_t now_ns);

/* Makes the calling thread block the signals. [owner] */
void bystander_now(struct bystander *bystander);

/* Makes the interrupted thread unblock the signals when the handler ends. [handler] */
void bystander_wakes(struct bystander *bystander, ucontext_t *context);

/* Makes the calling thread unblock the signals. [owner] */
void bystander_end(struct bystander *bystander);

#endif
