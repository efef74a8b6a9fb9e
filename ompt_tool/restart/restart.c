/* Finds out which call a sample interrupted, when the thread's sleep ends, and how the call continues.
 * restart.h has the method and the rules for the caller.
 *
 * This is handler code: no locks, no heap memory, no stdio, no errno (system calls go through kernel_call).
 *
 * Facts from the kernel's sources (kernel/time/hrtimer.c, fs/select.c, kernel/futex,
 * arch/x86/kernel/signal.c, arch/arm64/kernel/signal.c):
 *   K1  -ERESTART_RESTARTBLOCK becomes -EINTR when a handler runs. The restart block stays until rt_sigreturn
 *       resets it.
 *   K2  A restart block holds an absolute expiry time and the program's pointer to `rem`, which the kernel
 *       rewrites at each interruption.
 *   K3  ppoll and pselect6 write the remaining time into the program's structure before they return
 *       -EINTR, if the structure is writable.
 *   K4  A call with a mask argument leaves that mask in force while the handler is set up. The signal's frame
 *       has the mask to return to. */
#include "restart.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/kernel.h"
#include "base/os.h"
#include "base/registers.h"
#include "restart_machine.h"
#include "restart_rest.h"

/* ---- the calls that return EINTR to the program despite SA_RESTART, and how each of them continues ---- */

enum restart_way {
    WAY_KERNEL,   /* by restart_syscall if the kernel left a restart block, otherwise in place */
    WAY_WAIT,     /* by the stub, which makes a call that can wait with the program's signal mask */
    WAY_SOCKET,   /* by the stub, with the socket's time limit */
    WAY_IN_PLACE, /* by executing the same syscall instruction again */
    /* by the handler, which no signal can interrupt: every interruption makes this call start over, so in
     * place it might never end */
    WAY_HERE,
    WAY_URING, /* in place, or by the stub if a structure contains a time limit */
};

enum restart_limit {
    LIMIT_NONE,
    LIMIT_MS,   /* an int in ms; negative: no limit */
    LIMIT_REL,  /* a timespec that the kernel does not change; NULL: no limit */
    LIMIT_LEFT, /* a timespec in which the kernel stores the remaining time; NULL: no limit */
    /* a timespec, the length of a sleep; the next argument is the address for the remaining time, or NULL */
    LIMIT_SLEEP,
};

enum restart_mask {
    MASK_NONE, /* the call has no mask argument */
    MASK_PTR,  /* the argument points to a signal set; the next argument is the set's size */
    MASK_PAIR, /* the argument points to the address and the size of a signal set */
};

struct restart_rule {
    short call;
    short wait_call;     /* only for WAY_WAIT: the call that the stub makes instead, if the kernel has it */
    short socket_option; /* only for WAY_SOCKET: the socket option that contains the time limit */
    uint8_t way;         /* a value of enum restart_way */
    uint8_t limit, limit_arg;
    uint8_t mask, mask_arg;
};

/* A rule with WAY_WAIT: the call, the call that the stub makes instead, and which arguments of the latter are
 * the time limit and the signal mask. */
#define WAIT(number, instead, limit_kind, limit_at, mask_kind, mask_at)                                                \
    {.call = number,                                                                                                   \
     .way = WAY_WAIT,                                                                                                  \
     .wait_call = instead,                                                                                             \
     .limit = limit_kind,                                                                                              \
     .limit_arg = limit_at,                                                                                            \
     .mask = mask_kind,                                                                                                \
     .mask_arg = mask_at}

static const struct restart_rule RULES[] = {
    {.call = SYS_nanosleep, .way = WAY_KERNEL, .limit = LIMIT_SLEEP, .limit_arg = 0},
    {.call = SYS_clock_nanosleep, .way = WAY_KERNEL, .limit = LIMIT_SLEEP, .limit_arg = 2},
#ifdef SYS_poll
    {.call = SYS_poll, .way = WAY_KERNEL, .limit = LIMIT_MS, .limit_arg = 2},
#endif
    {.call = SYS_futex, .way = WAY_KERNEL},
    WAIT(SYS_ppoll, SYS_ppoll, LIMIT_LEFT, 2, MASK_PTR, 3),
    WAIT(SYS_pselect6, SYS_pselect6, LIMIT_LEFT, 4, MASK_PAIR, 5),
#ifdef SYS_epoll_wait
    WAIT(SYS_epoll_wait, SYS_epoll_pwait2, LIMIT_MS, 3, MASK_PTR, 4),
#endif
    WAIT(SYS_epoll_pwait, SYS_epoll_pwait2, LIMIT_MS, 3, MASK_PTR, 4),
    WAIT(SYS_epoll_pwait2, SYS_epoll_pwait2, LIMIT_REL, 3, MASK_PTR, 4),
#ifdef SYS_pause
    WAIT(SYS_pause, SYS_rt_sigsuspend, LIMIT_NONE, 0, MASK_PTR, 0),
#endif
    WAIT(SYS_rt_sigsuspend, SYS_rt_sigsuspend, LIMIT_NONE, 0, MASK_PTR, 0),
    WAIT(SYS_io_getevents, SYS_io_pgetevents, LIMIT_REL, 4, MASK_PAIR, 5),
    WAIT(SYS_io_pgetevents, SYS_io_pgetevents, LIMIT_REL, 4, MASK_PAIR, 5),
    WAIT(SYS_semtimedop, SYS_semtimedop, LIMIT_REL, 3, MASK_NONE, 0),
    WAIT(SYS_rt_sigtimedwait, SYS_rt_sigtimedwait, LIMIT_REL, 2, MASK_NONE, 0),
#ifdef SYS_select
    {.call = SYS_select, .way = WAY_IN_PLACE},
#endif
    {.call = SYS_semop, .way = WAY_IN_PLACE},
    {.call = SYS_msgsnd, .way = WAY_IN_PLACE},
    {.call = SYS_msgrcv, .way = WAY_IN_PLACE},
    /* interrupted on memory file systems before Linux 6.11, and on huge pages */
    {.call = SYS_fallocate, .way = WAY_HERE},
    {.call = SYS_io_uring_enter, .way = WAY_URING},
    {.call = SYS_read, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_readv, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_recvfrom, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_recvmsg, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_recvmmsg, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_accept, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_accept4, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_write, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_writev, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_sendto, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_sendmsg, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_sendmmsg, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_connect, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
};

/* Returns the call's rule; NULL if it has none. */
static const struct restart_rule *restart_find_rule(long call)
{
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++)
        if (RULES[i].call == call)
            return &RULES[i];
    return NULL;
}

/* ---- what an interrupted call shows about the thread's sleep ---- */

/* Returns begin_ns plus the limit. A distant limit (a timespec may hold 2^63 s) counts as no limit, because
 * the sum must not overflow. */
static uint64_t call_deadline_after(uint64_t begin_ns, struct timespec limit)
{
    const uint64_t far_s = (uint64_t)1 << 32;
    if (limit.tv_sec < 0 || (uint64_t)limit.tv_sec > far_s)
        return UINT64_MAX - 1;
    return begin_ns + (uint64_t)limit.tv_sec * 1000000000u + (uint64_t)limit.tv_nsec;
}

enum { MOST_CALLS = 1024, SLACK_NS = 50000, MOST_SLACK_NS = 100000000 };

/* Returns true if the call is an io_uring_enter that has submitted all its entries and was to wait for
 * completions. The kernel does not show whether the signal ended that wait or came after it. */
static bool uring_has_submitted(const ucontext_t *context)
{
    uint32_t submitted = (uint32_t)registers_argument(context, 1), wanted = (uint32_t)registers_argument(context, 2);
    return registers_result(context) == (long)submitted && submitted && wanted &&
           (registers_argument(context, 3) & IORING_ENTER_GETEVENTS) &&
           restart_decode_call_before(context) == SYS_io_uring_enter;
}

bool restart_is_asleep(const ucontext_t *context)
{
    if (registers_result(context) == -EINTR)
        return restart_decode_call_before(context) != RESTART_DECODE_NOT_A_CALL;
    if (uring_has_submitted(context))
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

static bool call_fd_is_socket(int fd)
{
    struct stat found;
    return kernel_call(SYS_fstat, fd, (long)&found, 0, 0, 0, 0) == 0 && S_ISSOCK(found.st_mode);
}

uint64_t restart_sleep_limit_ns(const ucontext_t *context)
{
    bool repeats = (uint64_t)registers_number(context) < MOST_CALLS && restart_decode_at_syscall(context);
    long call = repeats ? registers_number(context) : restart_decode_call_before(context);
    bool reads = call == SYS_read || call == SYS_readv;
    if (call == SYS_recvfrom || call == SYS_recvmsg || call == SYS_flock ||
        (reads && call_fd_is_socket((int)registers_argument(context, 0))))
        return 0;
#ifdef SYS_poll
    if (call == SYS_poll) {
        int limit_ms = (int)registers_argument(context, 2);
        return limit_ms < 0 ? UINT64_MAX : (uint64_t)limit_ms * 1000000u;
    }
#endif
    if (call != SYS_ppoll && call != SYS_pselect6)
        return UINT64_MAX;
    struct timespec left; /* here the kernel has stored the remaining time in the program's structure */
    return os_copy_memory(&left, registers_argument(context, call == SYS_ppoll ? 2 : 4), sizeof left) && !left.tv_sec &&
                   !left.tv_nsec
               ? 0
               : UINT64_MAX;
}

/* Returns begin_ns plus a time that is in the program's memory; 0 if that memory is unmapped or the time is
 * 0. */
static uint64_t call_time_later_by(uint64_t begin_ns, uint64_t time)
{
    struct timespec read;
    return os_copy_memory(&read, time, sizeof read) && (read.tv_sec || read.tv_nsec)
               ? call_deadline_after(begin_ns, read)
               : 0;
}

/* Returns the timer slack in ns: how much later than set a timer may expire, if the program has not changed
 * the slack (prctl(2); for polls, fs/select.c). The remaining time of a sleep that the kernel reports
 * includes the slack. */
static uint64_t call_timer_slack_ns(uint64_t poll_ns)
{
    uint64_t of_poll = poll_ns / 1000 < MOST_SLACK_NS ? poll_ns / 1000 : MOST_SLACK_NS;
    return of_poll > SLACK_NS ? of_poll : SLACK_NS;
}

#define CLOCK_UNKNOWN -1

/* Returns the clock by which a sleep is measured. It is unknown on aarch64, where that argument is lost. */
static clockid_t call_sleep_clock(const ucontext_t *context)
{
#ifdef __x86_64__
    return (clockid_t)registers_argument(context, 0);
#else
    (void)context;
    return CLOCK_UNKNOWN;
#endif
}

/* Returns true if the clock shows real time. All other known clocks measure CPU time. */
static bool clock_is_of_real_time(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
}

/* Converts a time of this clock, which is in the program's memory, to CLOCK_MONOTONIC. Returns 0 if the
 * memory is unmapped or the clocks are unrelated. */
static uint64_t sleep_end_by_clock(clockid_t clock, uint64_t time)
{
    uint64_t end_ns = clock_is_of_real_time(clock) ? call_time_later_by(SLACK_NS, time) : 0;
    if (clock == CLOCK_MONOTONIC || !end_ns || end_ns > INT64_MAX)
        return end_ns;
    int64_t later_ns = (int64_t)end_ns - clock_ns_of(clock) + (int64_t)clock_now_ns();
    return later_ns > 0 ? (uint64_t)later_ns : 0;
}

/* Returns the end of a futex wait whose time limit has passed. The limit is a point in time or, for the old
 * FUTEX_WAIT, a length of time. */
static uint64_t sleep_end_of_futex(const ucontext_t *context, uint64_t begin_ns)
{
    uint64_t operation = registers_argument(context, 1), limit = registers_argument(context, 3);
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return begin_ns ? call_time_later_by(begin_ns + SLACK_NS, limit) : 0;
    case FUTEX_WAIT_BITSET:
        return sleep_end_by_clock(operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, limit);
    default:
        return 0;
    }
}

/* Returns the end of the sleep according to the call's time limit. If a sleep was interrupted, its remaining
 * time is where the program wants it (K2), perhaps in the structure with the sleep's length. The remaining
 * time of a ppoll is in the structure with its limit (K3), and is 0 at the end. A limit in ms is in the
 * register. */
static uint64_t sleep_end_by_limit(const struct restart_rule *rule, const ucontext_t *context, bool is_cut,
                                   uint64_t begin_ns, uint64_t now_ns)
{
    uint64_t limit = registers_argument(context, rule->limit_arg), left = 0, poll_ns = 0;
    if (rule->limit == LIMIT_SLEEP)
        left = registers_argument(context, rule->limit_arg + 1);
    if (rule->limit == LIMIT_LEFT)
        return is_cut ? call_time_later_by(now_ns, limit) : 0;
    if (is_cut && left)
        return call_time_later_by(now_ns, left);
    if (rule->limit == LIMIT_MS)
        poll_ns = (int)limit > 0 ? (uint32_t)limit * (uint64_t)1000000 : 0;
    if (!begin_ns || (rule->limit == LIMIT_MS && !poll_ns))
        return 0;
    begin_ns += call_timer_slack_ns(poll_ns);
    return poll_ns ? begin_ns + poll_ns : call_time_later_by(begin_ns, limit);
}

/* Returns true if the call's result shows whether its time is over. Other calls with a limit return the same
 * result when their time is over as when an event comes. */
static bool call_is_poll_or_sleep(const struct restart_rule *rule)
{
    return rule->limit != LIMIT_NONE && (rule->way == WAY_KERNEL || rule->mask != MASK_NONE);
}

uint64_t restart_sleep_end_ns(const ucontext_t *context, uint64_t begin_ns, uint64_t end_ns, uint64_t now_ns)
{
    long call = restart_decode_call_before(context), result = registers_result(context);
    const struct restart_rule *rule = restart_find_rule(call);
    clockid_t clock = call_sleep_clock(context);
    if (call == SYS_futex && result == -ETIMEDOUT)
        return sleep_end_of_futex(context, begin_ns);
    if (!rule || (result && result != -EINTR) || !call_is_poll_or_sleep(rule))
        return 0;
    if (call == SYS_clock_nanosleep && (registers_argument(context, 1) & TIMER_ABSTIME))
        return sleep_end_by_clock(clock, registers_argument(context, rule->limit_arg));
    if (call == SYS_clock_nanosleep && clock != CLOCK_UNKNOWN && !clock_is_of_real_time(clock))
        return 0;
    return end_ns ? end_ns : sleep_end_by_limit(rule, context, result, begin_ns, now_ns);
}

/* ---- when the call began ---- */

static uint64_t call_usage_cpu_us(const struct rusage *usage)
{
    return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u + (uint64_t)usage->ru_utime.tv_usec +
           (uint64_t)usage->ru_stime.tv_usec;
}

/* Returns when the interrupted call began. The result is never too early, so a limit that is counted from it
 * ends on time or late. The baseline is a time at which the thread was running (restart_note_sample). If the
 * thread has since given up its core exactly once, voluntarily, and was never preempted, it ran until it
 * blocked in this call. So it blocked at the baseline plus the CPU time used since then. In all other cases
 * the result is the present time. A margin is added, because the kernel may subtract interrupts or a virtual
 * machine's stolen time from a thread's CPU time, which would make the result too early. Makes one system
 * call (getrusage). */
static uint64_t call_begin_ns(const struct restart_state *state, uint64_t now_ns)
{
    struct rusage usage;
    if (!state->base_valid)
        return now_ns;
    memset(&usage, 0, sizeof usage);
    kernel_call(SYS_getrusage, RUSAGE_THREAD, (uint64_t)&usage, 0, 0, 0, 0);
    if (usage.ru_nvcsw - state->base_usage.ru_nvcsw != 1 || usage.ru_nivcsw != state->base_usage.ru_nivcsw)
        return now_ns;
    uint64_t base_ns = (uint64_t)state->base_time.tv_sec * 1000000000u + (uint64_t)state->base_time.tv_nsec;
    uint64_t rounding_us = 2; /* utime and stime are each rounded down, at the start and at the end */
    uint64_t margin_ns = (now_ns > base_ns ? now_ns - base_ns : 0) / 64;
    uint64_t begin_ns =
        base_ns + margin_ns + (call_usage_cpu_us(&usage) - call_usage_cpu_us(&state->base_usage) + rounding_us) * 1000u;
    return begin_ns < now_ns ? begin_ns : now_ns;
}

/* ---- how the call continues ---- */

enum { SIGNAL_SET_BYTES = 8 };
/* Flags of io_uring_enter that headers before Linux 6.12 lack. URING_ABSOLUTE: the limit is a point in time.
 * URING_REGISTERED: the structure is not in the program's memory. */
enum { URING_ABSOLUTE = 1 << 5, URING_REGISTERED = 1 << 6 };

/* A function of ThreadSanitizer; NULL if the program is built without it. */
extern void __tsan_acquire(void *) __attribute__((weak));

void restart_state_init(struct restart_state *state, uint64_t own_signals)
{
    memset(state, 0, sizeof *state);
    state->sanitized = __tsan_acquire != NULL;
    state->own_signals = own_signals;
    state->unknown_call = -1;
}

static uint64_t call_monotonic_ns(void)
{
    struct timespec now = {0};
    kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, (uint64_t)&now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct timespec time_left_until(uint64_t deadline_ns)
{
    uint64_t now_ns = call_monotonic_ns();
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    return (struct timespec){.tv_sec = (time_t)(left_ns / 1000000000u), .tv_nsec = (long)(left_ns % 1000000000u)};
}

/* Set for good at the first interrupted call for which the start must be known. Few programs with many
 * threads make such calls, and a baseline costs two system calls per sample. */
static bool baseline_wanted;

void restart_note_sample(struct restart_state *state)
{
    if (!load_relaxed(&baseline_wanted))
        return;
    kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, (uint64_t)&state->base_time, 0, 0, 0, 0);
    kernel_call(SYS_getrusage, RUSAGE_THREAD, (uint64_t)&state->base_usage, 0, 0, 0, 0);
    state->base_valid = true;
}

static uint64_t call_begin_with_baseline_ns(struct restart_state *state, uint64_t now_ns)
{
    store_relaxed(&baseline_wanted, true);
    state->needs_baseline = true;
    return call_begin_ns(state, now_ns);
}

static bool call_program_signal_pending(const struct restart_state *state, const ucontext_t *context)
{
    uint64_t pending = 0;
    kernel_call(SYS_rt_sigpending, (uint64_t)&pending, SIGNAL_SET_BYTES, 0, 0, 0, 0);
    return (pending & ~restart_mask_of(context) & ~state->own_signals) != 0;
}

static enum restart_result call_go_in_place(const struct restart_state *state, ucontext_t *context, long call)
{
    if (call_program_signal_pending(state, context))
        return RESTART_LEFT_PROGRAM_SIGNAL;
    restart_repeat(state, context, call);
    return RESTART_DONE;
}

static enum restart_result call_go_here(const struct restart_state *state, ucontext_t *context, long call)
{
    if (call_program_signal_pending(state, context))
        return RESTART_LEFT_PROGRAM_SIGNAL;
    registers_set_result(context, kernel_call(call, state->first, registers_argument(context, 1),
                                              registers_argument(context, 2), registers_argument(context, 3), 0, 0));
    return RESTART_DONE;
}

/* Sets the time limit of the next call to the remaining time. If the kernel would keep the remaining time in
 * the program's structure, stores it there, too. */
static void stub_job_set_time_left(struct restart_frame *job)
{
    if (job->deadline_ns == UINT64_MAX)
        return;
    job->left = time_left_until(job->deadline_ns);
    if (job->call == SYS_epoll_pwait) /* its limit is in ms; rounded up, so that no wait ends early */
        job->args[3] = (uint64_t)job->left.tv_sec * 1000 + ((uint64_t)job->left.tv_nsec + 999999) / 1000000;
    if (job->program_left == 0)
        return;
    /* This is done by a system call, because the program's structure may be in read-only memory. */
    struct iovec from = {.iov_base = &job->left, .iov_len = sizeof job->left};
    struct iovec to = {.iov_base = (void *)job->program_left, .iov_len = sizeof job->left};
    long pid = kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    kernel_call(SYS_process_vm_writev, (uint64_t)pid, (uint64_t)&from, 1, (uint64_t)&to, 1, 0);
}

static enum restart_result call_give_up(struct restart_state *state, long call)
{
    state->unknown_call = (int)call;
    return RESTART_UNKNOWN;
}

static enum restart_result call_go_wait(struct restart_state *state, ucontext_t *context)
{
    if (state->job.unmask_first && state->job.call != SYS_restart_syscall &&
        call_program_signal_pending(state, context))
        return RESTART_LEFT_PROGRAM_SIGNAL;
    stub_job_set_time_left(&state->job);
    state->will_wait = restart_go_wait(state, context);
    return state->will_wait ? RESTART_DONE : call_give_up(state, (long)state->job.call);
}

static struct restart_frame *stub_job_begin(struct restart_state *state, const ucontext_t *context, long call)
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

/* Returns the address that a member of the stub's frame will have once the stub has built its frame. */
static uint64_t address_in_stub_frame(const struct restart_state *state, const ucontext_t *context, size_t offset)
{
    return restart_frame_place(state, context) + offset;
}

/* Sets the signal mask of the job. Returns false if the program's structure cannot be read: since the kernel
 * has a copy, the program may have unmapped it. The same holds for stub_job_plan_limit() and
 * stub_job_plan_uring(). */
static bool stub_job_plan_mask(struct restart_state *state, const struct restart_rule *rule, const ucontext_t *context)
{
    struct restart_frame *job = &state->job;
    uint64_t given = rule->call == rule->wait_call || rule->call == SYS_epoll_pwait ? job->args[rule->mask_arg] : 0;
    if (rule->mask == MASK_NONE || job->call == SYS_io_getevents) {
        job->unmask_first = 1;
        return true;
    }
    if (rule->mask == MASK_PAIR && given && !os_copy_memory(&given, given, sizeof given))
        return false;
    job->wait_mask = job->program_mask;
    if (given && !os_copy_memory(&job->wait_mask, given, sizeof job->wait_mask))
        return false;
    uint64_t mask_address = address_in_stub_frame(state, context, offsetof(struct restart_frame, wait_mask));
    if (rule->mask == MASK_PTR) {
        job->args[rule->mask_arg] = mask_address;
        job->args[rule->mask_arg + 1] = SIGNAL_SET_BYTES;
        return true;
    }
    job->wait_mask_arg[0] = mask_address;
    job->wait_mask_arg[1] = SIGNAL_SET_BYTES;
    job->args[rule->mask_arg] = address_in_stub_frame(state, context, offsetof(struct restart_frame, wait_mask_arg));
    return true;
}

static bool stub_job_plan_limit(struct restart_state *state, const struct restart_rule *rule, const ucontext_t *context,
                                uint64_t now_ns)
{
    struct restart_frame *job = &state->job;
    uint64_t given = job->args[rule->limit_arg];
    struct timespec limit = {0};
    if (rule->limit == LIMIT_NONE)
        return true;
    if (rule->limit == LIMIT_MS ? (int)given < 0 : given == 0) {
        job->args[rule->limit_arg] = job->call == SYS_epoll_pwait ? given : 0;
        return true;
    }
    if (rule->limit == LIMIT_MS)
        limit = (struct timespec){.tv_sec = (int)given / 1000, .tv_nsec = (int)given % 1000 * 1000000l};
    else if (!os_copy_memory(&limit, given, sizeof limit))
        return false;
    job->args[rule->limit_arg] = address_in_stub_frame(state, context, offsetof(struct restart_frame, left));
    job->deadline_ns =
        call_deadline_after(rule->limit == LIMIT_LEFT ? now_ns : call_begin_with_baseline_ns(state, now_ns), limit);
    if (rule->limit == LIMIT_LEFT) {
        job->args[rule->limit_arg] = given;
        job->program_left = given;
    }
    return true;
}

/* Continues a blocking call on a socket with a time limit. The kernel would count the limit again from each
 * restart, so the stub ends the call when the time is over. */
static enum restart_result call_start_socket(struct restart_state *state, ucontext_t *context,
                                             const struct restart_rule *rule, uint64_t now_ns)
{
    struct timeval limit = {0};
    uint32_t size = sizeof limit;
    long failed = kernel_call(SYS_getsockopt, state->first, SOL_SOCKET, (uint64_t)rule->socket_option, (uint64_t)&limit,
                              (uint64_t)&size, 0);
    if (failed != 0 || (limit.tv_sec == 0 && limit.tv_usec == 0))
        return call_give_up(state, rule->call);
    struct restart_frame *job = stub_job_begin(state, context, rule->call);
    struct timespec limit_ts = {.tv_sec = limit.tv_sec, .tv_nsec = limit.tv_usec * 1000};
    job->unmask_first = 1;
    job->deadline_ns = call_deadline_after(call_begin_with_baseline_ns(state, now_ns), limit_ts);
    job->result_at_end = rule->call == SYS_connect ? (uint64_t)-EINPROGRESS : (uint64_t)-EAGAIN;
    return call_go_wait(state, context);
}

/* Returns the call that the stub makes. A try with invalid arguments shows whether the kernel lacks the rule's,
 * or a filter forbids it (containers use EPERM, too). If so, it is an older one: epoll_pwait (before Linux 5.11),
 * whose limit is in ms, or the program's own io_getevents (before 4.18), which cannot set the signal mask. */
static long stub_call_of(const struct restart_rule *rule)
{
    long tried = rule->wait_call == rule->call ? 0 : kernel_call(rule->wait_call, -1, 0, 0, 0, 0, 0);
    if (tried != -ENOSYS && tried != -EPERM)
        return rule->wait_call;
    return rule->limit == LIMIT_MS ? SYS_epoll_pwait : rule->call;
}

static enum restart_result call_start_wait(struct restart_state *state, ucontext_t *context,
                                           const struct restart_rule *rule, uint64_t now_ns)
{
    if (rule->mask == MASK_NONE && registers_argument(context, rule->limit_arg) == 0)
        return call_go_in_place(state, context, rule->call);
    stub_job_begin(state, context, stub_call_of(rule));
    if (!stub_job_plan_mask(state, rule, context) || !stub_job_plan_limit(state, rule, context, now_ns))
        return call_give_up(state, rule->call);
    return call_go_wait(state, context);
}

/* Returns true if the kernel left a restart block for this call (K1), or has ended the call. */
static bool kernel_has_restart_block(long call, const ucontext_t *context)
{
    int operation = (int)registers_argument(context, 1) & FUTEX_CMD_MASK;
    if (call == SYS_clock_nanosleep)
        return (registers_argument(context, 1) & TIMER_ABSTIME) == 0;
    if (call == SYS_futex)
        return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && registers_argument(context, 3) != 0;
    return true;
}

/* Continues a call after the stub's own call has been interrupted, too. */
static enum restart_result call_go_on_waiting(struct restart_state *state, ucontext_t *context, uint64_t now_ns)
{
    if (state->job.result_at_end != 0 && now_ns >= state->job.deadline_ns) {
        registers_set_result(context, (long)state->job.result_at_end);
        return RESTART_DONE;
    }
    /* libc's handler for a cancellation did not see that it interrupted this call, because it was in the stub. */
    bool is_cancelled = restart_decode_call_before(context) == RESTART_DECODE_CANCELLED;
    enum restart_result result = is_cancelled ? RESTART_LEFT_PROGRAM_SIGNAL : call_go_wait(state, context);
    if (result != RESTART_DONE && state->job.result_known)
        registers_set_result(context, (long)state->job.result_known);
    return result;
}

/* Sets the time limit of an io_uring_enter. The limit is in a structure with other values, of which the
 * stub's frame gets a copy, in three words that otherwise hold the mask. Returns false if the structure is of
 * another kind. */
static bool stub_job_plan_uring(struct restart_state *state, const ucontext_t *context, uint64_t now_ns)
{
    struct restart_frame *job = &state->job;
    struct io_uring_getevents_arg given;
    struct timespec limit;
    _Static_assert(offsetof(struct restart_frame, wait_mask) + sizeof given == offsetof(struct restart_frame, left),
                   "three words");
    if (!(job->args[3] & IORING_ENTER_EXT_ARG))
        return true;
    if (job->args[5] != sizeof given || job->args[3] & URING_REGISTERED ||
        !os_copy_memory(&given, job->args[4], sizeof given))
        return false;
    if (given.ts == 0 || job->args[3] & URING_ABSOLUTE)
        return true;
    if (!os_copy_memory(&limit, given.ts, sizeof limit))
        return false;
    job->deadline_ns = call_deadline_after(call_begin_with_baseline_ns(state, now_ns), limit);
    given.ts = address_in_stub_frame(state, context, offsetof(struct restart_frame, left));
    memcpy((char *)job + offsetof(struct restart_frame, wait_mask), &given, sizeof given);
    job->args[4] = address_in_stub_frame(state, context, offsetof(struct restart_frame, wait_mask));
    return true;
}

/* Repeats only the wait of an io_uring_enter that has submitted its entries, by a call that submits nothing.
 * To the program it looks as if the thread had been without a core for a while. If the completions have come,
 * the call returns at once. */
static enum restart_result call_start_uring(struct restart_state *state, ucontext_t *context, uint64_t now_ns)
{
    uint64_t result = (uint64_t)registers_result(context);
    if (!restart_find_first(state, context))
        return call_give_up(state, SYS_io_uring_enter);
    if (result == (uint64_t)-EINTR && !(registers_argument(context, 3) & IORING_ENTER_EXT_ARG))
        return call_go_in_place(state, context, SYS_io_uring_enter);
    struct restart_frame *job = stub_job_begin(state, context, SYS_io_uring_enter);
    if (!stub_job_plan_uring(state, context, now_ns))
        return call_give_up(state, SYS_io_uring_enter);
    job->unmask_first = 1;
    if (result != (uint64_t)-EINTR) {
        job->args[1] = 0;
        job->result_known = result;
    }
    return call_go_wait(state, context);
}

/* Continues a call that returned after it had moved only a part of its bytes. */
static enum restart_result call_start_rest(struct restart_state *state, ucontext_t *context)
{
    long result = registers_result(context);
    if (result <= 0 || !restart_is_behind(context))
        return RESTART_NONE;
    long call = restart_decode_call_before(context);
    bool is_known = restart_find_first(state, context);
    struct restart_frame *job = stub_job_begin(state, context, call);
    if (!is_known)
        return restart_may_have_rest(job, (uint64_t)result) ? call_give_up(state, call) : RESTART_NONE;
    switch (restart_find_rest(job, (uint64_t)result)) {
    case REST_NONE:
        return RESTART_NONE;
    case REST_LIMITED:
        return call_give_up(state, call);
    default:
        restart_take_rest(job, (uint64_t)result);
        job->unmask_first = 1;
        return call_go_wait(state, context);
    }
}

static enum restart_result call_start_by_rule(struct restart_state *state, ucontext_t *context,
                                              const struct restart_rule *rule, uint64_t now_ns)
{
    if (rule->way == WAY_KERNEL && kernel_has_restart_block(rule->call, context))
        return restart_go_kernel(state, context) ? RESTART_DONE : call_give_up(state, rule->call);
    if (!restart_find_first(state, context))
        return call_give_up(state, rule->call);
    switch (rule->way) {
    case WAY_WAIT:
        return call_start_wait(state, context, rule, now_ns);
    case WAY_SOCKET:
        return call_start_socket(state, context, rule, now_ns);
    case WAY_URING:
        return call_start_uring(state, context, now_ns);
    case WAY_HERE:
        return call_go_here(state, context, rule->call);
    default: /* this includes a sleep until a point in time, which reads that time again */
        return rule->limit == LIMIT_SLEEP && !restart_is_readable(registers_argument(context, rule->limit_arg))
                   ? call_give_up(state, rule->call)
                   : call_go_in_place(state, context, rule->call);
    }
}

enum restart_result restart_interrupted_call(struct restart_state *state, ucontext_t *context, uint64_t now_ns)
{
    if (state->waiting)
        return call_go_on_waiting(state, context, now_ns);
    if (registers_result(context) != -EINTR)
        return uring_has_submitted(context) ? call_start_uring(state, context, now_ns)
                                            : call_start_rest(state, context);
    long call = restart_decode_call_before(context);
    if (call == RESTART_DECODE_NOT_A_CALL)
        return RESTART_NONE;
    if (call == RESTART_DECODE_CANCELLED)
        return RESTART_LEFT_PROGRAM_SIGNAL;
    const struct restart_rule *rule = restart_find_rule(call);
    return rule ? call_start_by_rule(state, context, rule, now_ns) : call_give_up(state, call);
}

/* ---- the end of a delivery ---- */

/* Removes a pending sampling signal before the stub waits. Newer kernels (Linux 6.18) drop the signal of a
 * timer that was set again after it had expired, but only when they would deliver the signal. While such a
 * signal is pending, a wait ends with EINTR, and no handler runs that could continue it. This also removes
 * the signal of a sample that is really due; the next sample then also represents that sample's time. */
static __attribute__((noinline)) void restart_take_dropped_signal(struct restart_state *state)
{
    static const struct timespec at_once;
    siginfo_t taken;
    state->will_wait = false;
    long number = kernel_call(SYS_rt_sigtimedwait, (uint64_t)&state->own_signals, (uint64_t)&taken, (uint64_t)&at_once,
                              sizeof(state->own_signals), 0, 0);
    if (number <= 0 || taken.si_code == SI_TIMER)
        return;
    long process = kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0), thread = kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    kernel_call(SYS_rt_tgsigqueueinfo, process, thread, number, (uint64_t)&taken, 0,
                0); /* a counter's signal is sent again, because no later sample would make up for it */
}

void restart_leave(struct restart_state *state, ucontext_t *context)
{
    if (unlikely(state->will_wait))
        restart_take_dropped_signal(state);
    restart_machine_leave(state, context);
}
