/* Interrupted calls return what and when they would without a sampler. */
#include "restart_calls.h"

static int compare_long(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static long duration_of(const struct call *call, long limit_ns, int repeat)
{
    uint64_t begin = now_ns();
    for (int i = 0; i < repeat; i++) {
        int result = call->make(limit_ns);
        if (result != 0)
            fail_msg("%s gave %d", call->name, result);
    }
    return (long)(now_ns() - begin);
}

/* Runs without and with a sampler take turns. Early: no sampled run may be. Late, by the medians: returned.
 */
static long measure_lateness(const struct call *call, long limit_ns, int repeat, int runs)
{
    long with[64], without[64];
    for (int i = 0; i < runs; i++) {
        without[i] = duration_of(call, limit_ns, repeat);
        set_period(MS);
        with[i] = duration_of(call, limit_ns, repeat);
        set_period(0);
    }
    qsort(with, (size_t)runs, sizeof with[0], compare_long);
    qsort(without, (size_t)runs, sizeof without[0], compare_long);
    long late = with[runs / 2] - without[runs / 2];
    printf("%-24s %3d x %5.2f ms: shortest %+7.3f ms, median %+7.3f ms (%+.1f %%)\n", call->name, repeat,
           (double)limit_ns / 1e6, (double)(with[0] - limit_ns * repeat) / 1e6, (double)late / 1e6,
           100.0 * (double)late / (double)without[runs / 2]);
    if (with[0] < limit_ns * repeat)
        fail_msg("%s is early: %ld of %ld ns", call->name, with[0], limit_ns * repeat);
    return late;
}

/* Other programs on the machine can make any call late, so lateness counts only when it comes again. */
static void check_pace(const struct call *call, long limit_ns, int repeat, int runs, double bound)
{
    long late = 0;
    for (int attempt = 0; attempt < 4; attempt++) {
        late = measure_lateness(call, limit_ns, repeat, runs);
        if ((double)late <= bound)
            return;
    }
    fail_msg("%s is late by %ld ns, bound %.0f", call->name, late, bound);
}

static void wait_for_a_sample(void)
{
    unsigned samples = *(volatile unsigned *)&sampler.samples;
    while (*(volatile unsigned *)&sampler.samples == samples)
        ;
}

/* What is noted in a sample takes system calls: nothing, before a call was interrupted that needs it. */
static void nothing_is_noted_until_a_call_needs_it(void **unused)
{
    (void)unused;
    struct timespec limit = in_ns(5 * MS);
    struct epoll_event event;
    set_period(MS);
    nanosleep(&limit, NULL);
    wait_for_a_sample();
    bool before = sampler.state.base_valid;
    int ready = epoll_wait(epoll_fd, &event, 1, 20);
    wait_for_a_sample();
    set_period(0);
    assert_int_equal(ready, 0);
    assert_false(before);
    assert_true(sampler.state.base_valid);
}

static void single_calls_end_on_time(void **unused)
{
    (void)unused;
    for (int i = 0; i < CALL_COUNT; i++)
        if ((CALLS[i].traits & UNLIMITED) == 0)
            check_pace(&CALLS[i], 12 * MS, 1, 15, 4.0 * MS);
}

static void loops_of_calls_keep_their_pace(void **unused)
{
    (void)unused;
    for (int i = 0; i < CALL_COUNT; i++)
        if (CALLS[i].traits & EXACT)
            check_pace(&CALLS[i], 2 * MS, 60, 3, 0.05 * 120 * MS + 3.0 * MS);
        else if ((CALLS[i].traits & UNLIMITED) == 0) /* late by up to a period each */
            check_pace(&CALLS[i], 2 * MS, 30, 3, 30.0 * 1.2 * MS);
}

/* The time limits that kernel and C library write back, and what a file that becomes ready returns. */
static void *write_a_byte(void *delay_ns)
{
    struct timespec delay = in_ns((long)(intptr_t)delay_ns);
    nanosleep(&delay, NULL);
    return write(pipe_fds[1], "x", 1) == 1 ? NULL : delay_ns;
}

static void events_end_calls(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        char byte;
        struct pollfd fd = poll_pipe();
        struct timeval limit = {3, 0};
        fd_set set;
        FD_ZERO(&set);
        FD_SET(pipe_fds[0], &set);
        set_period(MS);
        pthread_create(&thread, NULL, write_a_byte, (void *)(intptr_t)(i * MS / 2));
        if (i % 2 == 0)
            assert_int_equal(poll(&fd, 1, 3000), 1);
        else
            assert_int_equal(select(pipe_fds[0] + 1, &set, NULL, NULL, &limit), 1);
        set_period(0);
        assert_true(i % 2 == 0 ? fd.revents == POLLIN : FD_ISSET(pipe_fds[0], &set) && limit.tv_sec == 2);
        assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
        pthread_join(thread, NULL);
    }
}

/* A compiler may keep anything in any register over a system call but rax, rcx and r11. */
static long sleep_with_live_registers(const struct timespec *limit, double *x15)
{
    register uint64_t r8 __asm__("r8") = 8, r9 __asm__("r9") = 9, r10 __asm__("r10") = 10;
    register uint64_t r12 __asm__("r12") = 12, r15 __asm__("r15") = 15;
    const struct timespec *request = limit;
    uint64_t second = 0, third = 3;
    long result;
    __asm__ volatile("movsd (%[x]), %%xmm15; mov $35, %%eax; syscall; movsd %%xmm15, (%[x])"
                     : "=&a"(result), "+D"(request), "+S"(second), "+d"(third), "+r"(r8), "+r"(r9), "+r"(r10),
                       "+r"(r12), "+r"(r15)
                     : [x] "b"(x15)
                     : "rcx", "r11", "xmm15", "memory");
    if (request != limit || second != 0 || third != 3 || r8 != 8 || r9 != 9 || r10 != 10 || r12 != 12 ||
        r15 != 15)
        return 1;
    return result;
}

static long wait_with_live_registers(double *x15)
{
    struct epoll_event event;
    register uint64_t r10 __asm__("r10") = 2, r8 __asm__("r8") = 8, r9 __asm__("r9") = 9;
    uint64_t first = (uint64_t)epoll_fd, third = 1;
    struct epoll_event *second = &event;
    long result;
    __asm__ volatile("movsd (%[x]), %%xmm15; mov $232, %%eax; syscall; movsd %%xmm15, (%[x])"
                     : "=&a"(result), "+D"(first), "+S"(second), "+d"(third), "+r"(r8), "+r"(r9), "+r"(r10)
                     : [x] "b"(x15)
                     : "rcx", "r11", "xmm15", "memory");
    if (first != (uint64_t)epoll_fd || second != &event || third != 1 || r8 != 8 || r9 != 9 || r10 != 2)
        return 1;
    return result;
}

static void registers_survive(void **unused)
{
    (void)unused;
    struct timespec limit = in_ns(2 * MS);
    sigset_t before, after;
    double x15 = 1.25;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    set_period(MS / 10);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(sleep_with_live_registers(&limit, &x15), 0);
        assert_int_equal(wait_with_live_registers(&x15), 0);
        assert_true(x15 == 1.25);
        pthread_sigmask(SIG_SETMASK, NULL, &after);
        assert_memory_equal(&before, &after, 8);
    }
    set_period(0);
}

static void no_call_is_left_unknown(void **unused)
{
    (void)unused;
    assert_true(sampler.samples > 1000);
    assert_true(sampler.results[RESTART_DONE] > 1000);
    assert_int_equal(sampler.results[RESTART_UNKNOWN], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_noted_until_a_call_needs_it), /* first: it is for good */
        cmocka_unit_test(single_calls_end_on_time),
        cmocka_unit_test(loops_of_calls_keep_their_pace),
        cmocka_unit_test(events_end_calls),
        cmocka_unit_test(registers_survive),
        cmocka_unit_test(no_call_is_left_unknown),
    };
    return cmocka_run_group_tests(tests, open_objects, close_objects);
}
