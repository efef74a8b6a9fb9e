/* Whether a poll that a signal has interrupted may be over, and when a sleep is. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/restart/restart_machine.h"

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

enum { BEGIN = 1000, NOW = 5000, ASKED = 3000, LEFT = 7, SLACK = 50000 };
enum end { OVER, CUT = -EINTR };

/* A sleep for ASKED, of which LEFT is left, if a signal has cut it. */
static uint64_t end_of(uint32_t number, enum end end, bool tells, uint64_t begin_ns)
{
    static struct timespec asked, left;
    ucontext_t context = behind(number);
    greg_t *of = context.uc_mcontext.gregs;
    asked.tv_nsec = ASKED;
    left.tv_nsec = LEFT;
    of[REG_RAX] = end;
    of[number == SYS_nanosleep ? REG_RDI : REG_RDX] = (greg_t)&asked;
    of[number == SYS_nanosleep ? REG_RSI : REG_R10] = tells ? (greg_t)&left : 0;
    return restart_sleep_end_ns(&context, begin_ns, 0, NOW);
}

UNIT_TEST(a_sleep_ends_when_it_was_asked_to_or_has_left)
{
    static const uint32_t numbers[] = {SYS_nanosleep, SYS_clock_nanosleep};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(end_of(numbers[i], OVER, true, BEGIN), BEGIN + ASKED + SLACK);
        assert_int_equal(end_of(numbers[i], CUT, false, BEGIN), BEGIN + ASKED + SLACK);
        assert_int_equal(end_of(numbers[i], CUT, true, BEGIN), NOW + LEFT);
        assert_int_equal(end_of(numbers[i], CUT, true, 0), NOW + LEFT);
        assert_int_equal(end_of(numbers[i], OVER, true, 0), 0);
    }
    assert_int_equal(end_of(SYS_futex, OVER, true, BEGIN), 0);
}

/* What a call of that limit returned. */
static uint64_t end_of_poll(uint32_t number, int limit_register, uint64_t limit, greg_t result, uint64_t begin_ns,
                            uint64_t end_ns)
{
    ucontext_t context = behind(number);
    context.uc_mcontext.gregs[limit_register] = (greg_t)limit;
    context.uc_mcontext.gregs[REG_RAX] = result;
    return restart_sleep_end_ns(&context, begin_ns, end_ns, NOW);
}

UNIT_TEST(a_poll_ends_with_its_time_if_nothing_comes)
{
    static const enum end ends[] = {OVER, CUT};
    static const struct timespec time = {.tv_nsec = ASKED};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(end_of_poll(SYS_poll, REG_RDX, 20, ends[i], BEGIN, 0), BEGIN + 20000000 + SLACK);
        assert_int_equal(end_of_poll(SYS_poll, REG_RDX, 3000000, ends[i], BEGIN, 0), BEGIN + 3000100000000);
        assert_int_equal(end_of_poll(SYS_epoll_wait, REG_R10, 20, ends[i], BEGIN, 0), BEGIN + 20000000 + SLACK);
        assert_int_equal(end_of_poll(SYS_epoll_pwait2, REG_R10, (uint64_t)&time, ends[i], BEGIN, 0),
                         BEGIN + ASKED + SLACK);
        assert_int_equal(end_of_poll(SYS_epoll_pwait2, REG_R10, (uint64_t)&time, ends[i], 0, 0), 0);
        assert_int_equal(end_of_poll(SYS_epoll_pwait2, REG_R10, (uint64_t)&time, ends[i], 0, 77), 77);
        assert_int_equal(end_of_poll(SYS_poll, REG_RDX, (uint64_t)-1, ends[i], BEGIN, 0), 0);
        assert_int_equal(end_of_poll(SYS_semtimedop, REG_R10, (uint64_t)&time, ends[i], BEGIN, 77), 0);
        assert_int_equal(end_of_poll(SYS_ppoll, REG_RDX, (uint64_t)&time, ends[i], BEGIN, 0),
                         ends[i] == CUT ? NOW + ASKED : 0);
    }
    assert_int_equal(end_of_poll(SYS_poll, REG_RDX, 20, 1, BEGIN, 77), 0); /* something has come */
    assert_int_equal(end_of_poll(SYS_epoll_wait, REG_R10, 20, 2, BEGIN, 77), 0);
}

UNIT_TEST(when_a_ppoll_ended_that_is_over_is_not_known)
{
    static const struct timespec none;
    assert_int_equal(end_of_poll(SYS_ppoll, REG_RDX, (uint64_t)&none, CUT, BEGIN, 0), 0);
    assert_int_equal(end_of_poll(SYS_pselect6, REG_R8, (uint64_t)&none, CUT, BEGIN, 0), 0);
}

/* One until a moment that is 1,000 s later. */
static uint64_t end_of_sleep_until(clockid_t clock, enum end end)
{
    static struct timespec until;
    clock_gettime(clock, &until);
    ucontext_t context = behind(SYS_clock_nanosleep);
    context.uc_mcontext.gregs[REG_RDI] = clock;
    context.uc_mcontext.gregs[REG_RSI] = TIMER_ABSTIME;
    context.uc_mcontext.gregs[REG_RDX] = (greg_t)&until;
    context.uc_mcontext.gregs[REG_RAX] = end;
    until.tv_sec += 1000;
    return restart_sleep_end_ns(&context, 0, 0, clock_now_ns());
}

/* Or a wait until then. */
static uint64_t end_of_wait(int operation, clockid_t clock, greg_t result)
{
    static struct timespec until;
    clock_gettime(clock, &until);
    ucontext_t context = behind(SYS_futex);
    context.uc_mcontext.gregs[REG_RSI] = operation | FUTEX_PRIVATE_FLAG;
    context.uc_mcontext.gregs[REG_R10] = (greg_t)&until;
    context.uc_mcontext.gregs[REG_RAX] = result;
    until.tv_sec += 1000;
    return restart_sleep_end_ns(&context, 0, 0, clock_now_ns());
}

/* To a second: the clock has gone on since it was read. */
static void assert_in_1000_s(uint64_t end_ns)
{
    assert_in_range(end_ns - clock_now_ns(), 999 * NS_PER_S, 1001 * NS_PER_S);
}

UNIT_TEST(a_sleep_until_a_moment_ends_then)
{
    static const enum end ends[] = {OVER, CUT};
    for (int i = 0; i < 2; i++) {
        assert_in_1000_s(end_of_sleep_until(CLOCK_MONOTONIC, ends[i]));
        assert_in_1000_s(end_of_sleep_until(CLOCK_REALTIME, ends[i]));
        assert_in_1000_s(end_of_sleep_until(CLOCK_BOOTTIME, ends[i]));
        assert_in_1000_s(end_of_sleep_until(CLOCK_TAI, ends[i]));
        assert_int_equal(end_of_sleep_until(CLOCK_THREAD_CPUTIME_ID, ends[i]), 0);
    }
}

UNIT_TEST(a_wait_with_a_limit_ended_then_if_nothing_came)
{
    assert_in_1000_s(end_of_wait(FUTEX_WAIT_BITSET, CLOCK_MONOTONIC, -ETIMEDOUT));
    assert_in_1000_s(end_of_wait(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, CLOCK_REALTIME, -ETIMEDOUT));
    assert_int_equal(end_of_wait(FUTEX_WAIT_BITSET, CLOCK_MONOTONIC, OVER), 0); /* something has */
    assert_int_equal(end_of_wait(FUTEX_WAIT_BITSET, CLOCK_MONOTONIC, CUT), 0);
    assert_int_equal(end_of_wait(FUTEX_LOCK_PI, CLOCK_REALTIME, -ETIMEDOUT), 0);
}

UNIT_TEST(a_wait_for_a_time_ended_so_much_later)
{
    static const struct timespec time = {.tv_nsec = ASKED};
    ucontext_t context = behind(SYS_futex);
    context.uc_mcontext.gregs[REG_R10] = (greg_t)&time;
    context.uc_mcontext.gregs[REG_RAX] = -ETIMEDOUT;
    assert_int_equal(restart_sleep_end_ns(&context, BEGIN, 0, NOW), BEGIN + ASKED + SLACK);
    assert_int_equal(restart_sleep_end_ns(&context, 0, 0, NOW), 0);
}

UNIT_TEST(when_a_sleep_ends_that_nobody_tells_is_not_known)
{
    struct timespec far = {.tv_sec = INT64_MAX};
    static const clockid_t of_cpu[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, -6};
    ucontext_t context = behind(SYS_clock_nanosleep);
    greg_t *of = context.uc_mcontext.gregs;
    assert_int_equal(restart_sleep_end_ns(&context, BEGIN, 0, NOW), 0); /* its time is in no memory, */
    of[REG_RDX] = 16;
    assert_int_equal(restart_sleep_end_ns(&context, BEGIN, 0, NOW), 0); /* here, too */
    of[REG_RDX] = (greg_t)&far;
    assert_true(restart_sleep_end_ns(&context, BEGIN, 0, NOW) > (uint64_t)INT64_MAX);
    for (int i = 0; i < 3; i++) {
        of[REG_RDI] = of_cpu[i];
        assert_int_equal(restart_sleep_end_ns(&context, BEGIN, 0, NOW), 0);
    }
    of[REG_RDI] = CLOCK_MONOTONIC;
    of[REG_RSI] = TIMER_ABSTIME;
    assert_true(restart_sleep_end_ns(&context, BEGIN, 0, NOW) > (uint64_t)INT64_MAX);
    of[REG_RDI] = CLOCK_REALTIME;
    assert_true(restart_sleep_end_ns(&context, BEGIN, 0, NOW) > (uint64_t)INT64_MAX);
    of[REG_RDX] = 16;
    assert_int_equal(restart_sleep_end_ns(&context, BEGIN, 0, NOW), 0);
    of[REG_RIP] = (greg_t)&far; /* no call */
    assert_int_equal(restart_sleep_end_ns(&context, BEGIN, 0, NOW), 0);
}

/* As a signal mask these bytes block SIGSEGV and SIGBUS. */
UNIT_TEST(to_look_whether_memory_can_be_read_blocks_nothing)
{
    static const uint64_t bytes = 1 << (SIGSEGV - 1) | 1 << (SIGBUS - 1);
    uint64_t blocked = 0;
    assert_true(restart_is_readable((uintptr_t)&bytes));
    assert_false(restart_is_readable(16));
    assert_int_equal(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked), 0);
    assert_int_equal(blocked & bytes, 0);
}

/* The kernel has its own copy of it. */
UNIT_TEST(a_call_whose_limit_or_mask_is_gone_stays_interrupted)
{
    static const struct timespec time = {.tv_sec = 1};
    static const struct {
        uint32_t number;
        int gone, limit;
    } calls[] = {{SYS_ppoll, REG_RDX, REG_RDX},           {SYS_pselect6, REG_R8, REG_R8},
                 {SYS_epoll_pwait2, REG_R10, REG_R10},    {SYS_semtimedop, REG_R10, REG_R10},
                 {SYS_rt_sigtimedwait, REG_RDX, REG_RDX}, {SYS_io_getevents, REG_R8, REG_R8},
                 {SYS_ppoll, REG_R10, REG_RDX},           {SYS_pselect6, REG_R9, REG_R8},
                 {SYS_epoll_pwait, REG_R8, REG_R8},       {SYS_clock_nanosleep, REG_RDX, REG_RDX}};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct restart_state state;
        ucontext_t context = behind(calls[i].number);
        restart_state_init(&state, 0);
        context.uc_mcontext.gregs[REG_RAX] = CUT;
        context.uc_mcontext.gregs[REG_RSI] = TIMER_ABSTIME;
        context.uc_mcontext.gregs[calls[i].limit] = (greg_t)&time;
        context.uc_mcontext.gregs[calls[i].gone] = 16;
        assert_int_equal(restart_interrupted_call(&state, &context, NOW), RESTART_UNKNOWN);
        assert_int_equal(state.unknown_call, calls[i].number);
    }
}

/* As a kernel leaves it that gives the memory back when it is interrupted. */
UNIT_TEST(an_allocation_is_made_again_where_no_signal_interrupts_it)
{
    struct restart_state state;
    struct stat status;
    int file = memfd_create("allocated", 0);
    ucontext_t context = behind(SYS_fallocate);
    greg_t *of = context.uc_mcontext.gregs, rip = of[REG_RIP];
    of[REG_RAX] = -EINTR;
    of[REG_RDI] = file;
    of[REG_R10] = 8192;
    restart_state_init(&state, 0);
    assert_int_equal(restart_interrupted_call(&state, &context, clock_now_ns()), RESTART_DONE);
    assert_int_equal(of[REG_RAX], 0);
    assert_int_equal(of[REG_RIP], rip);
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_size, 8192);
    close(file);
}

UNIT_MAIN(NULL, NULL)
