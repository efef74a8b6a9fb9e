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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/kernel.h"
#include "base/registers.h"
#include "restart_begin.h"
#include "restart_decode.h"
#include "restart_machine.h"
#include "restart_rest.h"
#include "restart_rules.h"

enum { SIGNAL_SET_BYTES = 8, MOST_CALLS = 1024 };
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

/* io_uring_enter that submitted all that it was to submit, and was to wait for completions: whether the signal ended that wait or
 * came behind it the kernel does not tell. */
static bool has_submitted(const ucontext_t *context)
{
    uint32_t submitted = (uint32_t)registers_argument(context, 1),
             wanted = (uint32_t)registers_argument(context, 2);
    return registers_result(context) == (long)submitted && submitted && wanted &&
           (registers_argument(context, 3) & IORING_ENTER_GETEVENTS) &&
           restart_decode_call_before(context) == SYS_io_uring_enter;
}

bool restart_is_asleep(const ucontext_t *context)
{
    if (registers_result(context) == -EINTR)
        return restart_decode_call_before(context) != RESTART_DECODE_NOT_A_CALL;
    if (has_submitted(context))
        return true;
    return (uint64_t)registers_number(context) < MOST_CALLS && restart_decode_at_syscall(context);
}

enum restart_call restart_call_before(const ucontext_t *context)
{
    long call = restart_decode_call_before(context);
    if (call == RESTART_DECODE_NOT_A_CALL)
        return RESTART_CALL_NONE;
    if (call == SYS_clock_gettime || call == SYS_getrusage || call == SYS_times || call == SYS_sched_yield)
        return RESTART_CALL_SHORT;
    const struct restart_rule *rule = restart_find_rule(call);
    return rule && (rule->way == WAY_KERNEL || rule->way == WAY_WAIT) ? RESTART_CALL_WAIT : RESTART_CALL_OTHER;
}

static bool is_socket(int fd)
{
    struct stat found;
    return kernel_call(SYS_fstat, fd, (long)&found, 0, 0, 0, 0) == 0 && S_ISSOCK(found.st_mode);
}

uint64_t restart_sleep_limit_ns(const ucontext_t *context)
{
    bool repeats = (uint64_t)registers_number(context) < MOST_CALLS && restart_decode_at_syscall(context);
    long call = repeats ? registers_number(context) : restart_decode_call_before(context);
    bool reads = call == SYS_read || call == SYS_readv;
    if (call == SYS_recvfrom || call == SYS_recvmsg || call == SYS_flock || (reads && is_socket((int)registers_argument(context, 0))))
        return 0;
#ifdef SYS_poll
    if (call == SYS_poll) {
        int limit_ms = (int)registers_argument(context, 2);
        return limit_ms < 0 ? UINT64_MAX : (uint64_t)limit_ms * 1000000u;
    }
#endif
    if (call != SYS_ppoll && call != SYS_pselect6)
        return UINT64_MAX;
    /* What is left stands there. */
    const struct timespec *left = (const struct timespec *)registers_argument(context, call == SYS_ppoll ? 2 : 4);
    bool is_there = left && restart_is_readable((uintptr_t)&left->tv_sec) && restart_is_readable((uintptr_t)&left->tv_nsec);
    return is_there && !left->tv_sec && !left->tv_nsec ? 0 : UINT64_MAX;
}

/* Far limits (a timespec may hold 2^63 s) are none: the sum must not wrap. */
static uint64_t deadline_after(uint64_t begin_ns, struct timespec limit)
{
    const uint64_t far_s = (uint64_t)1 << 32;
    if (limit.tv_sec < 0 || (uint64_t)limit.tv_sec > far_s)
        return UINT64_MAX - 1;
    return begin_ns + (uint64_t)limit.tv_sec * 1000000000u + (uint64_t)limit.tv_nsec;
}

/* So much later, by a time of the program's, if that is there still; else 0. */
static uint64_t later_by(uint64_t begin_ns, const struct timespec *time)
{
    bool is_there = time && restart_is_readable((uintptr_t)&time->tv_sec) && restart_is_readable((uintptr_t)&time->tv_nsec);
    return is_there ? deadline_after(begin_ns, *time) : 0;
}

/* It was cut, or its time was over. What is left of a sleep stands where the program wants it (K2), and it may want it where it has said how
 * long; of a ppoll in the limit itself (K3). */
uint64_t restart_sleep_end_ns(const ucontext_t *context, uint64_t begin_ns, uint64_t now_ns)
{
    long call = restart_decode_call_before(context), result = registers_result(context);
    const struct restart_rule *rule = restart_find_rule(call);
    if (!rule || (result && result != -EINTR) || (call == SYS_clock_nanosleep && registers_argument(context, 1) & TIMER_ABSTIME))
        return 0;
    uint64_t limit = registers_argument(context, rule->limit_arg);
    const struct timespec *time = (const struct timespec *)limit, *left = NULL;
    if (rule->limit == LIMIT_SLEEP)
        left = (const struct timespec *)registers_argument(context, rule->limit_arg + 1);
    switch (rule->limit) {
    case LIMIT_MS:
        return begin_ns && (int)limit > 0 ? begin_ns + (uint32_t)limit * (uint64_t)1000000 : 0;
    case LIMIT_LEFT:
        return result ? later_by(now_ns, time) : 0;
    case LIMIT_REL:
        return begin_ns && rule->mask != MASK_NONE ? later_by(begin_ns, time) : 0; /* the others return 0 for what came */
    case LIMIT_SLEEP:
        return result && left ? later_by(now_ns, left) : begin_ns ? later_by(begin_ns, time) : 0;
    default:
        return 0;
    }
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

static void plan_mask(struct restart_state *state, const struct restart_rule *rule, const ucontext_t *context)
{
    struct restart_frame *job = &state->job;
    uint64_t given =
        rule->call == rule->wait_call || rule->call == SYS_epoll_pwait ? job->args[rule->mask_arg] : 0;
    const uint64_t *mask = (const uint64_t *)given;
    if (rule->mask == MASK_NONE) {
        job->unmask_first = 1;
        return;
    }
    if (rule->mask == MASK_PAIR && given != 0)
        mask = (const uint64_t *)*mask;
    job->wait_mask = mask != NULL ? *mask : job->program_mask;
    uint64_t mask_address = in_frame(state, context, offsetof(struct restart_frame, wait_mask));
    if (rule->mask == MASK_PTR) {
        job->args[rule->mask_arg] = mask_address;
        job->args[rule->mask_arg + 1] = SIGNAL_SET_BYTES;
        return;
    }
    job->wait_mask_arg[0] = mask_address;
    job->wait_mask_arg[1] = SIGNAL_SET_BYTES;
    job->args[rule->mask_arg] = in_frame(state, context, offsetof(struct restart_frame, wait_mask_arg));
}

static void plan_limit(struct restart_state *state, const struct restart_rule *rule,
                       const ucontext_t *context, uint64_t now_ns)
{
    struct restart_frame *job = &state->job;
    uint64_t given = job->args[rule->limit_arg];
    struct timespec limit = {0};
    if (rule->limit == LIMIT_NONE)
        return;
    job->args[rule->limit_arg] = 0;
    if (rule->limit == LIMIT_MS ? (int)given < 0 : given == 0)
        return;
    if (rule->limit == LIMIT_MS)
        limit = (struct timespec){.tv_sec = (int)given / 1000, .tv_nsec = (int)given % 1000 * 1000000l};
    else
        memcpy(&limit, (const void *)given, sizeof limit);
    job->args[rule->limit_arg] = in_frame(state, context, offsetof(struct restart_frame, left));
    job->deadline_ns =
        deadline_after(rule->limit == LIMIT_LEFT ? now_ns : begin_of_call_ns(state, now_ns), limit);
    if (rule->limit == LIMIT_LEFT) {
        job->args[rule->limit_arg] = given;
        job->program_left = given;
    }
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
    job->deadline_ns = deadline_after(begin_of_call_ns(state, now_ns), limit_ts);
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
    plan_mask(state, rule, context);
    plan_limit(state, rule, context, now_ns);
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
    if (job->args[5] != sizeof given || job->args[3] & URING_REGISTERED)
        return false;
    memcpy(&given, (const void *)job->args[4], sizeof given);
    if (given.ts == 0 || job->args[3] & URING_ABSOLUTE)
        return true;
    memcpy(&limit, (const void *)given.ts, sizeof limit);
    job->deadline_ns = deadline_after(begin_of_call_ns(state, now_ns), limit);
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
    default:
        return go_in_place(state, context, rule->call);
    }
}

enum restart_result restart_interrupted_call(struct restart_state *state, ucontext_t *context,
                                             uint64_t now_ns)
{
    if (state->waiting)
        return go_on_waiting(state, context, now_ns);
    if (registers_result(context) != -EINTR)
        return has_submitted(context) ? start_uring(state, context, now_ns) : start_rest(state, context);
    long call = restart_decode_call_before(context);
    if (call == RESTART_DECODE_NOT_A_CALL)
        return RESTART_NONE;
    const struct restart_rule *rule = restart_find_rule(call);
    return rule ? start_by_rule(state, context, rule, now_ns) : give_up(state, call);
}
