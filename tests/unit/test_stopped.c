/* A sample that comes late: what of it is the process's standing still. */
#include "tests/unit/unit.h"

#include <sys/syscall.h>

#include "ompt_tool/session/core.h"
#include "ompt_tool/session/session.h"

#define S 1000000000ull

static const uint8_t code[] = {0x90, 0x90, 0x90, 0x0f, 0x05, 0x90},
                     sleep_code[] = {0x90, 0xb8, SYS_clock_nanosleep, 0, 0, 0, 0x0f, 0x05, 0x90};
static struct state_line *line;
static struct core core;
static ucontext_t context;
static uint64_t now_ns = 1000 * S;

/* Of a thread in its own code, which was heard last when everything was. */
static int begin(void **unused)
{
    (void)unused;
    if (!line)
        line = state_line_acquire();
    line->state = STATE_WORK;

    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + 2);
    now_ns += 100 * S;
    for (int i = 0; i < 100; i++)
        stopped_hear(now_ns += 5000000);
    core = (struct core){.now.state = CORE_ASLEEP, .counts.slept = true, .before.silence = (uint32_t)stopped_heard};
    return 0;
}

/* Its sample, due then, comes now. */
static bool judge(struct core *asked, uint64_t due_ns)
{
    const struct delivery delivery = {.count = 1, .clocks.ns = now_ns, .due_ns = due_ns, .census_ns = now_ns};
    return stopped_until_now(asked, &delivery, &context);
}

/* The same, if it had been another thread. */
static bool would_be(uint64_t due_ns)
{
    struct core another = core;
    return judge(&another, due_ns);
}

/* Its sample, due 5 ms after the last one, comes so much later. */
static bool is_stopped(uint64_t late_ns)
{
    uint64_t due_ns = now_ns + 5000000;
    now_ns = due_ns + late_ns;
    stopped_hear(now_ns);
    return judge(&core, due_ns);
}

#define STOPPED_TEST(name) UNIT_TEST_WITH(name, begin, NULL)

STOPPED_TEST(a_thread_that_slept_amid_its_own_code_was_stopped)
{
    assert_true(is_stopped(10 * S));
    stopped_hear(now_ns += 5000000);
    assert_false(is_stopped(STOPPED_NS - 1));
}

STOPPED_TEST(one_that_lacked_a_core_or_waited_for_a_page_was_not)
{
    core.now.state = CORE_NONE;
    assert_false(is_stopped(10 * S));
    core.now.state = CORE_ASLEEP;
    core.now.lost_ns = 10 * S - STOPPED_NS + 1; /* what is left is too short to be told apart */
    assert_false(is_stopped(10 * S));
    core.now.lost_ns = 0;
    core.counts.faulted = true;
    assert_false(is_stopped(10 * S));
}

STOPPED_TEST(right_behind_a_call_it_may_have_slept_there_unless_a_signal_would_have_come_through)
{
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + 5);
    assert_false(is_stopped(10 * S));
    core.now.in_call = true;
    assert_true(is_stopped(10 * S));
    core.now.in_call = false;
    line->state = STATE_IDLE;
    assert_true(is_stopped(10 * S));
}

/* What it slept for came while it was stopped: the call is over. */
STOPPED_TEST(a_call_that_a_signal_ends_keeps_no_sample_waiting)
{
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(sleep_code + 8);
    assert_true(is_stopped(10 * S));
    core.counts.faulted = true;
    assert_false(is_stopped(10 * S));
}

STOPPED_TEST(one_that_was_stopped_in_its_handler_was_so_until_its_next_sample)
{
    uint64_t due_ns = now_ns;
    const struct delivery delivery = {.count = 1, .clocks.ns = due_ns, .due_ns = due_ns, .census_ns = due_ns};
    stopped_hear(now_ns += 10 * S); /* another thread goes on first */
    assert_false(stopped_until_now(&core, &delivery, &context));
    assert_true(judge(&core, due_ns + 5000000));
    assert_false(judge(&core, due_ns + 5000000));
}

STOPPED_TEST(while_others_are_heard_nothing_stands_still)
{
    uint64_t due_ns = now_ns + 5000000;
    for (int i = 0; i < 2000; i++)
        stopped_hear(now_ns += 5000000);
    assert_false(would_be(due_ns));
}

STOPPED_TEST(nor_where_samples_are_as_rare)
{
    session.period_ns = S;
    uint64_t due_ns = now_ns + 5000000;
    for (int i = 0; i < 20; i++)
        stopped_hear(now_ns += S / 2);
    bool while_heard = would_be(due_ns);
    stopped_hear(now_ns += 100 * S);
    bool behind = would_be(due_ns);
    session.period_ns = 0;
    assert_false(while_heard);
    assert_true(behind);
}

STOPPED_TEST(one_that_lacked_a_core_when_its_process_was_stopped_was_stopped_too)
{
    uint64_t due_ns = now_ns + 5000000;
    for (int i = 0; i < 20; i++)
        stopped_hear(now_ns += 5000000); /* another thread, which has a core */
    stopped_hear(now_ns += 400000000);
    assert_false(would_be(due_ns));
    core.now.lost_ns = 95000000;
    assert_true(would_be(due_ns));
    core.now.lost_ns = 250000000; /* and when it went on */
    assert_true(would_be(due_ns));
}

STOPPED_TEST(what_one_thread_knows_for_certain_holds_for_all_that_come_later)
{
    struct core later = core;
    uint64_t due_ns = now_ns + 5000000;
    assert_true(is_stopped(10 * S));
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + 5);
    stopped_hear(now_ns += 30000000);
    assert_true(judge(&later, due_ns));
    assert_false(judge(&later, due_ns)); /* it had a sample since then */
}

STOPPED_TEST(one_that_gets_its_core_much_later_than_others_was_stopped_too)
{
    struct core later = core;
    uint64_t due_ns = now_ns + 5000000;
    assert_true(is_stopped(2 * S));
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + 5);
    stopped_hear(now_ns += STOPPED_NS + 100000000); /* nobody had one for a while */
    stopped_hear(now_ns += 5000000);
    later.now.lost_ns = STOPPED_NS;
    assert_true(judge(&later, due_ns));
}

UNIT_MAIN(NULL, NULL)
