/* Whether a poll that a signal has interrupted may be over, and when a sleep is. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "ompt_tool/restart/restart.h"

static ucontext_t behind(uint32_t number)
{
    static uint8_t code[64];
    uint8_t call[] = {0xb8, 0, 0, 0, 0, 0x0f, 0x05}; /* mov $number, %eax; syscall */
    memcpy(call + 1, &number, sizeof number);
    memcpy(code + 32, call, sizeof call);
    return (ucontext_t){.uc_mcontext.gregs[REG_RIP] = (greg_t)(code + 32 + sizeof call)};
}

static uint64_t limit_of(uint32_t number, int limit_register, uint64_t limit)
{
    ucontext_t context = behind(number);
    context.uc_mcontext.gregs[limit_register] = (greg_t)limit;
    return restart_sleep_limit_ns(&context);
}

UNIT_TEST(of_poll_the_time_that_it_was_given_is_known)
{
    assert_int_equal(limit_of(SYS_poll, REG_RDX, 20), 20000000);
    assert_int_equal(limit_of(SYS_poll, REG_RDX, 0), 0);
    assert_true(limit_of(SYS_poll, REG_RDX, (uint64_t)-1) == UINT64_MAX);
}

UNIT_TEST(of_ppoll_and_select_what_is_left_tells_whether_they_are_over)
{
    static const struct timespec over, left = {.tv_nsec = 1};
    assert_int_equal(limit_of(SYS_ppoll, REG_RDX, (uint64_t)&over), 0);
    assert_int_equal(limit_of(SYS_pselect6, REG_R8, (uint64_t)&over), 0);
    assert_true(limit_of(SYS_ppoll, REG_RDX, (uint64_t)&left) == UINT64_MAX);
    assert_true(limit_of(SYS_pselect6, REG_R8, (uint64_t)&left) == UINT64_MAX);
    assert_true(limit_of(SYS_ppoll, REG_RDX, 0) == UINT64_MAX);
}

UNIT_TEST(calls_that_look_for_signals_first_may_be_over)
{
    static uint8_t at_call[] = {0x0f, 0x05};
    ucontext_t context = {.uc_mcontext.gregs = {[REG_RIP] = (greg_t)at_call, [REG_RAX] = SYS_recvfrom}};
    assert_int_equal(restart_sleep_limit_ns(&context), 0); /* it is going to be repeated */
    context.uc_mcontext.gregs[REG_RAX] = SYS_flock;
    assert_int_equal(restart_sleep_limit_ns(&context), 0);
    assert_int_equal(limit_of(SYS_recvfrom, REG_RDX, 0), 0);
}

UNIT_TEST(who_reads_a_socket_receives)
{
    int ends[2], sockets[2];
    assert_int_equal(pipe(ends) | socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    assert_int_equal(limit_of(SYS_read, REG_RDI, (uint64_t)sockets[0]), 0);
    assert_int_equal(limit_of(SYS_readv, REG_RDI, (uint64_t)sockets[0]), 0);
    assert_true(limit_of(SYS_read, REG_RDI, (uint64_t)ends[0]) == UINT64_MAX);
    assert_true(limit_of(SYS_read, REG_RDI, (uint64_t)-1) == UINT64_MAX);
}

UNIT_TEST(other_calls_are_not_over_when_they_are_interrupted)
{
    assert_true(limit_of(SYS_nanosleep, REG_RDX, 0) == UINT64_MAX);
    assert_true(limit_of(SYS_futex, REG_RDX, 0) == UINT64_MAX);
}

enum { BEGIN = 1000, NOW = 5000, ASKED = 3000, LEFT = 7 };

/* A sleep for ASKED, of which LEFT is left, if a signal has cut it. */
static uint64_t end_of(uint32_t number, bool is_cut, bool tells, uint64_t begin_ns)
{
    static struct timespec asked, left;
    ucontext_t context = behind(number);
    greg_t *of = context.uc_mcontext.gregs;
    asked.tv_nsec = ASKED;
    left.tv_nsec = LEFT;
    of[REG_RAX] = is_cut ? -EINTR : 0;
    of[number == SYS_nanosleep ? REG_RDI : REG_RDX] = (greg_t)&asked;
    of[number == SYS_nanosleep ? REG_RSI : REG_R10] = tells ? (greg_t)&left : 0;
    return restart_sleep_end_ns(&context, begin_ns, NOW);
}

UNIT_TEST(a_sleep_ends_when_it_was_asked_to_or_has_left)
{
    static const uint32_t numbers[] = {SYS_nanosleep, SYS_clock_nanosleep};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(end_of(numbers[i], false, true, BEGIN), BEGIN + ASKED);
        assert_int_equal(end_of(numbers[i], true, false, BEGIN), BEGIN + ASKED);
        assert_int_equal(end_of(numbers[i], true, true, BEGIN), NOW + LEFT);
        assert_int_equal(end_of(numbers[i], true, true, 0), NOW + LEFT);
        assert_int_equal(end_of(numbers[i], false, true, 0), 0);
    }
    assert_int_equal(end_of(SYS_futex, false, true, BEGIN), 0);
}

/* A poll that a result ended: 0 is its time, -EINTR a signal. */
static uint64_t end_of_poll(uint32_t number, int limit_register, uint64_t limit, greg_t result, uint64_t begin_ns)
{
    ucontext_t context = behind(number);
    context.uc_mcontext.gregs[limit_register] = (greg_t)limit;
    context.uc_mcontext.gregs[REG_RAX] = result;
    return restart_sleep_end_ns(&context, begin_ns, NOW);
}

UNIT_TEST(a_poll_ends_with_its_time_if_nothing_comes)
{
    static const greg_t results[] = {0, -EINTR};
    static const struct timespec time = {.tv_nsec = ASKED};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(end_of_poll(SYS_poll, REG_RDX, 20, results[i], BEGIN), BEGIN + 20000000);
        assert_int_equal(end_of_poll(SYS_poll, REG_RDX, 3000000, results[i], BEGIN), BEGIN + 3000000000000);
        assert_int_equal(end_of_poll(SYS_epoll_wait, REG_R10, 20, results[i], BEGIN), BEGIN + 20000000);
        assert_int_equal(end_of_poll(SYS_epoll_pwait2, REG_R10, (uint64_t)&time, results[i], BEGIN), BEGIN + ASKED);
        assert_int_equal(end_of_poll(SYS_epoll_pwait2, REG_R10, (uint64_t)&time, results[i], 0), 0);
        assert_int_equal(end_of_poll(SYS_poll, REG_RDX, (uint64_t)-1, results[i], BEGIN), 0);
        assert_int_equal(end_of_poll(SYS_semtimedop, REG_R10, (uint64_t)&time, results[i], BEGIN), 0);
        assert_int_equal(end_of_poll(SYS_ppoll, REG_RDX, (uint64_t)&time, results[i], BEGIN), results[i] ? NOW + ASKED : 0);
    }
    assert_int_equal(end_of_poll(SYS_poll, REG_RDX, 20, 1, BEGIN), 0); /* something has come */
}

UNIT_TEST(when_a_sleep_ends_that_nobody_tells_is_not_known)
{
    ucontext_t context = behind(SYS_clock_nanosleep);
    assert_int_equal(restart_sleep_end_ns(&context, BEGIN, NOW), 0); /* its time is in no memory */
    struct timespec far = {.tv_sec = INT64_MAX};
    context.uc_mcontext.gregs[REG_RDX] = (greg_t)&far;
    assert_true(restart_sleep_end_ns(&context, BEGIN, NOW) > (uint64_t)INT64_MAX);
    context.uc_mcontext.gregs[REG_RSI] = TIMER_ABSTIME;
    assert_int_equal(restart_sleep_end_ns(&context, BEGIN, NOW), 0);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)&far; /* no call */
    assert_int_equal(restart_sleep_end_ns(&context, BEGIN, NOW), 0);
}

UNIT_MAIN(NULL, NULL)
