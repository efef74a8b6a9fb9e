/* Handler code, as restart.c, which has K2 and K3. */
#include "restart_look.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/kernel.h"
#include "base/os.h"
#include "base/registers.h"
#include "restart_decode.h"
#include "restart_rules.h"

enum { MOST_CALLS = 1024, SLACK_NS = 50000, MOST_SLACK_NS = 100000000 };

/* io_uring_enter that submitted all that it was to submit, and was to wait for completions: whether the signal ended that wait or
 * came behind it the kernel does not tell. */
bool restart_has_submitted(const ucontext_t *context)
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
    if (restart_has_submitted(context))
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
    struct timespec left; /* stands there */
    return os_copy_memory(&left, registers_argument(context, call == SYS_ppoll ? 2 : 4), sizeof left) && !left.tv_sec && !left.tv_nsec
               ? 0
               : UINT64_MAX;
}

/* So much later, by a time of the program's; 0: that is gone, or none. */
static uint64_t later_by(uint64_t begin_ns, uint64_t time)
{
    struct timespec read;
    return os_copy_memory(&read, time, sizeof read) && (read.tv_sec || read.tv_nsec) ? restart_deadline_after(begin_ns, read) : 0;
}

/* By so much timers come later than they were set to, if the program leaves them as they are (prctl(2); polls: fs/select.c). It is in what the
 * kernel says is left of a sleep. */
static uint64_t slack_ns(uint64_t poll_ns)
{
    uint64_t of_poll = poll_ns / 1000 < MOST_SLACK_NS ? poll_ns / 1000 : MOST_SLACK_NS;
    return of_poll > SLACK_NS ? of_poll : SLACK_NS;
}

#define CLOCK_UNKNOWN -1

/* Which one it sleeps by. On aarch64 that argument is lost. */
static clockid_t clock_of_sleep(const ucontext_t *context)
{
#ifdef __x86_64__
    return (clockid_t)registers_argument(context, 0);
#else
    (void)context;
    return CLOCK_UNKNOWN;
#endif
}

/* Others, but the unknown one, are of CPU time. */
static bool is_of_real_time(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
}

/* A time of the program's on that clock, on that of moments; 0: it is gone, or nobody knows how these two go together. */
static uint64_t end_by_clock(clockid_t clock, uint64_t time)
{
    uint64_t end_ns = is_of_real_time(clock) ? later_by(SLACK_NS, time) : 0;
    if (clock == CLOCK_MONOTONIC || !end_ns || end_ns > INT64_MAX)
        return end_ns;
    int64_t later_ns = (int64_t)end_ns - clock_ns_of(clock) + (int64_t)clock_now_ns();
    return later_ns > 0 ? (uint64_t)later_ns : 0;
}

/* Of a wait whose time was over. Its limit is a moment, or a time in the wait of old. */
static uint64_t end_of_futex(const ucontext_t *context, uint64_t begin_ns)
{
    uint64_t operation = registers_argument(context, 1), limit = registers_argument(context, 3);
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return begin_ns ? later_by(begin_ns + SLACK_NS, limit) : 0;
    case FUTEX_WAIT_BITSET:
        return end_by_clock(operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, limit);
    default:
        return 0;
    }
}

/* Of a sleep what is left stands where the program wants it (K2), and that may be where it has said how long; of a ppoll in its limit (K3), 0 when
 * it is over. A limit in milliseconds is in the register. */
static uint64_t end_by_limit(const struct restart_rule *rule, const ucontext_t *context, bool is_cut, uint64_t begin_ns, uint64_t now_ns)
{
    uint64_t limit = registers_argument(context, rule->limit_arg), left = 0, poll_ns = 0;
    if (rule->limit == LIMIT_SLEEP)
        left = registers_argument(context, rule->limit_arg + 1);
    if (rule->limit == LIMIT_LEFT)
        return is_cut ? later_by(now_ns, limit) : 0;
    if (is_cut && left)
        return later_by(now_ns, left);
    if (rule->limit == LIMIT_MS)
        poll_ns = (int)limit > 0 ? (uint32_t)limit * (uint64_t)1000000 : 0;
    if (!begin_ns || (rule->limit == LIMIT_MS && !poll_ns))
        return 0;
    begin_ns += slack_ns(poll_ns);
    return poll_ns ? begin_ns + poll_ns : later_by(begin_ns, limit);
}

/* The others with a limit return nothing else when it is over than when something comes. */
static bool is_poll_or_sleep(const struct restart_rule *rule)
{
    return rule->limit != LIMIT_NONE && (rule->way == WAY_KERNEL || rule->mask != MASK_NONE);
}

uint64_t restart_sleep_end_ns(const ucontext_t *context, uint64_t begin_ns, uint64_t end_ns, uint64_t now_ns)
{
    long call = restart_decode_call_before(context), result = registers_result(context);
    const struct restart_rule *rule = restart_find_rule(call);
    clockid_t clock = clock_of_sleep(context);
    if (call == SYS_futex && result == -ETIMEDOUT)
        return end_of_futex(context, begin_ns);
    if (!rule || (result && result != -EINTR) || !is_poll_or_sleep(rule))
        return 0;
    if (call == SYS_clock_nanosleep && (registers_argument(context, 1) & TIMER_ABSTIME))
        return end_by_clock(clock, registers_argument(context, rule->limit_arg));
    if (call == SYS_clock_nanosleep && clock != CLOCK_UNKNOWN && !is_of_real_time(clock))
        return 0;
    return end_ns ? end_ns : end_by_limit(rule, context, result, begin_ns, now_ns);
}
