/*
 * Puts back the system calls that a sampling signal interrupted, so that the program never sees an EINTR of
 * ours.
 *
 * SA_RESTART makes the kernel restart read, write and most futex waits. It never restarts sleeps, polls and
 * the like: those come back with -EINTR, and their time limit starts anew when they are called again. The
 * handler repairs that, in one of four ways, by call:
 *
 *   kernel    nanosleep, relative clock_nanosleep, poll, futex with a time limit. The kernel keeps the absolute
 *             deadline of such a call in the task and continues it by restart_syscall(2), until the thread's
 *             next rt_sigreturn. So we do not use rt_sigreturn: restart_leave() restores the program's
 *             registers itself and issues restart_syscall at the program's own syscall instruction. Exact. A
 *             signal of the program's that comes in between ends in an rt_sigreturn, upon which the kernel
 *             answers -EINTR, as the program expects.
 *   wait      ppoll, pselect6, epoll_*, pause, sigsuspend, io_getevents: calls that can set the signal mask
 *             atomically. The thread comes back, all signals blocked, in a stub of ours that issues the call
 *             with the program's mask as its mask argument and with what is left of its time, and then goes
 *             on in the program.
 *   stub      semtimedop, sigtimedwait, sockets with SO_RCVTIMEO or SO_SNDTIMEO, and io_uring_enter that has submitted and
 *             waits: the same stub, but nothing atomic.
 *   here      fallocate, which begins anew whenever it is interrupted: the handler issues it, as no signal interrupts that.
 *   in place  calls without a time limit or with an absolute one: semop, msgsnd,
 *             clock_nanosleep(TIMER_ABSTIME) ...: the program counter goes back to the syscall instruction.
 *
 * On aarch64 there is one stub for all but "in place"; it ends by rt_sigreturn, and waits by restart_syscall, too. A call whose
 * first argument cannot be found there stays interrupted (restart_machine_aarch64.c, docs/architecture.md).
 *
 * Calls that move bytes come back with a part of them; restart_rest.h says which are made to move the rest, in the stub.
 *
 * Guarantee S: after nanosleep, poll (not on aarch64, where it is a ppoll) and futex (sem_timedwait), relative or not but for
 * clock_nanosleep(TIMER_ABSTIME), every signal of the program's that interrupts the call is seen as EINTR.
 * For the other calls one can get lost as an interruption (its handler runs all the same, the call then goes
 * on), when the sample is delivered
 *   - at the very end of the rt_sigreturn of the program's own handler: the context is the same as if we had
 *     interrupted the call. About 1.4 us per signal of the program's: 0.03 % of them at 200 samples a second,
 *     0.15 % at 1,000. With a handler that blocks our signal (sigfillset) it is the handler's duration. Not for
 *     a call that was already in the wait stub;
 *   - in place and stub only: and the program's signal comes between our look at the pending ones and the
 *     call, 1 us a sample.
 *
 * Rules for the handler that calls this: installed with SA_SIGINFO | SA_RESTART, sa_mask full. On x86-64 the kernel's frame may be on an
 * alternate stack (SA_ONSTACK), and the handler runs neither there nor on the interrupted stack (sample_signal.h); on aarch64 both are on the
 * interrupted stack. Every delivery, of a dropped sample too, calls in this order
 *
 *     restart_enter()              first, before anyone reads the context
 *     restart_interrupted_call()
 *     restart_note_sample()
 *     restart_leave()              last: does not always return. Restore errno and clear in-handler marks
 *                                  before it.
 *
 * and in between makes no system call that sleeps with a time limit (nanosleep, poll, futex).
 */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "restart_state.h"

enum restart_result {
    RESTART_NONE,                /* not at an interrupted call */
    RESTART_DONE,                /* the call goes on */
    RESTART_LEFT_PROGRAM_SIGNAL, /* a signal of the program's is pending: EINTR stays */
    RESTART_UNKNOWN,             /* EINTR that we could not put back; see restart_state.unknown_call */
};

/* own_signals: bit n-1 set for each signal number n that the sampler uses. [owner] */
void restart_state_init(struct restart_state *state, uint64_t own_signals);

/* Makes the context show the program where one of our stubs was interrupted. [handler] */
void restart_enter(struct restart_state *state, ucontext_t *context);

/* Puts the interrupted call back, if there is one; now_ns is CLOCK_MONOTONIC, taken at the handler's entry.
 * [handler] */
enum restart_result restart_interrupted_call(struct restart_state *state, ucontext_t *context, uint64_t now_ns);

/* Notes what the thread did until now, once the process has had a call interrupted for which it matters: from
 * it follows when the next such call began. [handler] */
void restart_note_sample(struct restart_state *state);

/* Leaves the handler; does not return when the call continues by restart_syscall. [handler] */
void restart_leave(struct restart_state *state, ucontext_t *context);

/* ---- what an interrupted call tells of the thread's sleep: whether it sleeps, in what kind of call, and until when ---- */

/* Whether the thread slept in a system call when the signal came: as the kernel has left it, to be repeated or with -EINTR.
 * Behind restart_enter(). [handler] */
bool restart_is_asleep(const ucontext_t *context);

enum restart_call {
    RESTART_CALL_NONE,
    RESTART_CALL_SHORT, /* never sleeps */
    RESTART_CALL_WAIT,  /* any signal ends it */
    RESTART_CALL_OTHER, /* another one: may sleep, and let signals wait */
};

/* The system call that the thread comes out of, if it has executed nothing since. Behind restart_enter(). [handler] */
enum restart_call restart_call_before(const ucontext_t *context);

/* Some calls come back interrupted even if what they wait for has come: polls whose time is over, and those that look for signals before
 * they look for data (of Unix sockets, flock). 0: that may be; else the time that a poll may take; UINT64_MAX: it is none of them, or not over.
 * As restart_is_asleep(). [handler] */
uint64_t restart_sleep_limit_ns(const ucontext_t *context);

/* When the sleep ends, or ended, that the thread is in or comes out of; 0: nobody knows. Of a nanosleep, of a poll with a limit for which nothing
 * has come yet, and of a futex's wait whose limit has; 0 of other calls. begin_ns: when it began, end_ns: what this has said of the same sleep
 * before; each is 0 if that is not known. All on CLOCK_MONOTONIC. As restart_is_asleep(). [handler] */
uint64_t restart_sleep_end_ns(const ucontext_t *context, uint64_t begin_ns, uint64_t end_ns, uint64_t now_ns);

#endif
