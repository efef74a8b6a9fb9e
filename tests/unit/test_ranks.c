/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "base/os.h"
#include "blame/ranks.h"
#include "tests/unit/fake_clock.h"

#define US         1000ull
#define CALL       RANKS_CALL(27, 0x1234)
#define OTHER      RANKS_CALL(27, 0x5678)
#define OWN        0u
#define FIRST_RANK 5000u /* of this node */
#define PROGRAM    77u

static struct ranks_segment *segment;
static uint64_t begin_ns;

/* So many ranks of the same program, all busy; the first is this process. */
static void ranks(uint32_t count)
{
    segment = os_map(RANKS_BYTES);
    assert_non_null(segment);
    begin_ns = fake_now_ns += 1000000 * US;
    for (uint32_t i = 0; i < count; i++) {
        segment->owner[i] = (100 + i) | RANKS_READY;
        segment->line[i].program = PROGRAM;
        segment->line[i].rank = FIRST_RANK + i;
    }
    segment->high = count;
    ranks_use(segment, OWN, FIRST_RANK + OWN, PROGRAM);
    ranks_appear();
}

static int remove_ranks(void **unused)
{
    (void)unused;
    ranks_stop();
    os_unmap(segment, RANKS_BYTES);
    return 0;
}

#define RANKS_TEST(name) UNIT_TEST_WITH(name, NULL, remove_ranks)

static void waits(uint32_t rank, uint64_t from_us, uint64_t until_us, uint64_t call)
{
    ranks_line_begin(&segment->line[rank], begin_ns + from_us * US, call, 0);
    if (until_us)
        ranks_line_end(&segment->line[rank], begin_ns + until_us * US);
}

static struct ranks_census at(uint64_t then_us, uint64_t now_us)
{
    fake_now_ns = begin_ns + now_us * US;
    struct clock_reading clocks = clock_read();
    return ranks_census_at(&clocks, begin_ns + then_us * US);
}

RANKS_TEST(without_a_segment_nobody_is_seen)
{
    struct clock_reading clocks = clock_read();
    ranks(2);
    ranks_stop();
    assert_false(ranks_are_seen());
    assert_false(ranks_wait_begin(CALL, 0));
    assert_int_equal(ranks_census_at(&clocks, clocks.ns).seen, 0);
}

RANKS_TEST(a_rank_waits_from_its_begin_on_until_its_end)
{
    ranks(3);
    waits(1, 10, 0, CALL);
    struct ranks_census before = at(9, 20), then = at(10, 20);
    assert_int_equal(before.busy, 3);
    assert_int_equal(before.calls, 0);
    assert_int_equal(then.busy, 2);
    assert_int_equal(then.waiting, 1);
    assert_false(then.own_waits);
    assert_int_equal(then.calls, 1);
    assert_true(then.call[0].call == CALL && then.call[0].own_program && then.call[0].any == 1);
    ranks_line_end(&segment->line[1], begin_ns + 30 * US);
    assert_int_equal(at(29, 40).busy, 2);
    assert_int_equal(at(30, 40).busy, 3);
}

RANKS_TEST(the_own_rank_is_in_the_census_and_in_no_call)
{
    ranks(2);
    fake_now_ns = begin_ns + 10 * US;
    assert_true(ranks_wait_begin(CALL, 0));
    assert_true(ranks_wait_begin(CALL, 0)); /* a second thread */
    struct ranks_census census = at(15, 20);
    assert_true(census.own_waits);
    assert_int_equal(census.own_threads, 2);
    assert_int_equal(census.busy, 1);
    assert_int_equal(census.calls, 0);
    ranks_wait_end();
    assert_true(at(25, 30).own_waits);
    assert_true(ranks_wait_left());
    census = at(31, 32);
    assert_false(census.own_waits);
    assert_int_equal(census.own_threads, 1);
    assert_true(at(29, 32).own_waits);
}

static sigjmp_buf before;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(before, 1);
}

RANKS_TEST(a_writer_that_never_comes_back_ends_the_telling)
{
    volatile int jumps = 0;
    ranks(2);
    signal(SIGALRM, jump);
    sigsetjmp(before, 1);
    if (ranks_wait_begin(CALL, 0) && jumps++ < 100000) {
        setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 50}}, NULL);
        for (;;) {
            ranks_wait_end();
            ranks_wait_begin(CALL, 0);
        }
    }
    signal(SIGALRM, SIG_IGN);
    assert_false(ranks_are_seen());
    assert_false(segment->owner[OWN] & RANKS_READY);
    assert_int_equal(RANKS_OWNER_PID(segment->owner[OWN]), 100 + OWN);
}

RANKS_TEST(calls_are_told_apart_and_who_finds_no_room_is_counted)
{
    ranks(20);
    for (uint32_t i = 1; i < 20; i++)
        waits(i, 1, 0, i < 10 ? CALL : RANKS_CALL(27, i));
    struct ranks_census census = at(5, 6);
    assert_int_equal(census.waiting, 19);
    assert_int_equal(census.calls, RANKS_CALLS);
    assert_int_equal(census.call[0].any, 9);
    assert_int_equal(census.call[RANKS_CALLS - 1].call, 0);
    uint32_t counted = 0;
    for (uint32_t i = 0; i < census.calls; i++)
        counted += census.call[i].any;
    assert_int_equal(counted, 19);
}

/* From the begin on, for the rank with that line. */
static void waits_for(uint32_t rank, uint32_t peer)
{
    ranks_line_begin(&segment->line[rank], begin_ns, CALL, RANKS_PEER(FIRST_RANK + peer));
}

RANKS_TEST(who_says_for_whom_it_waits_is_that_ranks)
{
    ranks(4);
    waits_for(1, OWN);
    waits_for(2, 3);
    struct ranks_census census = at(5, 6);
    assert_int_equal(census.busy, 2);
    assert_int_equal(census.calls, 1);
    assert_int_equal(census.call[0].named, 1);
    assert_int_equal(census.call[0].any, 0);
}

RANKS_TEST(of_ranks_that_wait_for_one_another_all_are_the_first_ones)
{
    ranks(5);
    waits_for(3, 2);
    waits_for(2, 1);
    waits_for(1, OWN);
    assert_int_equal(at(5, 6).call[0].named, 3);
    fake_now_ns = begin_ns + 10 * US;
    assert_true(ranks_wait_begin(CALL, RANKS_PEER(FIRST_RANK + 4)));
    struct ranks_census census = at(12, 15);
    assert_true(census.own_waits && census.own_is_blamed);
    assert_int_equal(census.calls, 0);
    assert_int_equal(at(5, 15).call[0].named, 3);
}

RANKS_TEST(if_the_first_one_waits_for_anybody_so_do_all)
{
    ranks(4);
    waits_for(2, 1);
    waits(1, 0, 0, CALL);
    struct ranks_census census = at(5, 6);
    assert_int_equal(census.call[0].any, 2);
    assert_int_equal(census.call[0].named, 0);
}

RANKS_TEST(nobody_here_is_to_blame_for_who_waits_for_another_node_or_in_a_circle)
{
    ranks(4);
    waits_for(1, 100);
    waits_for(2, 3);
    waits_for(3, 2);
    assert_int_equal(at(5, 6).waiting, 3);
    assert_int_equal(at(5, 6).calls, 0);
    fake_now_ns = begin_ns + 10 * US;
    assert_true(ranks_wait_begin(CALL, RANKS_PEER(FIRST_RANK + 2)));
    assert_false(at(12, 15).own_is_blamed);
}

RANKS_TEST(the_own_wait_for_anybody_is_blamed_if_another_rank_is_busy)
{
    ranks(2);
    fake_now_ns = begin_ns + 10 * US;
    assert_true(ranks_wait_begin(CALL, 0));
    assert_true(at(12, 15).own_is_blamed);
    waits(1, 20, 0, CALL);
    assert_false(at(25, 30).own_is_blamed);
    assert_true(at(15, 30).own_is_blamed);
}

RANKS_TEST(threads_that_wait_for_several_ranks_wait_for_anybody)
{
    ranks(2);
    waits_for(1, OWN);
    waits_for(1, OWN);
    assert_int_equal(at(5, 6).call[0].named, 1);
    waits_for(1, 7);
    assert_int_equal(at(5, 6).call[0].any, 1);
}

RANKS_TEST(an_address_of_another_program_is_not_this_programs)
{
    ranks(2);
    segment->line[1].program = PROGRAM + 1;
    waits(1, 1, 0, CALL);
    assert_false(at(5, 6).call[0].own_program);
}

/* However late who asks is: what one knows of the other must not depend on when each got a core. */
RANKS_TEST(a_rank_counts_while_it_is_sampled_whenever_it_is_asked_for)
{
    ranks(3);
    segment->line[1].appeared = begin_ns + 10 * US;
    waits(1, 20, 30, CALL);
    segment->line[1].disappeared = begin_ns + 40 * US;
    for (uint64_t late_us = 50; late_us < 500; late_us += 150) {
        assert_int_equal(at(9, late_us).seen, 2);
        assert_int_equal(at(10, late_us).busy, 3);
        assert_int_equal(at(25, late_us).calls, 1);
        assert_int_equal(at(39, late_us).busy, 3);
        assert_int_equal(at(40, late_us).busy, 2);
        assert_int_equal(at(40, late_us).waiting, 0);
    }
    assert_true(ranks_has_gone(segment, 1));
    assert_false(ranks_has_gone(segment, 2));
}

RANKS_TEST(who_is_not_sampled_is_blamed_for_nothing_and_blames_nobody)
{
    ranks(2);
    waits(1, 10, 0, CALL);
    fake_now_ns = begin_ns + 20 * US;
    ranks_disappear();
    assert_int_equal(at(19, 30).calls, 1);
    assert_int_equal(at(20, 30).calls, 0);
    assert_int_equal(at(20, 30).busy, 0);
    waits_for(0, 1);
    assert_false(at(25, 30).own_is_blamed);
    fake_now_ns = begin_ns + 40 * US;
    ranks_appear();
    assert_int_equal(at(30, 50).seen, 1);
    assert_int_equal(at(40, 50).seen, 2);
}

RANKS_TEST(who_waits_for_a_rank_that_has_gone_waits_for_nobody_here)
{
    ranks(3);
    fake_now_ns = begin_ns + 10 * US;
    assert_true(ranks_wait_begin(CALL, RANKS_PEER(FIRST_RANK + 1)));
    assert_true(at(15, 30).own_is_blamed);
    segment->line[1].disappeared = begin_ns + 20 * US;
    assert_true(at(15, 30).own_is_blamed);
    assert_false(at(25, 30).own_is_blamed);
}

RANKS_TEST(past_waits_are_remembered_one_less_than_there_is_room)
{
    ranks(2);
    for (uint64_t i = 0; i < 40; i++)
        waits(1, 10 * i, 10 * i + 5, i % 2 ? CALL : OTHER);
    for (uint64_t back = 1; back < RANKS_WAITS; back++) {
        uint64_t begin_us = 10 * (40 - back);
        struct ranks_census census = at(begin_us + 2, 400);
        assert_int_equal(census.waiting, 1);
        assert_true(census.call[0].call == ((40 - back) % 2 ? CALL : OTHER));
        assert_int_equal(at(begin_us + 7, 400).waiting, 0);
    }
}

/* Half of the time it waited, whatever moment is asked for. */
RANKS_TEST(a_moment_before_that_gives_way_to_one_that_is_remembered)
{
    uint32_t waiting = 0;
    ranks(2);
    for (uint64_t i = 0; i < 1000; i++)
        waits(1, 10 * i, 10 * i + 5, CALL);
    for (uint64_t us = 0; us < 9000; us += 7)
        waiting += at(us, 10000).waiting;
    assert_in_range(waiting, 9000 / 7 * 4 / 10, 9000 / 7 * 6 / 10);
}

RANKS_TEST(who_is_not_ready_or_dead_is_not_there)
{
    ranks(4);
    segment->owner[1] = 101;
    segment->owner[2] = 0;
    waits(2, 1, 0, CALL);
    struct ranks_census census = at(5, 6);
    assert_int_equal(census.seen, 2);
    assert_int_equal(census.waiting, 0);
}

static bool dead_are_even(pid_t pid)
{
    return pid % 2 == 0;
}

RANKS_TEST(the_dead_are_found_one_after_the_other_now_and_then)
{
    ranks(5);
    for (uint64_t look = 1; look < 20; look++)
        ranks_bury(begin_ns + look, 2, dead_are_even);
    assert_int_equal(at(5, 6).seen, 3); /* 101, 103, and itself */
    assert_int_equal(segment->owner[2], 0);
    segment->owner[2] = 102 | RANKS_READY;
    ranks_bury(begin_ns + 20, 2, dead_are_even);
    ranks_bury(begin_ns + 20, 2, dead_are_even);
    assert_int_equal(at(5, 6).seen, 4);
}

UNIT_MAIN(NULL, NULL)
