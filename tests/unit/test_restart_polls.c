/* Whether a poll that a signal has interrupted may be over. */
#include "tests/unit/unit.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "ompt_tool/restart/restart.h"

static uint64_t limit_of(uint32_t number, int limit_register, uint64_t limit)
{
    static uint8_t code[64];
    uint8_t call[] = {0xb8, 0, 0, 0, 0, 0x0f, 0x05}; /* mov $number, %eax; syscall */
    memcpy(call + 1, &number, sizeof number);
    memcpy(code + 32, call, sizeof call);
    ucontext_t context = {.uc_mcontext.gregs[REG_RIP] = (greg_t)(code + 32 + sizeof call)};
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

UNIT_MAIN(NULL, NULL)
