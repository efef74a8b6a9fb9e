/*
 * Which call was interrupted, when it is due, and how it goes on. restart.h has the method and the rules for
 * the caller.
 *
 * Handler code: no locks, no memory from the heap, no stdio, no errno (system calls go through
 * kernel_call).
 *
 * What follows from the kernel's sources (kernel/time/hrtimer.c, fs/select.c, kernel/futex,
 * arch/x86/kernel/signal.c, arch/arm64/kernel/signal.c):
 *   K1  -ERESTART_RESTARTBLOCK becomes -EINTR when a handler runs, the restart block stays; rt_sigreturn
 *       resets it.
 *   K2  A restart block holds an absolute expiry and the program's rem pointer, which is rewritten at each
 *       interruption.
 *   K3  ppoll and pselect6 write the remainder into the program's structure before -EINTR, if it can be
 *       written to.
 *   K4  Calls with a mask argument leave it in force while the handler is set up; the frame has the mask to
 *       return to.
 */
#include "restart.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/kernel.h"
#include "base/os.h"
#include "base/registers.h"
#include "restart_begin.h"
#include "restart_decode.h"
#include "restart_look.h"
#include "restart_machine.h"
#include "restart_rest.h"
#include "restart_rules.h"

enum { SIGNAL_SET_BYTES = 8 };
/* Flags of io_uring_enter that headers of before Linux 6.12 do not have: the limit is a time of the clock; the structure is not in
 * memory of the program's. */
enum { URING_ABSOLUTE = 1 << 5, URING_REGISTERED = 1 << 6 };

/* Of ThreadSanitizer, where the program has it. */
extern void __tsan_acquire(void *) __attribute__((weak));

void restart_state_init(struct restart_state *state, uint64_t own_signals)
{
    memset(state, 0, sizeof *state);
    state->sanitized = __tsan_acquire != NULL;
    state->own_signals = own_signals;
    state->unknown_call = -1;
}

static uint64_t monotonic_ns(void)
{
    struct timespec now = {0};
    kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, (uint64_t)&now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct timespec left_until(uint64_t deadline_ns)
{
    uint64_t now_ns = monotonic_ns();
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    return (struct timespec){.tv_sec = (time_t)(left_ns / 1000000000u),
                             .tv_nsec = (long)(left_ns % 1000000000u)};
}

/* Set for good when the first such call is interrupted: few programs of many threads make any, and the
 * baseline costs two system calls a sample. */
static bool baseline_wanted;

void restart_note_sample(struct restart_state *state)
{
    if (!load_relaxed(&baseline_wanted))
        return;
    kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, (uint64_t)&state->base_time, 0, 0, 0, 0);
    kernel_call(SYS_getrusage, RUSAGE_THREAD, (uint64_t)&state->base_usage, 0, 0, 0, 0);
    state->base_valid = true;
}

static uint64_t begin_of_call_ns(const struct restart_state *state, uint64_t now_ns)
{
    store_relaxed(&baseline_wanted, true);
    return restart_begin_of_call_ns(state, now_ns);
}

static bool program_signal_pending(const struct restart_state *state, const ucontext_t *context)
{
    uint64_t pending = 0;
    kernel_call(SYS_rt_sigpending, (uint64_t)&pending, SIGNAL_SET_BYTES, 0, 0, 0, 0);
    return (pending & ~restart_mask_of(context) & ~state->own_signals) != 0;
}

static enum restart_result go_in_place(const struct restart_state *state, ucontext_t *context, long call)
{
    if (program_signal_pending(state, context))
        return RESTART_LEFT_PROGRAM_SIGNAL;
    restart_repeat(state, context, call);
    return RESTART_DONE;
}

static enum restart_result go_here(const struct restart_state *state, ucontext_t *context, long call)
{
    if (program_signal_pending(state, context))
        return RESTART_LEFT_PROGRAM_SIGNAL;
    registers_set_result(context, kernel_call(call, state->first, registers_argument(context, 1), registers_argument(context, 2),
                                              registers_argument(context, 3), 0, 0));
    return RESTART_DONE;
}

/* What is left goes to the kernel, in the program's structure where the kernel itself would keep it. */
static void set_time_left(struct restart_frame *job)
{
    if (job->deadline_ns == UINT64_MAX)
        return;
    job->left = left_until(job->deadline_ns);
    if (job->program_left == 0)
        return;
    /* By the kernel's hand: the program's structure may be in memory that cannot be written to. */
    struct iovec from = {.iov_base = &job->left, .iov_len = sizeof job->left};
    struct iovec to = {.iov_base = (void *)job->program_left, .iov_len = sizeof job->left};
    long pid = kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    kernel_call(SYS_process_vm_writev, (uint64_t)pid, (uint64_t)&from, 1, (uint64_t)&to, 1, 0);
}

static enum restart_result give_up(struct restart_state *state, long call)
{
    state->unknown_call = (int)call;
    return RESTART_UNKNOWN;
}

static enum restart_result go_wait(struct restart_state *state, ucontext_t *context)
{
    if (state->job.unmask_first && state->job.call != SYS_restart_syscall &&
        program_signal_pending(state, context))
        return RESTART_LEFT_PROGRAM_SIGNAL;
    set_time_left(&state->job);
    state->will_wait = restart_go_wait(state, context);
    return state->will_wait ? RESTART_DONE : give_up(state, (long)state->job.call);
}

static struct restart_frame *begin_job(struct restart_state *state, const ucontext_t *context, long call)
{
    struct restart_frame *job = &state->job;
    memset(job, 0, sizeof *job);
    job->state = (uint64_t)state;
    job->pc = registers_pc(context);
    job->call = (uint64_t)call;
    job->args[0] = job->program_args[0] = state->first;
    for (int i = 1; i < 6; i++)
        job->args[i] = job->program_args[i] = registers_argument(context, i);
    job->program_mask = restart_mask_of(context);
    job->deadline_ns = UINT64_MAX;
    return job;
}

/* Address of a member of the frame that the stub will build. */
static uint64_t in_frame(const struct restart_state *state, const ucontext_t *context, size_t offset)
{
    return restart_frame_place(state, context) + offset;
}

/* Memory of the program's may be gone: the call has its own copy of what was in it. Then this is false, as of the next two. */
static bool plan_mask(struct restart_state *state, const struct restart_rule *rule, const ucontext_t *context)
{
    struct restart_frame *job = &state->job;
    uint64_t given =
        rule->call == rule->wait_call || rule->call == SYS_epoll_pwait ? job->args[rule->mask_arg] : 0;
    if (rule->mask == MASK_NONE) {
        job->unmask_first = 1;
        return true;
    }
    if (rule->mask == MASK_PAIR && given && !os_copy_memory(&given, given, sizeof given))
        return false;
    job->wait_mask = job->program_mask;
    if (given && !os_copy_memory(&job->wait_mask, given, sizeof job->wait_mask))
        return false;
    uint64_t mask_address = in_frame(state, context, offsetof(struct restart_frame, wait_mask));
    if (rule->mask == MASK_PTR) {
        job->args[rule->mask_arg] = mask_address;
        job->args[rule->mask_arg + 1] = SIGNAL_SET_BYTES;
        return true;
    }
    job->wait_mask_arg[0] = mask_address;
    job->wait_mask_arg[1] = SIGNAL_SET_BYTES;
    job->args[rule->mask_arg] = in_frame(state, context, offsetof(struct restart_frame, wait_mask_arg));
    return true;
}

static bool plan_limit(struct restart_state *state, const struct restart_rule *rule,
                       const ucontext_t *context, uint64_t now_ns)
{
    struct restart_frame *job = &state->job;
    uint64_t given = job->args[rule->limit_arg];
    struct timespec limit = {0};
    if (rule->limit == LIMIT_NONE)
        return true;
    job->args[rule->limit_arg] = 0;
    if (rule->limit == LIMIT_MS ? (int)given < 0 : given == 0)
        return true;
    if (rule->limit == LIMIT_MS)
        limit = (struct timespec){.tv_sec = (int)given / 1000, .tv_nsec = (int)given % 1000 * 1000000l};
    else if (!os_copy_memory(&limit, given, sizeof limit))
        return false;
    job->args[rule->limit_arg] = in_frame(state, context, offsetof(struct restart_frame, left));
    job->deadline_ns =
        restart_deadline_after(rule->limit == LIMIT_LEFT ? now_ns : begin_of_call_ns(state, now_ns), limit);
    if (rule->limit == LIMIT_LEFT) {
        job->args[rule->limit_arg] = given;
        job->program_left = given;
    }
    return true;
}

/* A blocking call on a socket with a time limit: the kernel counts the limit from each restart, so we end it. */
static enum restart_result start_socket(struct restart_state *state, ucontext_t *context,
                                        const struct restart_rule *rule, uint64_t now_ns)
{
    struct timeval limit = {0};
    uint32_t size = sizeof limit;
    long failed = kernel_call(SYS_getsockopt, state->first, SOL_SOCKET, (uint64_t)rule->socket_option,
                              (uint64_t)&limit, (uint64_t)&size, 0);
    if (failed != 0 || (limit.tv_sec == 0 && limit.tv_usec == 0))
        return give_up(state, rule->call);
    struct restart_frame *job = begin_job(state, context, rule->call);
    struct timespec limit_ts = {.tv_sec = limit.tv_sec, .tv_nsec = limit.tv_usec * 1000};
    job->unmask_first = 1;
    job->deadline_ns = restart_deadline_after(begin_of_call_ns(state, now_ns), limit_ts);
    job->result_at_end = rule->call == SYS_connect ? (uint64_t)-EINPROGRESS : (uint64_t)-EAGAIN;
    return go_wait(state, context);
}

/* Whether the kernel, or a filter of calls, does not know the call that is to wait instead; no argument of it is valid. */
static bool is_missing(const struct restart_rule *rule)
{
    return rule->wait_call != rule->call && kernel_call(rule->wait_call, -1, 0, 0, 0, 0, 0) == -ENOSYS;
}

static enum restart_result start_wait(struct restart_state *state, ucontext_t *context,
                                      const struct restart_rule *rule, uint64_t now_ns)
{
    if (rule->mask == MASK_NONE && registers_argument(context, rule->limit_arg) == 0)
        return go_in_place(state, context, rule->call);
    if (is_missing(rule))
        return give_up(state, rule->call);
    begin_job(state, context, rule->wait_call);
    if (!plan_mask(state, rule, context) || !plan_limit(state, rule, context, now_ns))
        return give_up(state, rule->call);
    return go_wait(state, context);
}

/* Whether the kernel left a restart block for this call (K1), or gave up for good. */
static bool has_restart_block(long call, const ucontext_t *context)
{
    int operation = (int)registers_argument(context, 1) & FUTEX_CMD_MASK;
    if (call == SYS_clock_nanosleep)
        return (registers_argument(context, 1) & TIMER_ABSTIME) == 0;
    if (call == SYS_futex)
        return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) &&
               registers_argument(context, 3) != 0;
    return true;
}

/* The stub's call was interrupted again. */
static enum restart_result go_on_waiting(struct restart_state *state, ucontext_t *context, uint64_t now_ns)
{
    if (state->job.result_at_end != 0 && now_ns >= state->job.deadline_ns) {
        registers_set_result(context, (long)state->job.result_at_end);
        return RESTART_DONE;
    }
    enum restart_result result = go_wait(state, context);
    if (result != RESTART_DONE && state->job.result_known)
        registers_set_result(context, (long)state->job.result_known);
    return result;
}

/* The time limit of io_uring_enter is in a structure with others: one in the frame takes its place, in three words that the stub
 * needs for no mask then. False where the structure is another. */
static bool plan_uring(struct restart_state *state, const ucontext_t *context, uint64_t now_ns)
{
    struct restart_frame *job = &state->job;
    struct io_uring_getevents_arg given;
    struct timespec limit;
    _Static_assert(offsetof(struct restart_frame, wait_mask) + sizeof given ==
                       offsetof(struct restart_frame, left),
                   "three words");
    if (!(job->args[3] & IORING_ENTER_EXT_ARG))
        return true;
    if (job->args[5] != sizeof given || job->args[3] & URING_REGISTERED || !os_copy_memory(&given, job->args[4], sizeof given))
        return false;
    if (given.ts == 0 || job->args[3] & URING_ABSOLUTE)
        return true;
    if (!os_copy_memory(&limit, given.ts, sizeof limit))
        return false;
    job->deadline_ns = restart_deadline_after(begin_of_call_ns(state, now_ns), limit);
    given.ts = in_frame(state, context, offsetof(struct restart_frame, left));
    memcpy((char *)job + offsetof(struct restart_frame, wait_mask), &given, sizeof given);
    job->args[4] = in_frame(state, context, offsetof(struct restart_frame, wait_mask));
    return true;
}

/* What has submitted waits anew, by a call that submits nothing: as if the thread had been without a core between the two. If the
 * completions are there it returns at once. */
static enum restart_result start_uring(struct restart_state *state, ucontext_t *context, uint64_t now_ns)
{
    uint64_t result = (uint64_t)registers_result(context);
    if (!restart_find_first(state, context))
        return give_up(state, SYS_io_uring_enter);
    if (result == (uint64_t)-EINTR && !(registers_argument(context, 3) & IORING_ENTER_EXT_ARG))
        return go_in_place(state, context, SYS_io_uring_enter);
    struct restart_frame *job = begin_job(state, context, SYS_io_uring_enter);
    if (!plan_uring(state, context, now_ns))
        return give_up(state, SYS_io_uring_enter);
    job->unmask_first = 1;
    if (result != (uint64_t)-EINTR) {
        job->args[1] = 0;
        job->result_known = result;
    }
    return go_wait(state, context);
}

/* The call returns with a part of what it was to move. */
static enum restart_result start_rest(struct restart_state *state, ucontext_t *context)
{
    long result = registers_result(context);
    if (result <= 0 || !restart_is_behind(context))
        return RESTART_NONE;
    long call = restart_decode_call_before(context);
    bool is_known = restart_find_first(state, context);
    struct restart_frame *job = begin_job(state, context, call);
    if (!is_known)
        return restart_may_have_rest(job, (uint64_t)result) ? give_up(state, call) : RESTART_NONE;
    switch (restart_find_rest(job, (uint64_t)result)) {
    case REST_NONE:
        return RESTART_NONE;
    case REST_LIMITED:
        return give_up(state, call);
    default:
        restart_take_rest(job, (uint64_t)result);
        job->unmask_first = 1;
        return go_wait(state, context);
    }
}

static enum restart_result start_by_rule(struct restart_state *state, ucontext_t *context,
                                         const struct restart_rule *rule, uint64_t now_ns)
{
    if (rule->way == WAY_KERNEL && has_restart_block(rule->call, context))
        return restart_go_kernel(state, context) ? RESTART_DONE : give_up(state, rule->call);
    if (!restart_find_first(state, context))
        return give_up(state, rule->call);
    switch (rule->way) {
    case WAY_WAIT:
        return start_wait(state, context, rule, now_ns);
    case WAY_SOCKET:
        return start_socket(state, context, rule, now_ns);
    case WAY_URING:
        return start_uring(state, context, now_ns);
    case WAY_HERE:
        return go_here(state, context, rule->call);
    default: /* a sleep until a moment reads it again */
        return rule->limit == LIMIT_SLEEP && !restart_is_readable(registers_argument(context, rule->limit_arg))
                   ? give_up(state, rule->call)
                   : go_in_place(state, context, rule->call);
    }
}

enum restart_result restart_interrupted_call(struct restart_state *state, ucontext_t *context,
                                             uint64_t now_ns)
{
    if (state->waiting)
        return go_on_waiting(state, context, now_ns);
    if (registers_result(context) != -EINTR)
        return restart_has_submitted(context) ? start_uring(state, context, now_ns) : start_rest(state, context);
    long call = restart_decode_call_before(context);
    if (call == RESTART_DECODE_NOT_A_CALL)
        return RESTART_NONE;
    const struct restart_rule *rule = restart_find_rule(call);
    return rule ? start_by_rule(state, context, rule, now_ns) : give_up(state, call);
}
