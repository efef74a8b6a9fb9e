/* Calls that samples interrupt return what they would without, on each machine that blame knows: by the C library's functions, and by what a
 * program sees of registers, signals and jumps. test_restart.c has what is x86-64's own. */
#include "restart_calls.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { LIMIT_NS = 20 * MS };

/* An emulator of one machine on another may not have each call. */
static bool has_call(long number)
{
    return kernel_call(number, -1, 0, 0, 0, 0, 0) != -ENOSYS;
}

/* Asked before any call was interrupted: it goes on with the last one that was, whoever asks. */
static bool kernel_restarts;

static bool is_put_back(const struct call *call)
{
    if (((call->traits & BY_KERNEL) && !kernel_restarts) || ((call->traits & NEWER) && !has_call(SYS_epoll_pwait2)))
        return false;
#ifdef __aarch64__
    return !(call->traits & WIDENS);
#else
    return true;
#endif
}

/* Nor may it say what is left of a limit: there only one sample hits each call. */
static void set_samples(void)
{
    struct itimerspec once = {{0, 0}, {0, LIMIT_NS / 4}};
    if (kernel_restarts)
        set_period(MS);
    else
        assert_int_equal(timer_settime(sampler.timer, 0, &once, NULL), 0);
}

static void end_by_limit(const struct call *call)
{
    for (unsigned put_back = sampler.results[RESTART_DONE]; sampler.results[RESTART_DONE] - put_back < 20;) {
        set_samples();
        uint64_t begun_ns = clock_now_ns();
        int result = call->make(LIMIT_NS);
        uint64_t end_ns = clock_now_ns();
        set_period(0);
        if (result != 0)
            fail_msg("%s gave %d", call->name, result);
        assert_true(end_ns >= begun_ns + LIMIT_NS);
    }
}

UNIT_TEST(calls_end_by_their_limits)
{
    for (int i = 0; i < call_count; i++)
        if (!(CALLS[i].traits & UNLIMITED) && is_put_back(&CALLS[i]))
            end_by_limit(&CALLS[i]);
    assert_int_equal(sampler.results[RESTART_UNKNOWN], 0);
}

/* What cannot be put back is interrupted, and counted by the call's number. */
UNIT_TEST(a_call_whose_argument_is_lost_is_counted)
{
    for (int i = 0; i < call_count; i++) {
        if (!(CALLS[i].traits & WIDENS) || is_put_back(&CALLS[i]))
            continue;
        unsigned unknown = sampler.results[RESTART_UNKNOWN];
        set_samples();
        assert_int_equal(CALLS[i].make(AMPLE_NS), EINTR);
        set_period(0);
        assert_true(sampler.results[RESTART_UNKNOWN] > unknown);
        assert_int_equal(sampler.state.unknown_call, SYS_semtimedop);
    }
}

static void forbid(unsigned call, unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A program's signal, some time after the call's begin, when samples have come. */
static volatile sig_atomic_t handled;
static sigjmp_buf back;
static bool jumps;

static void on_program_signal(int signal_number)
{
    (void)signal_number;
    handled++;
    if (jumps)
        siglongjmp(back, 1);
}

static timer_t program_timer;

/* Again and again: a sample at the very end of its handler can hide that a call was interrupted (docs/architecture.md). 0: no more. */
static void send_every(long ns)
{
    struct itimerspec period = {{0, ns}, {0, ns}};
    assert_int_equal(timer_settime(program_timer, 0, &period, NULL), 0);
}

static void program_timer_open(bool jump)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = PROGRAM_SIGNAL};
    struct sigaction action = {.sa_handler = on_program_signal, .sa_flags = SA_RESTART};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    jumps = jump;
    assert_int_equal(sigaction(PROGRAM_SIGNAL, &action, NULL), 0);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &program_timer), 0);
}

/* Beside load both signals may come at once, and nothing is put back. */
static void interrupt_until_put_back(const struct call *call)
{
    for (unsigned put_back = sampler.results[RESTART_DONE]; sampler.results[RESTART_DONE] == put_back;) {
        handled = 0;
        set_samples();
        send_every(LIMIT_NS);
        int result = call->make(AMPLE_NS);
        send_every(0);
        set_period(0);
        if (result != EINTR || handled == 0)
            fail_msg("%s gave %d, and the handler ran %d times", call->name, result, (int)handled);
    }
}

UNIT_TEST(a_signal_of_the_programs_interrupts)
{
    program_timer_open(false);
    for (int i = 0; i < call_count; i++)
        if (!(CALLS[i].traits & UNANSWERED) && is_put_back(&CALLS[i]))
            interrupt_until_put_back(&CALLS[i]);
    timer_delete(program_timer);
}

/* In a process of its own: Linux before 5.11, and before 4.18 (ENOSYS), or in a container whose filter does not know the
 * newer calls (EPERM). */
static void wait_by_older_calls(unsigned error)
{
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* what fails here does not go on with the other tests */
    aio_context = 0;
    syscall(SYS_io_setup, 1, &aio_context); /* a context is its process's alone */
    sampler_open();
    program_timer_open(false);
    forbid(SYS_epoll_pwait2, error);
    forbid(SYS_io_pgetevents, error);
    for (int i = 0; i < call_count; i++) {
        if (!(CALLS[i].traits & FALLS_BACK))
            continue;
        if (!(CALLS[i].traits & UNLIMITED))
            end_by_limit(&CALLS[i]);
        interrupt_until_put_back(&CALLS[i]);
    }
    assert_int_equal(sampler.results[RESTART_UNKNOWN], 0);
}

static void check_older_calls(unsigned error)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        wait_by_older_calls(error);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

UNIT_TEST(where_a_newer_call_is_missing_or_forbidden_an_older_one_waits)
{
    check_older_calls(ENOSYS);
    check_older_calls(EPERM);
}

UNIT_TEST(a_handler_may_jump_out_of_a_call)
{
    program_timer_open(true);
    for (int i = 0; i < 20; i++) {
        struct pollfd fd = poll_pipe();
        sigset_t mask;
        set_samples();
        if (sigsetjmp(back, 1) == 0) {
            send_every(LIMIT_NS / 2);
            poll(&fd, 1, AMPLE_NS / MS);
            fail_msg("%s", "the call returned");
        }
        send_every(0);
        assert_int_equal(poll(&fd, 1, 5), 0);
        set_period(0);
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        assert_false(sigismember(&mask, SAMPLE_SIGNAL) || sigismember(&mask, PROGRAM_SIGNAL));
    }
    timer_delete(program_timer);
}

static void *write_a_byte(void *unused)
{
    nanosleep(&(struct timespec){0, 10 * MS}, NULL);
    return write(pipe_fds[1], "x", 1) == 1 ? NULL : unused;
}

UNIT_TEST(an_event_ends_a_call_that_was_put_back)
{
    for (int i = 0; i < 20; i++) {
        struct pollfd fd = poll_pipe();
        pthread_t thread;
        char read_byte;
        pthread_create(&thread, NULL, write_a_byte, &fd);
        set_samples();
        assert_int_equal(poll(&fd, 1, AMPLE_NS / MS), 1);
        set_period(0);
        assert_int_equal(fd.revents, POLLIN);
        assert_int_equal(read(pipe_fds[0], &read_byte, 1), 1);
        pthread_join(thread, NULL);
    }
}

#ifdef __aarch64__
/* All registers but x0 are the program's over a call, and the vectors. */
static long wait_with_live_registers(struct timespec *limit, double *vector)
{
    register uint64_t x0 __asm__("x0"), x1 __asm__("x1") = 0, x2 __asm__("x2") = (uint64_t)limit, x3 __asm__("x3") = 0;
    register uint64_t x4 __asm__("x4") = 8, x5 __asm__("x5") = 5, x8 __asm__("x8") = SYS_ppoll, x9 __asm__("x9") = 9;
    register uint64_t x15 __asm__("x15") = 15, x16 __asm__("x16") = 16, x17 __asm__("x17") = 17,
                          x20 __asm__("x20") = 20;
    register double *at __asm__("x21") = vector;
    __asm__ volatile("ldr d15, [x21]\n\tldr d31, [x21]\n\tmov x0, #0\n\tsvc #0\n\tfadd d15, d15, d31\n\tstr d15, [x21]"
                     : "=&r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x4), "+r"(x5), "+r"(x8), "+r"(x9), "+r"(x15),
                       "+r"(x16), "+r"(x17), "+r"(x20), "+r"(at)
                     :
                     : "d15", "d31", "memory");
    if (x1 != 0 || x2 != (uint64_t)limit || x3 != 0 || x4 != 8 || x5 != 5 || x8 != SYS_ppoll || x9 != 9 || x15 != 15 ||
        x16 != 16 || x17 != 17 || x20 != 20 || at != vector)
        return 1;
    return (long)x0;
}

UNIT_TEST(registers_survive)
{
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    for (int i = 0; i < 100; i++) {
        struct timespec limit = in_ns(3 * MS);
        double vector = 1.25;
        set_samples();
        assert_int_equal(wait_with_live_registers(&limit, &vector), 0);
        assert_true(vector == 2.5);
        pthread_sigmask(SIG_SETMASK, NULL, &after);
        assert_memory_equal(&before, &after, 8);
    }
    set_period(0);
}
#endif

static void *do_nothing(void *unused)
{
    return unused;
}

/* On newer kernels (Linux 6.18) a signal of a timer that was set anew behind its expiry is dropped where it would be delivered. */
static void set_anew_behind_expiry(void)
{
    sigset_t pending;
    do
        sigpending(&pending);
    while (!sigismember(&pending, SAMPLE_SIGNAL));
    set_period(MS);
}

UNIT_TEST(a_signal_that_the_kernel_drops_interrupts_nothing)
{
    on_call_put_back = set_anew_behind_expiry;
    for (int i = 0; i < 5 * call_count; i++) {
        const struct call *call = &CALLS[i / 5];
        if ((call->traits & UNLIMITED) || !is_put_back(call) || !kernel_restarts)
            continue;
        set_period(MS);
        int result = call->make(20 * MS);
        set_period(0);
        if (result != 0)
            fail_msg("%s gave %d", call->name, result);
    }
    on_call_put_back = NULL;
}

/* In a program of one thread the C library of aarch64 makes some calls with a parameter that is nowhere else: docs/architecture.md. */
static int open_with_threads(void **unused)
{
    pthread_t thread;
    kernel_restarts = has_call(SYS_restart_syscall);
    pthread_create(&thread, NULL, do_nothing, NULL);
    pthread_join(thread, NULL);
    return open_objects(unused);
}

UNIT_MAIN(open_with_threads, close_objects)
