/* needs: tests/unit/fake_clock.c */
/* Threads' own sums when more come and go than have a place for theirs. */
#include "tests/unit/unit.h"

#include "cct/arena.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "tests/unit/fake_clock.h"

#define LEDGERS 65536u /* as session/thread.c has it */
#define MORE    1000u

static struct thread *come(void)
{
    struct thread *thread = thread_take(PROFILE_THREAD_WORKER);
    assert_non_null(thread);
    assert_int_equal(thread->from_ns, fake_now_ns);
    assert_int_equal(thread->ledger->end_ns, 0);
    return thread;
}

static void go(struct thread *thread, uint64_t lived_ns)
{
    fake_now_ns += lived_ns;
    thread->ledger->recorded++;
    thread->ledger->end_ns = fake_now_ns;
    thread_give_back(thread);
    fake_now_ns += 500;
}

UNIT_TEST(beyond_the_last_place_a_thread_goes_on_with_the_sums_of_one_that_has_ended)
{
    struct thread *thread = NULL;
    assert_true(arena_open(unit_fresh_path(), 0666));
    session.options.depth = 16;
    for (uint32_t i = 0; i < LEDGERS + MORE; i++) {
        thread = come();
        assert_true((thread->ledger->tree != 0) == (i < LEDGERS));
        go(thread, 1000 + i % 2);
    }
    assert_int_equal(thread->ledger->recorded, 1 + MORE);
    assert_int_equal(thread->ledger->end_ns - thread->ledger->begin_ns, (1 + MORE) * 1000 + (1 + MORE + 1) / 2);
    struct thread *one = come(), *other = come();
    assert_ptr_not_equal(one->ledger, other->ledger); /* nobody writes to a living thread's */
    assert_int_equal(other->ledger->recorded, 0);
    go(one, 1000);
    go(other, 1000);
    arena_abandon();
    unit_clean();
}

UNIT_MAIN(NULL, NULL)
