/* needs: tests/unit/fake_clock.c */
/* The loops of scripts/loop-bounds.txt over threads' and ranks' lines, and the tables of locks, in their worst states: how many instructions one call takes. */
#include "base/os.h"
#include "blame/attribute.h"
#include "blame/contended.h"
#include "blame/directed.h"
#include "blame/notes.h"
#include "blame/ranks.h"
#include "ompt_tool/sampling/lock_blame.h"
#include "tests/unit/census.h"
#include "tests/unit/instructions.h"
#include "tests/unit/unit_tree.h"

#define KEY   0x0300000000001000ull
#define OTHER 0x0300000000002000ull
#define S     1000000000ull

static struct state_line *first_line, *last_line;
static struct region ended_region = {.instance = 7};
static uint64_t moment_ns, wait_key, looked_for;
static struct waiting_places waiting_places;
static struct census census;

/* So many threads, all at work, that hold all the locks that a line names. */
static void threads(uint32_t count)
{
    state_reset();
    contended_reset();
    fake_now_ns += 100 * S;
    moment_ns = fake_now_ns - 50000;
    first_line = last_line = state_line_acquire();
    for (uint32_t i = 1; i < count; i++)
        last_line = state_line_acquire();
    for (struct state_line *line = first_line; line <= last_line; line++) {
        state_set_work(line);
        for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++)
            line->held[i] = OTHER + i;
        line->holds_more = STATE_HELD_LOCKS - 1;
        line->stamps = STATE_STAMPS_NONE;
    }
}

/* Since the moment each has released, and waited, as often as a line remembers. */
static void busy_since(void)
{
    for (struct state_line *line = first_line; line <= last_line; line++) {
        for (uint32_t i = 0; i < STATE_RELEASES; i++)
            line->released[i] =
                (struct state_release){.key = OTHER, .since = moment_ns + 1000, .ticks = moment_ns + 1000 + i};
        for (uint32_t i = 0; i < STATE_WAITS; i++)
            line->waits[i] = (struct state_wait){moment_ns + 1000, moment_ns + 1001 + i, 0, &ended_region, 6};
        line->releases = line->waits_noted = 100;
        line->noted_last = fake_now_ns;
    }
}

static void take_census(void)
{
    waiting_places = (struct waiting_places){0};
    census = census_at(moment_ns, wait_key, &waiting_places);
}

UNIT_TEST(a_census_of_as_many_threads_as_there_may_be)
{
    threads(STATE_MAX_THREADS);
    assert_null(state_line_acquire());
    assert_instructions(take_census, STATE_MAX_THREADS * 11);
    assert_int_equal(census.busy, STATE_MAX_THREADS);
}

/* Of STATE_MAX_THREADS: each costs the same. */
#define BUSY  8u
#define SOME  512u
#define RANKS 128u /* of RANKS_MAX */

UNIT_TEST(a_census_of_threads_that_have_released_and_waited_all_the_time)
{
    wait_key = KEY;
    threads(BUSY);
    busy_since();
    assert_instructions(take_census, BUSY * 1900);
    assert_int_equal(census.busy, BUSY);
    assert_int_equal(census.holder, STATE_NO_HOLDER);
}

static struct thread waiter;

static void look_for_next_owner(void)
{
    lock_blame_look(&waiter);
}

/* As many moments as a sample may look up at so many lines, of all that are kept. */
UNIT_TEST(moments_at_which_a_lock_was_free_are_looked_up_as_often_as_a_sample_has_moments)
{
    threads(SOME);
    for (struct state_line *line = first_line; line <= last_line; line++)
        line->holds_more = 0;
    waiter.line = last_line;
    last_line->wait_key = waiter.handover.key = KEY;
    waiter.handover.count = THREAD_HANDOVER_MOMENTS;
    for (uint32_t i = 0; i < THREAD_HANDOVER_MOMENTS; i++)
        waiter.handover.moment[i].ticks = (int64_t)moment_ns;
    assert_instructions(look_for_next_owner, DELIVERY_LINES * 45);
    assert_int_equal(waiter.handover.count, THREAD_HANDOVER_MOMENTS);
}

static void note_contended(void)
{
    contended_note(KEY);
}

UNIT_TEST(all_threads_are_told_that_a_lock_is_waited_for)
{
    threads(SOME);
    assert_instructions(note_contended, SOME * 19);
    assert_int_equal(last_line->stamps, STATE_STAMPS_SEEN);
}

static void forget(void)
{
    contended_forget(fake_now_ns);
}

UNIT_TEST(all_slots_of_contended_locks_are_looked_at)
{
    contended_reset();
    for (uint64_t key = KEY; key < KEY + 100000; key += 16)
        contended_blame_left(key);
    fake_now_ns += 100 * CONTENDED_AGE_NS;
    assert_instructions(forget, 12300);
}

static void forget_holder(void)
{
    assert_int_equal(state_forget_holder(KEY), SOME / 8 - 1);
}

UNIT_TEST(a_lock_that_the_last_thread_is_said_to_hold_is_released_by_another)
{
    threads(SOME / 8);
    last_line->held[STATE_HELD_LOCKS - 1] = KEY;
    assert_instructions(forget_holder, SOME / 8 * 48);
}

static void note_due(void)
{
    struct clock_reading clocks = clock_read();
    notes_due(last_line, &clocks, fake_now_ns + S);
}

UNIT_TEST(when_the_next_sample_of_any_thread_is_due)
{
    threads(STATE_MAX_THREADS);
    assert_instructions(note_due, 2500);
}

/* Until nothing has room any more. */
static void fill_directed(void)
{
    uint32_t refused = 0;
    for (uint64_t id = 1; refused < 1000; id++)
        refused = directed_add(id * 16, 5, &(struct lock_blame){1, 0, 0}) ? 0 : refused + 1;
}

static void take_missing(void)
{
    struct lock_blame blame;
    assert_false(directed_take(looked_for, 6, &blame));
}

static uint32_t context;

static void take_held(void)
{
    attribute_held(&tree, last_line, context, fake_now_ns);
}

UNIT_TEST_WITH(a_table_of_contended_locks_that_is_full, open_tree, close_tree)
{
    threads(1);
    fill_directed();
    looked_for = OTHER + 100;
    context = frame(tree.root, 1);
    assert_instructions(take_missing, 2500);
    assert_instructions(take_held, 17500);
    directed_reset();
}

#define FIRST_RANK 5000u
static struct ranks_segment *segment;
static struct ranks_census of_ranks;

/* So many ranks that wait, each for the one that `apart` behind it. */
static void ranks(uint32_t count, uint32_t apart)
{
    segment = os_map(RANKS_BYTES);
    fake_now_ns += 100 * S;
    for (uint32_t i = 0; i < count; i++) {
        segment->owner[i] = (100 + i) | RANKS_READY;
        segment->line[i].rank = FIRST_RANK + i;
    }
    segment->high = count;
    ranks_use(segment, 0, FIRST_RANK, 77);
    ranks_appear();
    fake_now_ns += S;
    for (uint32_t i = 1; i < count; i++)
        ranks_line_begin(&segment->line[i], fake_now_ns - 1000, RANKS_CALL(i % 50, 0x1000),
                         RANKS_PEER(FIRST_RANK + i + apart));
}

static void take_ranks_census(void)
{
    struct clock_reading clocks = clock_read();
    of_ranks = ranks_census_at(&clocks, fake_now_ns);
}

/* Each waits for one of another node: nobody here is to blame. */
UNIT_TEST(a_census_of_ranks_that_wait_for_others_elsewhere)
{
    ranks(RANKS, RANKS);
    assert_instructions(take_ranks_census, RANKS * 122);
    assert_int_equal(of_ranks.waiting, RANKS - 1);
    assert_int_equal(of_ranks.calls, 0);
    ranks_stop();
    os_unmap(segment, RANKS_BYTES);
}

/* The same where a rank of this node stands in each of their places: so many looks are taken for each, RANKS_LOOKS in all. */
UNIT_TEST(a_census_of_ranks_that_wait_for_others_which_cannot_be_told_at_once)
{
    ranks(16, 2048);
    assert_instructions(take_ranks_census, 9600);
    ranks_stop();
    os_unmap(segment, RANKS_BYTES);
}

/* And where they wait for one another, in a long row. */
UNIT_TEST(a_census_of_ranks_in_a_row)
{
    ranks(16, -1u);
    assert_instructions(take_ranks_census, 11500);
    ranks_stop();
    os_unmap(segment, RANKS_BYTES);
}

UNIT_MAIN(NULL, NULL)
