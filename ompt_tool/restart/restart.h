/* Continues the system calls that a sampling signal interrupted, so that the program never sees an EINTR that
 * the tool caused.
 *
 * SA_RESTART makes the kernel restart read, write and most futex waits. It never restarts sleeps, polls and
 * similar calls: they return -EINTR, and if the program repeats the call, its time limit starts again. The
 * handler therefore continues the call in one of several ways:
 *
 *   kernel    nanosleep, relative clock_nanosleep, poll, futex with a time limit. The kernel keeps the
 *             absolute deadline of such a call in the task, and restart_syscall(2) continues the call, until
 *             the thread's next rt_sigreturn. So restart_leave() does not use rt_sigreturn: it restores the
 *             program's registers itself, and restart_syscall is issued at the program's own syscall
 *             instruction. This is exact. If a signal of the program comes in between, its handler ends with
 *             an rt_sigreturn, after which the kernel returns -EINTR, as the program expects.
 *   wait      ppoll, pselect6, epoll_*, pause, sigsuspend, io_getevents: calls that can set the signal mask
 *             atomically. The thread returns, with all signals blocked, to a stub. The stub makes the
 *             call with the program's mask as its mask argument and with the remaining time, and then
 *             continues in the program.
 *   stub      semtimedop, sigtimedwait, sockets with SO_RCVTIMEO or SO_SNDTIMEO, and an io_uring_enter
 *             that has submitted and waits: the same stub, but the mask is not set atomically.
 *   here      fallocate, which starts over whenever it is interrupted: the handler makes the call, because
 *             no signal interrupts the handler.
 *   in place  calls without a time limit or with an absolute one (semop, msgsnd,
 *             clock_nanosleep(TIMER_ABSTIME) ...): the program counter goes back to the syscall
 *             instruction.
 *
 * On aarch64 one stub serves all ways but "in place". It ends by rt_sigreturn, and can also wait by
 * restart_syscall. If the first argument of a call cannot be found there, the call stays interrupted
 * (restart_machine_aarch64.c, docs/architecture.md).
 *
 * Calls that move bytes return when they have moved a part of them. restart_rest.h says for which of these
 * calls the stub moves the rest.
 *
 * Guarantee S: after nanosleep, poll (not on aarch64, where it is a ppoll) and futex (sem_timedwait),
 * relative or absolute, but not after clock_nanosleep(TIMER_ABSTIME), the program sees EINTR for every signal
 * of its own that interrupts the call. For the other calls an interruption can get lost: the handler of the
 * program's signal runs, but then the call continues. There are two cases:
 *   - The sample is delivered at the very end of the rt_sigreturn of the program's own handler. The context is
 *     then the same as if the sample had interrupted the call. This window is about 1.4 us for each signal of
 *     the program: 0.03 % of them at 200 samples a second, 0.15 % at 1,000. If the program's handler blocks
 *     the sampling signal (sigfillset), the window is the handler's duration. A call that was already in the
 *     wait stub is not affected.
 *   - The program's signal comes between the check for pending signals and the call. This window is 1 us a
 *     sample, and exists only with the ways "in place" and "stub".
 *
 * Rules for the handler that calls these functions: it is installed with SA_SIGINFO | SA_RESTART and a full
 * sa_mask. On x86-64 the kernel's frame may be on an alternate stack (SA_ONSTACK), and the handler runs
 * neither there nor on the interrupted stack (sample_signal.h). On aarch64 both are on the interrupted stack.
 * Every delivery, also of a dropped sample, calls in this order
 *
 *     restart_enter()              first, before anything reads the context
 *     restart_interrupted_call()
 *     restart_note_sample()
 *     restart_leave()              last: does not always return, so restore errno and clear in-handler marks
 *                                  before it
 *
 * and in between makes no system call that sleeps with a time limit (nanosleep, poll, futex). */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "restart_state.h"

enum restart_result {
    RESTART_NONE,                /* the context is not directly after an interrupted call */
    RESTART_DONE,                /* the call will continue */
    RESTART_LEFT_PROGRAM_SIGNAL, /* the program gets EINTR, because a signal of its own is pending */
    /* the program gets EINTR, because the call could not be continued; see restart_state.unknown_call */
    RESTART_UNKNOWN,
};

/* Initialises a thread's state. In own_signals, bit n - 1 is set for each signal n that the sampler uses.
 * [owner] */
void restart_state_init(struct restart_state *state, uint64_t own_signals);

/* Sets the address to which libc's syscall() returns if the number of the call is in rbx (x86-64, where libc's function
 * leaves it in no register). 0: unknown. [any] */
void restart_know_syscall(uintptr_t behind);

/* If the signal interrupted one of the stubs, makes the context that of the program at its call. [handler] */
void restart_enter(struct restart_state *state, ucontext_t *context);

/* Continues the interrupted call, if there is one. now_ns is the time on CLOCK_MONOTONIC when the handler
 * began. [handler] */
enum restart_result restart_interrupted_call(struct restart_state *state, ucontext_t *context, uint64_t now_ns);

/* Notes the time, and the CPU time that the thread has used. This is the baseline from which the start of the
 * next call is computed. Does nothing until a call in the process first needs a baseline. [handler] */
void restart_note_sample(struct restart_state *state);

/* Leaves the handler. Does not return if the call continues by restart_syscall. [handler] */
void restart_leave(struct restart_state *state, ucontext_t *context);

/* ---- what an interrupted call shows about the thread's sleep: whether it sleeps, in what kind of call, and
 * until when ---- */

/* Returns true if the thread was asleep in a system call when the signal came. The kernel is then about to
 * repeat the call, or has returned -EINTR. Must be called after restart_enter(). [handler] */
bool restart_is_asleep(const ucontext_t *context);

enum restart_call {
    RESTART_CALL_NONE,
    RESTART_CALL_SHORT, /* never sleeps */
    RESTART_CALL_WAIT,  /* any signal ends the call */
    RESTART_CALL_OTHER, /* any other call; it may sleep, and may delay signals */
};

/* Returns the kind of the system call from which the thread has just returned, if it has executed no
 * instruction since. Must be called after restart_enter(). [handler] */
enum restart_call restart_call_before(const ucontext_t *context);

/* Returns the time limit of a poll in ns; UINT64_MAX for most calls. Returns 0 for calls that may return
 * interrupted although their wait is over: ppoll or pselect6 at the end of their time, and calls that check
 * for signals before they check for data (on Unix sockets, flock). Must be called after restart_enter().
 * [handler] */
uint64_t restart_sleep_limit_ns(const ucontext_t *context);

/* Returns the end of the current or just interrupted sleep; 0 if unknown. It is known for a nanosleep, for a
 * poll with a limit and without an event so far, and for a futex wait whose limit has passed. begin_ns is the
 * start of the sleep, end_ns the earlier result for the same sleep; each is 0 if unknown. All times are in ns
 * on CLOCK_MONOTONIC. Must be called after restart_enter(). [handler] */
uint64_t restart_sleep_end_ns(const ucontext_t *context, uint64_t begin_ns, uint64_t end_ns, uint64_t now_ns);

#endif
