/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include <sys/syscall.h>

#include "ompt_tool/session/core.h"
#include "tests/unit/fake_clock.h"

#define US 1000ull
#define MS 1000000ull

/* Instead of base/run_counts.c. */
static struct run_counts kernel;
static bool told;

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
    return told;
}

static long sleeps;

long run_sleeps(void)
{
    return sleeps;
}

static struct core core;
static struct profile_thread ledger;
static const uint8_t code[] = {0x90, 0x90, 0x0f, 0x05};

/* Counted since 10 ms, at the last tick. */
static int begin(void **state)
{
    (void)state;
    told = true;
    kernel = (struct run_counts){.on_core_ns = 50 * MS, .no_core_ns = 7 * MS, .turns = 3};
    ledger = (struct profile_thread){0};
    core_begin(&core, &ledger);
    fake_cpu_ns = 50 * MS + 10 * MS;
    return 0;
}

static enum core_state ask(uint64_t late_ns, bool in_call)
{
    ucontext_t context = {.uc_mcontext.gregs[REG_RAX] = SYS_futex,
                          .uc_mcontext.gregs[REG_RIP] = (greg_t)(code + (in_call ? 2 : 0))};
    struct delivery delivery = {.count = 1, .clocks.ns = 1000 * MS, .due_ns = 1000 * MS - late_ns};
    fake_now_ns = delivery.clocks.ns;
    core_ask(&core, &ledger, &delivery, &context);
    return core.state;
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
    kernel.turns++;
    assert_int_equal(ask(20 * US, false), CORE_HAD); /* by now it is known that the kernel counts at ticks */
    kernel = (struct run_counts){.on_core_ns = fake_cpu_ns - 10 * US, .no_core_ns = 10 * MS, .turns = 5};
    assert_int_equal(ask(2 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 3 * MS);
    kernel.no_core_ns += 3 * MS;
    kernel.turns++;
    assert_int_equal(ask(12 * US, false), CORE_NONE); /* at the very end of it */
    kernel.turns++;
    assert_int_equal(ask(2 * MS, false), CORE_NONE); /* it has not gone to sleep */
    kernel.turns++;
    sleeps++;
    assert_int_equal(ask(2 * MS, false), CORE_ASLEEP); /* it waited for no core: for a page, say */
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
    assert_int_equal(ask(1010 * US, true), CORE_ASLEEP);
    assert_int_equal(core.woken_ns, 1 * MS);
}

UNIT_TEST_WITH(where_the_kernels_file_is_closed_the_threads_own_time_tells, begin, NULL)
{
    told = false;
    assert_int_equal(ask(20 * US, false), CORE_HAD);
    assert_int_equal(ledger.core_unasked, 0);
    assert_int_equal(ledger.core_source, PROFILE_CORE_CPU_CLOCK); /* from now on */
    core.counted_ns = fake_now_ns - 5 * MS;
    fake_cpu_ns += 2 * MS;
    assert_int_equal(ask(3 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 3 * MS);
}

UNIT_TEST_WITH(a_late_sample_that_finds_nobody_to_ask_is_counted, begin, NULL)
{
    told = false;
    assert_int_equal(ask(2 * MS, false), CORE_HAD);
    assert_int_equal(ledger.core_unasked, 1);
}

UNIT_TEST(where_the_kernel_does_not_count_the_threads_own_time_tells)
{
    told = false;
    ledger = (struct profile_thread){0};
    fake_now_ns = 990 * MS;
    core_begin(&core, &ledger);
    assert_int_equal(ledger.core_source, PROFILE_CORE_CPU_CLOCK);
    fake_cpu_ns += 10 * MS;
    assert_int_equal(ask(3 * MS, false), CORE_HAD);
    core.counted_ns = 990 * MS;
    fake_cpu_ns += 4 * MS;
    assert_int_equal(ask(3 * MS, false), CORE_NONE);
    assert_int_equal(core.lost_ns, 6 * MS);
}

/* Who owes the others its lost time pays with samples that find them waiting. */
UNIT_TEST_WITH(others_wait_for_the_lost_time_as_long_as_it_was_and_for_the_code_after_that, begin, NULL)
{
    const struct census all_busy = {.busy = 2, .in_use = 2}, one_waits = {.busy = 1, .in_use = 2};
    struct state_line line = {.idle_since = 1};
    core.state = CORE_HAD;
    core.lost_ns = 0;
    assert_false(core_runs_late(&core, &line, 5e6, all_busy));
    assert_false(core_runs_late(&core, &line, 5e6, one_waits));
    core.lost_ns = 10 * MS;
    assert_false(core_runs_late(&core, &line, 5e6, all_busy));
    core.lost_ns = 0;
    assert_true(core_runs_late(&core, &line, 5e6, one_waits));
    assert_true(core_runs_late(&core, &line, 5e6, one_waits));
    assert_false(core_runs_late(&core, &line, 5e6, one_waits));
    core.lost_ns = 10 * MS;
    core_runs_late(&core, &line, 5e6, all_busy);
    core.lost_ns = 0;
    line.idle_since = 2; /* it has waited itself: who waits now waits for something else */
    assert_false(core_runs_late(&core, &line, 5e6, one_waits));
    core.lost_ns = 10 * MS;
    assert_false(core_runs_late(&core, &line, 5e6, (struct census){.busy = 1, .in_use = 1}));
    core.lost_ns = 0;
    assert_false(core_runs_late(&core, &line, 5e6, one_waits)); /* alone it owed nobody */
}

UNIT_MAIN(NULL, NULL)
