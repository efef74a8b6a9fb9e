/* Blocking calls in serial code and in two threads of a parallel region, one for each way in which the tool puts a call back
 * (all calls: tests/unit/test_restart.c). They must return what and not before they say, sampled or not, and the
 * program's own signals must interrupt them. Prints `ok NAME` or `FAIL NAME why`; status 0 when all is well. */
#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LIMIT_MS = 12,
    REPEATS = 5,
    LATE_MS = 2000, /* it began anew, again and again; how late calls are: tests/unit/test_restart.c */
};

static int pipe_fds[2];
static atomic_int failures;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void report(const char *place, const char *name, const char *why)
{
    if (why == NULL) {
        printf("ok %s %s\n", place, name);
    } else {
        printf("FAIL %s %s %s\n", place, name, why);
        atomic_fetch_add(&failures, 1);
    }
    fflush(stdout);
}

static struct timespec in_ms(long ms)
{
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

static struct timespec at_ms(clockid_t clock, long ms)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* Each call gives 0 when it ended by its limit, as it must, else an errno, or -1. */
static int ended(int result, int expected_errno)
{
    if (result == 0)
        return expected_errno == 0 ? 0 : -1;
    if (result == -1)
        return errno == expected_errno ? 0 : errno;
    return -1;
}

static int call_nanosleep(long ms)
{
    struct timespec limit = in_ms(ms), left;
    return ended(nanosleep(&limit, &left), 0);
}

static int call_clock_nanosleep_abs(long ms)
{
    struct timespec limit = at_ms(CLOCK_REALTIME, ms);
    return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &limit, NULL);
}

static int call_ppoll(long ms)
{
    struct pollfd fd = {.fd = pipe_fds[0], .events = POLLIN};
    struct timespec limit = in_ms(ms);
    return ended(ppoll(&fd, 1, &limit, NULL), 0);
}

static int call_sigtimedwait(long ms)
{
    struct timespec limit = in_ms(ms);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    return ended(sigtimedwait(&set, NULL, &limit), EAGAIN);
}

static const struct call {
    const char *name;
    int (*make)(long ms);
} CALLS[] = {
    {"nanosleep", call_nanosleep},
    {"clock_nanosleep_abs", call_clock_nanosleep_abs},
    {"ppoll", call_ppoll},
    {"sigtimedwait", call_sigtimedwait},
};
enum { CALL_COUNT = sizeof CALLS / sizeof CALLS[0] };

static void check_durations(const char *place, const struct call *call)
{
    char why[128];
    for (int i = 0; i < REPEATS; i++) {
        double begin = now_ms();
        int result = call->make(LIMIT_MS);
        double took = now_ms() - begin;
        if (result != 0)
            snprintf(why, sizeof why, "gave %d (%s)", result, result > 0 ? strerror(result) : "no error");
        else /* the realtime clock that the absolute limits are on may be slewed by some millionths */
            snprintf(why, sizeof why, "took %.3f ms of %d", took, LIMIT_MS);
        if (result != 0 || took < LIMIT_MS - 0.05 || took > LIMIT_MS + LATE_MS) {
            report(place, call->name, why);
            return;
        }
    }
    report(place, call->name, NULL);
}

/* Signals to this thread alone, at changing phases of the sampler's period. */
static void check_own_signals(const char *place, const struct call *call, timer_t timer)
{
    char name[64], why[96];
    int interrupted = 0;
    const int rounds = 20;
    for (int i = 0; i < rounds; i++) {
        struct itimerspec once = {.it_value = {0, 1500000 + i * 37000}};
        timer_settime(timer, 0, &once, NULL);
        interrupted += call->make(1000) == EINTR;
    }
    snprintf(name, sizeof name, "%s_own_signal", call->name);
    snprintf(why, sizeof why, "interrupted %d times of %d", interrupted, rounds);
    report(place, name, interrupted < rounds / 2 ? why : NULL); /* see ompt_tool/restart/restart.h, guarantee S */
}

static timer_t own_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        exit(2);
    return timer;
}

static void check_place(const char *place)
{
    timer_t timer = own_timer();
    for (int i = 0; i < CALL_COUNT; i++) {
        check_durations(place, &CALLS[i]);
        check_own_signals(place, &CALLS[i], timer);
    }
    timer_delete(timer);
}

static void on_signal(int signal_number)
{
    (void)signal_number;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    if (pipe(pipe_fds) != 0)
        return 2;
    check_place("serial");
#pragma omp parallel num_threads(2)
    check_place(omp_get_thread_num() == 0 ? "thread0" : "thread1");
    return atomic_load(&failures) != 0;
}
