/* Puts back the system calls that a sampling signal interrupted: the program never sees an EINTR that the
 * tool caused.
 *
 * SA_RESTART makes the kernel restart read, write and most futex waits. It never restarts sleeps, polls and
 * the like: they return -EINTR, and a repeated call starts its time limit again. The handler repairs that in
 * one of several ways, depending on the call:
 *
 *   kernel    nanosleep, relative clock_nanosleep, poll, futex with a time limit. The kernel keeps the
 *             absolute deadline of such a call in the task and continues it by restart_syscall(2), until
 *             the thread's next rt_sigreturn. So restart_leave() does not use rt_sigreturn: it restores the
 *             program's registers itself and issues restart_syscall at the program's own syscall
 *             instruction. This is exact. A signal of the program in between ends in an rt_sigreturn,
 *             after which the kernel answers -EINTR, as the program expects.
 *   wait      ppoll, pselect6, epoll_*, pause, sigsuspend, io_getevents: calls that can set the signal mask
 *             atomically. The thread returns, all signals blocked, to a stub that issues the call with the
 *             program's mask as its mask argument and with the rest of its time. The stub then continues
 *             in the program.
 *   stub      semtimedop, sigtimedwait, sockets with SO_RCVTIMEO or SO_SNDTIMEO, and an io_uring_enter
 *             that has submitted and waits: the same stub, but the mask is not set atomically.
 *   here      fallocate, which begins again whenever it is interrupted: the handler issues it, as no
 *             signal interrupts the handler.
 *   in place  calls without a time limit or with an absolute one (semop, msgsnd,
 *             clock_nanosleep(TIMER_ABSTIME) ...): the program counter goes back to the syscall
 *             instruction.
 *
 * On aarch64 one stub serves all ways but "in place". It ends by rt_sigreturn, and also waits by
 * restart_syscall. A call whose first argument cannot be found there stays interrupted
 * (restart_machine_aarch64.c, docs/architecture.md).
 *
 * Calls that move bytes return after a part of them; restart_rest.h says for which of them the stub moves the
 * rest.
 *
 * Guarantee S: after nanosleep, poll (not on aarch64, where it is a ppoll) and futex (sem_timedwait),
 * relative or absolute, but not after clock_nanosleep(TIMER_ABSTIME), the program sees EINTR for every signal
 * of its own that interrupts the call. For the other calls an interruption can get lost (the signal's handler
 * runs, but the call then continues), if the sample is delivered
 *   - at the very end of the rt_sigreturn of the program's own handler: the context is then the same as if
 *     the sample had interrupted the call. About 1.4 us for each signal of the program: 0.03 % of them at
 *     200 samples a second, 0.15 % at 1,000. If the program's handler blocks the sampling signal
 *     (sigfillset), it is the handler's duration. Not for a call that was already in the wait stub;
 *   - in place and stub only: and the program's signal comes between the check for pending signals and the
 *     call, 1 us a sample.
 *
 * Rules for the handler that calls these functions. It is installed with SA_SIGINFO | SA_RESTART and a full
 * sa_mask. On x86-64 the kernel's frame may be on an alternate stack (SA_ONSTACK), and the handler runs
 * neither there nor on the interrupted stack (sample_signal.h). On aarch64 both are on the interrupted stack.
 * Every delivery, also of a dropped sample, calls in this order
 *
 *     restart_enter()              first, before anything reads the context
 *     restart_interrupted_call()
 *     restart_note_sample()
 *     restart_leave()              last: does not always return. Restore errno and clear in-handler marks
 *                                  before it.
 *
 * and in between makes no system call that sleeps with a time limit (nanosleep, poll, futex). */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "restart_state.h"

enum restart_result {
    RESTART_NONE,                /* not at an interrupted call */
    RESTART_DONE,                /* the call continues */
    RESTART_LEFT_PROGRAM_SIGNAL, /* a signal of the program is pending: EINTR stays */
    RESTART_UNKNOWN,             /* an EINTR that could not be put back; see restart_state.unknown_call */
};

/* Prepares a thread's state. own_signals: bit n-1 set for each signal number n that the sampler uses. [owner] */
void restart_state_init(struct restart_state *state, uint64_t own_signals);

/* Makes a context that interrupted one of the stubs show the program at its call. [handler] */
void restart_enter(struct restart_state *state, ucontext_t *context);

/* Puts the interrupted call back, if there is one. now_ns is CLOCK_MONOTONIC, read at the handler's entry.
 * [handler] */
enum restart_result restart_interrupted_call(struct restart_state *state, ucontext_t *context, uint64_t now_ns);

/* Notes what the thread has used until now, once a call that needs it has been interrupted in the process: it
 * shows when the next such call begins. [handler] */
void restart_note_sample(struct restart_state *state);

/* Leaves the handler; does not return if the call continues by restart_syscall. [handler] */
void restart_leave(struct restart_state *state, ucontext_t *context);

/* ---- what an interrupted call shows of the thread's sleep: whether it sleeps, in what kind of call, and
 * until when ---- */

/* Returns whether the thread slept in a system call when the signal came: the kernel left the call to be
 * repeated, or with -EINTR. Called after restart_enter(). [handler] */
bool restart_is_asleep(const ucontext_t *context);

enum restart_call {
    RESTART_CALL_NONE,
    RESTART_CALL_SHORT, /* never sleeps */
    RESTART_CALL_WAIT,  /* any signal ends it */
    RESTART_CALL_OTHER, /* any other call: it may sleep, and may make signals wait */
};

/* Returns the kind of the system call that the thread comes out of, if it has executed nothing since. Called
 * after restart_enter(). [handler] */
enum restart_call restart_call_before(const ucontext_t *context);

/* Returns the longest time that a poll may take, 0 for a call that may return interrupted although its wait
 * is over, UINT64_MAX for all others. Such calls are polls at the end of their time, and calls that look for
 * signals before they look for data (of Unix sockets, flock). Called as restart_is_asleep(). [handler] */
uint64_t restart_sleep_limit_ns(const ucontext_t *context);

/* Returns the end of the current or just interrupted sleep; 0 if unknown. It is known for a nanosleep, for a
 * poll with a limit and without any event yet, and for a futex wait whose limit is over. begin_ns: start of
 * the sleep; end_ns: the earlier answer for the same sleep; 0 for either: unknown. All times are
 * CLOCK_MONOTONIC. Called as restart_is_asleep(). [handler] */
uint64_t restart_sleep_end_ns(const ucontext_t *context, uint64_t begin_ns, uint64_t end_ns, uint64_t now_ns);

#endif
