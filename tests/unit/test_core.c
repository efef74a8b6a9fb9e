/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include <sys/syscall.h>

#include "cct/moment.h"
#include "ompt_tool/session/core.h"
#include "tests/unit/fake_clock.h"

#define US 1000ull
#define MS 1000000ull

/* Instead of base/run_counts.c. */
static struct run_counts kernel;
static bool told, counts_when_read;

bool run_file_keep(struct run_file *file)
{
    file->fd = told;
    return told;
}

void run_file_let_go(struct run_file *file)
{
    file->fd = 0;
}

bool run_counts_read(struct run_file *file, struct run_counts *counts)
{
    (void)file;
    *counts = kernel;
    kernel.on_core_ns += counts_when_read ? 500 : 0;
    return told;
}

static long sleeps, faults;

struct run_switches run_switches(void)
{
    return (struct run_switches){.sleeps = sleeps, .faults = faults, .preemptions = (long)kernel.turns - sleeps};
}

static struct core core;
static struct moments moments;
static struct profile_thread ledger;
static const uint8_t code[] = {0x90, 0xb8, SYS_futex, 0, 0, 0, 0x0f, 0x05, 0x90};
static struct state_line line;
enum { OWN_CODE, IN_CALL = 6, BEHIND_CALL = 8 };

/* At 990 ms; the last tick was then, and it has run since. */
static int begin(void **state)
{
    (void)state;
    told = true;
    fake_now_ns = 990 * MS;
    fake_cpu_ns = 50 * MS;
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns, .no_core_ns = 7 * MS, .turns = 3};
    ledger = (struct profile_thread){0};
    core_begin(&core, &line, &moments, &ledger);
    fake_cpu_ns += 10 * MS;
    line.state = STATE_WORK;
    return 0;
}

static enum core_state ask_there(uint64_t now_ns, uint64_t late_ns, int place)
{
    ucontext_t context = {.uc_mcontext.gregs = {[REG_RAX] = place == IN_CALL ? SYS_futex : 0, [REG_RIP] = (greg_t)(code + place)}};
    struct delivery delivery = {.count = 1, .p = 5 * MS, .clocks.ns = now_ns, .due_ns = now_ns - late_ns, .census_ns = now_ns - late_ns};
    fake_now_ns = now_ns;
    core_ask(&core, &ledger, &delivery, &context);
    return core.state;
}

static enum core_state ask_at(uint64_t now_ns, uint64_t late_ns, bool in_call)
{
    return ask_there(now_ns, late_ns, in_call ? IN_CALL : OWN_CODE);
}

static enum core_state ask(uint64_t late_ns, bool in_call)
{
    return ask_at(1000 * MS, late_ns, in_call);
}

/* This test is the first: once a kernel is seen to count at ticks it is taken to do so. */
UNIT_TEST(where_the_kernel_counts_when_it_is_read_only_a_late_sample_had_no_core)
{
    counts_when_read = true;
    begin(NULL);
    counts_when_read = false;
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns, .no_core_ns = 10 * MS, .turns = 4};
    assert_int_equal(ask(20 * US, false), CORE_HAD);
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns, .no_core_ns = 13 * MS, .turns = 5};
    assert_int_equal(ask(2 * MS, false), CORE_NONE);
}

UNIT_TEST_WITH(who_has_not_lost_its_core_had_it_however_late_the_sample_is, begin, NULL)
{
    assert_int_equal(ask(20 * US, false), CORE_HAD);
    assert_int_equal(ask(5 * MS, false), CORE_HAD); /* the signal was blocked, or the kernel busy for it */
    assert_int_equal(ask(20 * US, true), CORE_HAD);
}

UNIT_TEST_WITH(who_has_lost_it_before_the_moment_had_it, begin, NULL)
{
    kernel.no_core_ns += 3 * MS;
    kernel.turns++;
    assert_int_equal(ask(20 * US, false), CORE_HAD); /* it has run for 10 ms since */
    assert_int_equal(core.lost_ns, 3 * MS);
}

UNIT_TEST_WITH(who_has_got_it_after_the_moment_had_none, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 5};
    assert_int_equal(ask(20 * US, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 3 * MS);
    kernel.no_core_ns += 3 * MS;
    kernel.turns++;
    assert_int_equal(ask(2 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 3 * MS);
    kernel.no_core_ns += 3 * MS;
    kernel.turns++;
    assert_int_equal(ask(12 * US, false), CORE_NONE); /* at the very end of it */
    kernel.turns++;
    sleeps++;
    assert_int_equal(ask(2 * MS, false), CORE_ASLEEP); /* it waited for no core: for a page, say */
}

UNIT_TEST_WITH(who_slept_before_its_last_sample_does_not_sleep_now, begin, NULL)
{
    kernel.turns++;
    sleeps++;
    assert_int_equal(ask(20 * US, false), CORE_HAD); /* it has run for 10 ms since */
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 8 * MS, .turns = 5};
    assert_int_equal(ask(200 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 1 * MS);
}

/* It has its core for 10 us; before, it had none for 3 ms. */
UNIT_TEST_WITH(who_has_lost_it_while_the_signal_was_on_its_way_had_it_at_the_moment, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 4};
    assert_int_equal(ask(3 * MS + 50 * US, false), CORE_NONE);
    assert_int_equal(core.first_moments, 1);
    assert_int_equal(core.lost_ns, 3 * MS);
    begin(NULL);
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 4};
    assert_int_equal(ask(3 * MS, false), CORE_NONE);
    assert_int_equal(core.first_moments, 0);
}

UNIT_TEST_WITH(who_loses_it_in_the_handler_before_it_asks_had_none_at_the_moments_meanwhile, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 107 * MS, .turns = 4};
    ask(100 * MS, false); /* the clock was read 100 ms before */
    assert_int_equal(ask(50 * MS, false), CORE_NONE);
    assert_int_equal(core.away_ns, 50 * MS - 10 * US);
    assert_int_equal(core.lost_ns, 0);
    assert_int_equal(ask(5 * US, false), CORE_HAD);
}

UNIT_TEST_WITH(who_sleeps_in_a_call_is_asleep_and_what_its_signal_waits_for_is_the_samples, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 5};
    sleeps++;
    assert_int_equal(ask(1010 * US, true), CORE_ASLEEP);
    assert_int_equal(core.woken_ns, 1 * MS);
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 13 * MS, .turns = 6};
    assert_int_equal(ask(1010 * US, true), CORE_NONE); /* that did not sleep: it polls */
}

/* Each 5 ms it has slept twice, and waited twice for a core, most of the time or least; its sample came amid all that. */
static uint32_t found_asleep(uint64_t slept_ns, int place)
{
    uint32_t asleep = 0;
    begin(NULL);
    for (uint64_t i = 1; i <= 1000; i++) {
        kernel.no_core_ns += 4 * MS - slept_ns;
        kernel.turns += 2;
        sleeps += 2;
        fake_cpu_ns += 1 * MS;
        kernel.on_core_ns = fake_cpu_ns - 5 * US;
        enum core_state state = ask_there((990 + 5 * i) * MS, 500 * US, place);
        asleep += i > 1 && state == CORE_ASLEEP;
        assert_true(i == 1 || state != CORE_HAD);
    }
    return asleep;
}

UNIT_TEST(of_code_that_comes_out_of_a_short_sleep_its_counts_tell_how_often_it_slept_still)
{
    assert_in_range(found_asleep(1 * MS, BEHIND_CALL), 380, 400); /* for 3 of 5 ms it was without a core, and no sample found it at work */
    assert_in_range(found_asleep(2 * MS, BEHIND_CALL), 600, 640);
    assert_int_equal(found_asleep(1 * MS, OWN_CODE), 0);
}

/* It works for 20 us and sleeps for 30, and signals take 15: who worked at the moment sleeps by the time its signal comes, every other time. */
UNIT_TEST(who_sleeps_often_may_have_gone_to_sleep_while_the_signal_was_on_its_way)
{
    uint32_t worked = 0, asleep = 0;
    begin(NULL);
    for (uint64_t i = 1; i <= 1000; i++) {
        bool works = i % 5 == 0; /* and keeps its core until the handler */
        fake_cpu_ns += 2 * MS;
        kernel.on_core_ns = fake_cpu_ns - (works ? 20 : 0) * US;
        kernel.turns += 100;
        sleeps += 100;
        enum core_state state = ask_there((990 + 5 * i) * MS, 15 * US, works ? OWN_CODE : BEHIND_CALL);
        worked += state == CORE_HAD;
        asleep += state == CORE_ASLEEP;
        fake_cpu_ns += 250 * US;
        core_leave(&core, (990 + 5 * i) * MS);
    }
    assert_in_range(worked, 417, 423); /* 2 of 4.75 ms, which the sample leaves: of which 200 were seen */
    assert_int_equal(worked + asleep, 1000);
}

/* Where no signal ended the sleep the thread waits for its core of its own. */
UNIT_TEST_WITH(who_waits_for_a_core_behind_a_page_or_a_stop_was_asleep_only_before, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 17 * MS, .turns = 5};
    sleeps++;
    ucontext_t context = {.uc_mcontext.gregs[REG_RIP] = (greg_t)code};
    moments_start(&moments, 1000 * MS, 5 * MS, 1000 * MS, 1, 0);
    struct moments until = moments;
    struct delivery delivery = {.p = 25 * MS, .clocks.ns = moments.next_ns + 20 * MS, .due_ns = moments.next_ns};
    fake_now_ns = delivery.clocks.ns;
    uint64_t weight_ns, asleep = moments_pass(&until, fake_now_ns - 10 * MS - 1, &delivery.census_ns, &weight_ns);
    delivery.count = moments_pass(&moments, fake_now_ns, &delivery.census_ns, &weight_ns);
    core_ask(&core, &ledger, &delivery, &context);
    assert_int_equal(core.state, CORE_NONE); /* for 10 ms, behind 10 of sleep */
    assert_int_equal(core.first, CORE_ASLEEP);
    assert_true(core.first_moments == asleep && core.woken_ns == 0);
}

/* Behind no call: what it waited for was a page. */
UNIT_TEST_WITH(who_has_waited_for_pages_since_its_last_sample_may_have_been_asleep, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 5 * US, .no_core_ns = 7 * MS, .turns = 5};
    sleeps += 2;
    faults += 2;
    fake_cpu_ns -= 5 * MS; /* of the 10 ms it slept five */
    kernel.on_core_ns -= 5 * MS;
    assert_int_equal(ask(20 * US, false), CORE_ASLEEP);
}

UNIT_TEST(who_waits_in_the_runtime_and_has_lost_its_core_more_than_once_does_not_count_as_asleep)
{
    begin(NULL);
    line.state = STATE_IDLE;
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 5};
    sleeps++;
    assert_int_equal(ask_there(1000 * MS, 2 * MS, BEHIND_CALL), CORE_NONE);
}

UNIT_TEST_WITH(a_core_that_nobody_took_was_not_got_again, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 4};
    sleeps++;
    assert_int_equal(ask(20 * US, false), CORE_HAD);
}

/* In how many of 1,000 samples it had no core, if it had none for such parts of the time, and seems to have got one just now, or so much earlier. */
static uint32_t found_without(uint64_t turns, double no_core, double at_tenth, uint64_t earlier_ns)
{
    uint32_t lacked = 0;
    begin(NULL);
    for (uint64_t i = 0, now_ns = 990 * MS; i < 1000; i++) {
        uint64_t passed_ns = (i & 1 ? 6 : 4) * MS, none_ns = (uint64_t)((i % 10 ? no_core : at_tenth) * (double)passed_ns);
        kernel = (struct run_counts){(fake_cpu_ns += passed_ns - none_ns) - 1 * US, kernel.no_core_ns + none_ns, kernel.turns + turns};
        lacked += ask_at(now_ns += passed_ns, 20 * US + (moment_hash(i) & 1) * earlier_ns, false) == CORE_NONE;
    }
    return lacked;
}

UNIT_TEST(who_seems_to_have_got_its_core_at_each_sample_reads_its_time_or_loses_it_often_and_gets_it_back_at_once)
{
    assert_in_range(found_without(1, 0.4, 0.4, 0), 2, 8); /* reading makes the kernel count */
    assert_in_range(found_without(60, 0.4, 0.4, 0), 390, 480);
    assert_in_range(found_without(5, 0.999, 0.999, 130 * US), 990, 1000); /* by chance */
    assert_in_range(found_without(60, 0.999, 0.2, 0), 919, 950); /* chance has little room there */
}

UNIT_TEST_WITH(where_the_kernels_file_is_closed_the_threads_own_time_tells, begin, NULL)
{
    told = false;
    assert_int_equal(ask(2 * MS, false), CORE_HAD);
    assert_int_equal(ledger.core_unasked, 1); /* this one found nobody to ask */
    assert_int_equal(ledger.core_source, PROFILE_CORE_CPU_CLOCK);
    core.counted_ns = fake_now_ns - 5 * MS;
    fake_cpu_ns += 2 * MS;
    assert_int_equal(ask(3 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 3 * MS);
    assert_int_equal(ledger.core_unasked, 1);
}

/* The same where the kernel does not count. */
static int begin_untold(void **state)
{
    (void)state;
    told = false;
    ledger = (struct profile_thread){0};
    fake_now_ns = 990 * MS;
    core_begin(&core, &line, &moments, &ledger);
    return 0;
}

UNIT_TEST_WITH(where_the_kernel_does_not_count_the_threads_own_time_tells, begin_untold, NULL)
{
    assert_int_equal(ledger.core_source, PROFILE_CORE_CPU_CLOCK);
    fake_cpu_ns += 10 * MS;
    assert_int_equal(ask(3 * MS, false), CORE_HAD);
    core.counted_ns = 990 * MS;
    fake_cpu_ns += 4 * MS;
    assert_int_equal(ask(3 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 6 * MS);
    assert_int_equal(ledger.core_unasked, 0);
}

UNIT_TEST_WITH(what_a_thread_that_slept_waited_for_its_core_its_own_time_does_not_tell, begin_untold, NULL)
{
    sleeps++;
    assert_int_equal(ask(20 * US, true), CORE_ASLEEP);
    assert_int_equal(ledger.core_unasked, 0); /* it got a core at once */
    core.counted_ns = 990 * MS;
    sleeps++;
    assert_int_equal(ask(3 * MS, false), CORE_ASLEEP);
    assert_int_equal(ledger.core_unasked, 1);
}

/* The whole machine stood still: the tick that was due comes when it goes on. */
static void stand_still(uint64_t ran_ns)
{
    fake_cpu_ns += ran_ns;
    kernel.on_core_ns = fake_cpu_ns - 10 * US;
}

UNIT_TEST_WITH(what_no_count_of_the_kernels_has_was_taken_by_a_hypervisor, begin, NULL)
{
    assert_int_equal(ask_at(1000 * MS, 20 * US, false), CORE_HAD);
    stand_still(3 * MS);
    assert_int_equal(ask_at(1288 * MS, 285 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 285 * MS);
    assert_true(core.stolen_part == 1);
    assert_int_equal(core.first_moments, 0);
    stand_still(4 * MS); /* it is less than a tick, and known exactly, as its time was asked before */
    assert_int_equal(ask_at(1295 * MS, 2 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 3 * MS);
    stand_still(5 * MS);
    assert_int_equal(ask_at(1300 * MS, 2 * MS, false), CORE_HAD); /* the signal was blocked */
    assert_int_equal(ask_at(1300 * MS, 20 * US, false), CORE_HAD);
}

/* Clocks are not as exact, and interrupts take some time: of what ran for a minute nothing but the last is known. */
UNIT_TEST_WITH(of_a_long_time_what_was_taken_at_the_end_is_known_but_for_a_tick, begin, NULL)
{
    fake_cpu_ns = 60000 * MS; /* of 60,060 */
    kernel.on_core_ns = fake_cpu_ns - 4 * MS;
    assert_int_equal(ask_at(61050 * MS, 20 * US, false), CORE_HAD);
    stand_still(5 * MS);
    assert_int_equal(ask_at(61155 * MS, 100 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 96 * MS);
    assert_int_equal(core.first_moments, 1); /* within 4 ms of the 100 */
    begin(NULL);
    fake_cpu_ns = 60000 * MS;
    kernel.on_core_ns = fake_cpu_ns - 4 * MS;
    assert_int_equal(ask_at(61050 * MS, 20 * US, false), CORE_HAD);
    fake_cpu_ns += 105 * MS;
    assert_int_equal(ask_at(61155 * MS, 100 * MS, false), CORE_HAD); /* the signal was blocked */
}

UNIT_TEST_WITH(what_was_taken_stands_beside_what_the_kernel_counts, begin, NULL)
{
    stand_still(0);
    kernel.no_core_ns += 5 * MS;
    kernel.turns++;
    assert_int_equal(ask_at(1010 * MS, 10 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 10 * MS);
    assert_true(core.stolen_part == 0.5);
}

UNIT_TEST_WITH(of_who_has_slept_nobody_knows_whether_something_was_taken, begin, NULL)
{
    stand_still(0);
    kernel.turns++;
    sleeps++;
    assert_int_equal(ask_at(1100 * MS, 90 * MS, false), CORE_ASLEEP);
    assert_true(core.stolen_part == 0);
    stand_still(5 * MS); /* it does not sleep any more */
    assert_int_equal(ask_at(1200 * MS, 94 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 95 * MS);
}

UNIT_TEST_WITH(what_is_taken_of_a_short_time_makes_no_prompt_sample_late, begin, NULL)
{
    stand_still(0);
    assert_int_equal(ask_at(1100 * MS, 20 * US, false), CORE_HAD);
    assert_int_equal(core.lost_ns, 0);
}

/* Between samples, each of a thread that is as the line says. */
static struct state_line line;

static void follow(enum core_state state, uint64_t at_ns, uint64_t lost_ns, uint64_t away_ns)
{
    struct delivery delivery = {.count = 1, .clocks = {at_ns, at_ns, 1}, .due_ns = at_ns - away_ns};
    core.state = state;
    core.got_ns = at_ns;
    core.lost_ns = core.gone_ns = lost_ns;
    core.away_ns = away_ns;
    core.woken_ns = state == CORE_ASLEEP ? away_ns : 0;
    core.in_call = state == CORE_ASLEEP;
    core_follow(&core, &line, &delivery);
}

static int64_t lost_ns(void)
{
    return core_lost_ns(&core, core.got_ns);
}

static int work_from_10_ms(void **state)
{
    begin(state);
    line = (struct state_line){.state = STATE_WORK};
    follow(CORE_HAD, 10 * MS, 0, 0);
    return 0;
}

UNIT_TEST_WITH(what_was_lost_between_two_waits_is_added_up, work_from_10_ms, NULL)
{
    follow(CORE_HAD, 15 * MS, 2 * MS, 0);
    follow(CORE_HAD, 20 * MS, 1 * MS, 0);
    assert_int_equal(lost_ns(), 3 * MS);
    assert_int_equal(line.lost_next_us, 3000);
    line.state = STATE_IDLE;
    line.idle_since = 22 * MS;
    follow(CORE_ASLEEP, 25 * MS, 1 * MS + 500 * US, 500 * US); /* half a millisecond for the sample's sake */
    assert_int_equal(line.lost_before, 22 * MS);
    assert_int_equal(line.lost_us, 4000);
    assert_int_equal(line.lost_next_us, 0);
    line.state = STATE_WORK;
    follow(CORE_HAD, 30 * MS, 2 * MS, 0); /* since it was released: who sleeps loses nothing */
    assert_int_equal(lost_ns(), 2 * MS);
    assert_int_equal(line.lost_us, 4000);
}

UNIT_TEST_WITH(what_was_lost_around_the_begin_of_a_wait_is_divided, work_from_10_ms, NULL)
{
    follow(CORE_HAD, 15 * MS, 2 * MS, 0);
    line.idle_since = 16 * MS; /* and works again: no sample was in that wait */
    follow(CORE_HAD, 20 * MS, 3 * MS, 0);
    assert_int_equal(lost_ns(), 2400 * US);
    line.state = STATE_IDLE;
    line.idle_since = 22 * MS;
    follow(CORE_HAD, 25 * MS, 1 * MS, 0); /* it spins */
    assert_int_equal(line.lost_us, 2800);
    line.state = STATE_WORK;
    follow(CORE_HAD, 30 * MS, 3 * MS, 0); /* half of it while it span */
    assert_int_equal(lost_ns(), 1500 * US);
}

UNIT_TEST_WITH(a_moment_without_a_core_is_of_what_was_lost_until_then, work_from_10_ms, NULL)
{
    follow(CORE_HAD, 13 * MS, 2 * MS, 0);
    follow(CORE_NONE, 20 * MS, 5 * MS, 4 * MS);
    assert_int_equal(core_lost_ns(&core, 16 * MS), 3 * MS);
    assert_int_equal(core_lost_ns(&core, 18 * MS), 5 * MS);
    assert_int_equal(core_lost_ns(&core, 15 * MS - 50 * US), 2 * MS); /* it had one yet */
    follow(CORE_HAD, 25 * MS, 0, 0);
    assert_int_equal(lost_ns(), 7 * MS);
}

UNIT_TEST_WITH(what_is_lost_while_no_other_thread_is_in_use_is_nobodys_later, work_from_10_ms, NULL)
{
    follow(CORE_HAD, 15 * MS, 2 * MS, 0);
    core_note_others(&core, &line, (struct census){.busy = 1, .in_use = 1});
    assert_int_equal(lost_ns(), 0);
    assert_int_equal(line.lost_next_us, 0);
    follow(CORE_HAD, 20 * MS, 2 * MS, 0); /* half of it since the others have come */
    assert_int_equal(lost_ns(), 1 * MS);
    core_note_others(&core, &line, (struct census){.busy = 1, .in_use = 2});
    follow(CORE_HAD, 25 * MS, 2 * MS, 0);
    assert_int_equal(lost_ns(), 3 * MS);
}
/* A pending sample's wait goes on as one that begins later. */
UNIT_TEST_WITH(a_wait_that_goes_on_is_the_same_wait, work_from_10_ms, NULL)
{
    follow(CORE_HAD, 15 * MS, 2 * MS, 0);
    line.state = STATE_IDLE;
    line.idle_since = 17 * MS;
    follow(CORE_ASLEEP, 17 * MS + 1000, 0, 0);
    line.idle_since += 20 * US;
    core_resume(&core, &line);
    follow(CORE_ASLEEP, 20 * MS, 0, 0);
    assert_int_equal(line.lost_before, 17 * MS + 20 * US);
    assert_int_equal(line.lost_us, 2000);
}

UNIT_MAIN(NULL, NULL)
