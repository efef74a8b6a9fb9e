/* needs: tests/unit/fake_clock.c */
#include "cct/profile_format.h"
#include "tests/unit/unit.h"

#include <sys/syscall.h>

#include "ompt_tool/session/core.h"
#include "tests/unit/fake_clock.h"

#define US 1000ull
#define MS 1000000ull

static struct run_counts kernel; /* what base/run_counts.c would read */
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

bool run_counts_read(const struct run_file *file, struct run_counts *counts)
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
enum { OWN_CODE, IN_CALL = 6 };

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

static enum core_state ask(uint64_t late_ns, bool in_call)
{
    uint64_t now_ns = 1000 * MS;
    ucontext_t context = {
        .uc_mcontext.gregs = {
            [REG_RAX] = in_call ? SYS_futex : 0, [REG_RIP] = (greg_t)(code + (in_call ? IN_CALL : OWN_CODE))}};
    struct delivery delivery = {
        .count = 1, .p = 5 * MS, .clocks.ns = now_ns, .due_ns = now_ns - late_ns, .census_ns = now_ns - late_ns};
    fake_now_ns = now_ns;
    core_ask(&core, &ledger, &delivery, &context);
    return core.now.state;
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
    assert_int_equal(core.now.lost_ns, 3 * MS);
}

UNIT_TEST_WITH(who_has_got_it_after_the_moment_had_none, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 5};
    assert_int_equal(ask(20 * US, false), CORE_NONE);
    assert_int_equal(core.now.lost_ns, 3 * MS);
    kernel.no_core_ns += 3 * MS;
    kernel.turns++;
    assert_int_equal(ask(2 * MS, false), CORE_NONE);
    assert_int_equal(core.now.lost_ns, 3 * MS);
    kernel.no_core_ns += 3 * MS;
    kernel.turns++;
    assert_int_equal(ask(12 * US, false), CORE_NONE); /* at the very end of it */
    kernel.turns++;
    sleeps++;
    assert_int_equal(ask(2 * MS, false), CORE_ASLEEP); /* it waited for no core: for a page, say */
}

UNIT_TEST_WITH(a_dropped_sample_keeps_what_was_lost_before_it, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns, .no_core_ns = 10 * MS, .turns = 4};
    core_pass_over(&core, &ledger);
    assert_true(ledger.no_core_dropped_ns == 3 * MS);
    kernel.no_core_ns += 2 * MS;
    kernel.turns++;
    ask(20 * US, false);
    assert_int_equal(core.now.lost_ns, 2 * MS);
    assert_true(ledger.no_core_dropped_ns == 3 * MS);
    told = false; /* the program has closed the file */
    core_pass_over(&core, &ledger);
    assert_true(ledger.no_core_dropped_ns == 3 * MS);
}

UNIT_TEST_WITH(who_loses_it_in_the_handler_before_it_asks_had_none_at_the_moments_meanwhile, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 107 * MS, .turns = 4};
    ask(100 * MS, false); /* the clock was read 100 ms before */
    assert_int_equal(ask(50 * MS, false), CORE_NONE);
    assert_int_equal(core.now.away_ns, 50 * MS - 10 * US);
    assert_int_equal(core.now.lost_ns, 0);
    assert_int_equal(ask(5 * US, false), CORE_HAD);
}

UNIT_TEST_WITH(who_sleeps_in_a_call_is_asleep_and_what_its_signal_waits_for_is_the_samples, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 5};
    sleeps++;
    assert_int_equal(ask(1010 * US, true), CORE_ASLEEP);
    assert_int_equal(core.now.woken_ns, 1 * MS);
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 13 * MS, .turns = 6};
    assert_int_equal(ask(1010 * US, true), CORE_NONE); /* that did not sleep: it polls */
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

UNIT_TEST_WITH(a_core_that_nobody_took_was_not_got_again, begin, NULL)
{
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 4};
    sleeps++;
    assert_int_equal(ask(20 * US, false), CORE_HAD);
}

UNIT_TEST_WITH(where_the_kernels_file_is_closed_the_threads_own_time_tells, begin, NULL)
{
    told = false;
    assert_int_equal(ask(2 * MS, false), CORE_HAD);
    assert_int_equal(ledger.core_unasked, 1); /* this one found nobody to ask */
    assert_int_equal(ledger.core_source, PROFILE_CORE_CPU_CLOCK);
    core.counts.read_ns = fake_now_ns - 5 * MS;
    fake_cpu_ns += 2 * MS;
    assert_int_equal(ask(3 * MS, false), CORE_NONE);
    assert_int_equal(core.now.lost_ns, 3 * MS);
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
    core.counts.read_ns = 990 * MS;
    fake_cpu_ns += 4 * MS;
    assert_int_equal(ask(3 * MS, false), CORE_NONE);
    assert_int_equal(core.now.lost_ns, 6 * MS);
    assert_int_equal(ledger.core_unasked, 0);
}

UNIT_TEST_WITH(what_a_thread_that_slept_waited_for_its_core_its_own_time_does_not_tell, begin_untold, NULL)
{
    sleeps++;
    assert_int_equal(ask(20 * US, true), CORE_ASLEEP);
    assert_int_equal(ledger.core_unasked, 0); /* it got a core at once */
    core.counts.read_ns = 990 * MS;
    sleeps++;
    assert_int_equal(ask(3 * MS, false), CORE_ASLEEP);
    assert_int_equal(ledger.core_unasked, 1);
}

UNIT_MAIN(NULL, NULL)
