/* libs: -Wl,--wrap=os_timer_stop -Wl,--wrap=os_timer_set */
/* Another thread disarms a timer just as its owner deletes it. The system's timers are played: it gives the lowest free number, and
 * the owner does what it does between the claim and the call. */
#include "tests/unit/unit.h"

#include "ompt_tool/sampling/shared_timer.h"

void __wrap_os_timer_stop(timer_t timer);
bool __wrap_os_timer_set(timer_t timer, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);

#define TIMERS 4

enum { FREE, OURS, PROGRAMS };

static struct {
    int owner[TIMERS];
    unsigned set[TIMERS]; /* calls that set it while it is the program's */
    uint64_t word;        /* of the thread's record */
    bool ends, goes_on;   /* what the owner does meanwhile: another owner takes the record then */
} world;

static uintptr_t make_timer(int owner)
{
    uintptr_t number = 0;
    while (world.owner[number] != FREE)
        number++;
    world.owner[number] = owner;
    return number;
}

void __wrap_os_timer_stop(timer_t timer)
{
    assert_int_equal(world.owner[(uintptr_t)timer], OURS);
    world.owner[(uintptr_t)timer] = FREE;
}

bool __wrap_os_timer_set(timer_t timer, bool cpu_clock, uint64_t first_ns, uint64_t period_ns)
{
    (void)cpu_clock;
    assert_true(first_ns == 0 && period_ns == 0);
    if (world.ends) {
        uint64_t was = world.word;
        world.word = 0;
        shared_timer_delete(was);
        make_timer(PROGRAMS);
        if (world.goes_on)
            world.word = shared_timer_word((timer_t)make_timer(OURS));
    }
    if (world.owner[(uintptr_t)timer] == PROGRAMS)
        world.set[(uintptr_t)timer]++;
    return world.owner[(uintptr_t)timer] != FREE;
}

static void end(void)
{
    uint64_t was = world.word;
    world.word = 0;
    shared_timer_delete(was);
}

static void begin(bool ends, bool goes_on)
{
    memset(&world, 0, sizeof(world));
    world.ends = ends;
    world.goes_on = goes_on;
    world.word = shared_timer_word((timer_t)make_timer(OURS));
}

static unsigned count(int owner)
{
    unsigned found = 0;
    for (unsigned i = 0; i < TIMERS; i++)
        found += world.owner[i] == owner;
    return found;
}

static void assert_programs_is_untouched(void)
{
    for (unsigned i = 0; i < TIMERS; i++)
        assert_int_equal(world.set[i], 0);
}

UNIT_TEST(a_timer_that_is_disarmed_stays_its_owners)
{
    begin(false, false);
    shared_timer_disarm(&world.word, false);
    assert_int_equal(count(OURS), 1);
    end();
    assert_int_equal(count(OURS), 0);
    end();
    shared_timer_disarm(&world.word, false);
}

UNIT_TEST(the_programs_timer_that_takes_a_number_is_not_set)
{
    begin(true, false);
    shared_timer_disarm(&world.word, false);
    assert_programs_is_untouched();
    assert_int_equal(count(OURS), 0); /* deleted by who disarmed it */
    assert_int_equal(count(PROGRAMS), 1);
}

UNIT_TEST(the_records_next_owner_keeps_its_timer)
{
    begin(true, true);
    shared_timer_disarm(&world.word, false);
    assert_programs_is_untouched();
    assert_int_equal(count(OURS), 1);
    world.ends = false;
    shared_timer_disarm(&world.word, false);
    end();
    assert_int_equal(count(OURS), 0);
}

UNIT_MAIN(NULL, NULL)
