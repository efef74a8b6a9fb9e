/* What is registered when a runtime answers less than always, event by event. */
#include "tests/unit/unit.h"

#include "ompt_tool/capabilities.h"

#define EVENTS 64

static ompt_set_result_t answers[EVENTS];
static ompt_callback_t registered[EVENTS];

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
    registered[event] = callback;
    return answers[event];
}

static void on_any(void)
{
}

static char text[1024];
static bool waits, locks = true;

static bool ask(ompt_callbacks_t event, ompt_set_result_t answer)
{
    static const ompt_callbacks_t all[] = {
        ompt_callback_thread_begin,   ompt_callback_thread_end,       ompt_callback_parallel_begin,
        ompt_callback_parallel_end,   ompt_callback_implicit_task,    ompt_callback_work,
        ompt_callback_task_create,    ompt_callback_task_schedule,    ompt_callback_mutex_acquire,
        ompt_callback_mutex_acquired, ompt_callback_mutex_released,   ompt_callback_nest_lock,
        ompt_callback_lock_init,      ompt_callback_sync_region_wait, ompt_callback_lock_destroy,
        ompt_callback_control_tool};
    struct capability table[sizeof(all) / sizeof(*all)];
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        table[i] = (struct capability){all[i], on_any};
    for (int i = 0; i < EVENTS; i++)
        answers[i] = ompt_set_always;
    answers[event] = answer;
    memset(registered, 0, sizeof(registered));
    const struct capability_table tool = {table, sizeof(all) / sizeof(*all), locks};
    return capabilities_register(set_callback, &tool, &waits, text, sizeof(text));
}

UNIT_TEST(all_is_told)
{
    assert_true(ask(0, ompt_set_always));
    assert_string_equal(text, "");
    assert_true(waits);
    assert_non_null(registered[ompt_callback_work]);
}

UNIT_TEST(without_a_mandatory_event_nothing_is_measured)
{
    static const ompt_callbacks_t needed[] = {ompt_callback_thread_begin,   ompt_callback_thread_end,
                                              ompt_callback_parallel_begin, ompt_callback_parallel_end,
                                              ompt_callback_implicit_task,  ompt_callback_task_schedule};
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        for (int answer = ompt_set_error; answer < ompt_set_always; answer++) {
            assert_false(ask(needed[i], (ompt_set_result_t)answer));
            assert_null(registered[ompt_callback_thread_begin]); /* nobody is told who does not start */
        }
    assert_string_equal(text, "task_schedule");
}

UNIT_TEST(a_lock_is_followed_from_acquire_to_release_or_not_at_all)
{
    static const ompt_callbacks_t locks[] = {ompt_callback_mutex_acquire, ompt_callback_mutex_acquired,
                                             ompt_callback_mutex_released, ompt_callback_nest_lock};
    for (size_t i = 0; i < 4; i++) {
        assert_true(ask(locks[i], ompt_set_sometimes));
        for (size_t j = 0; j < 4; j++)
            assert_null(registered[locks[j]]);
        assert_non_null(registered[ompt_callback_sync_region_wait]);
    }
    assert_has(text, "no nest_lock (waiting for locks");
}

UNIT_TEST(locks_are_left_out_as_a_whole)
{
    locks = false;
    assert_true(ask(0, ompt_set_always));
    locks = true;
    assert_string_equal(text, "");
    assert_null(registered[ompt_callback_mutex_released]);
    assert_non_null(registered[ompt_callback_lock_init]);
    assert_null(registered[ompt_callback_mutex_acquire]);
    assert_null(registered[ompt_callback_mutex_acquired]);
    assert_null(registered[ompt_callback_nest_lock]);
    assert_non_null(registered[ompt_callback_task_schedule]);
}

UNIT_TEST(waits_in_pairs_serve_and_single_ends_do_not)
{
    assert_true(ask(ompt_callback_sync_region_wait, ompt_set_sometimes_paired));
    assert_non_null(registered[ompt_callback_sync_region_wait]);
    assert_has(text, "not every sync_region_wait");
    assert_false(waits);
    for (int answer = ompt_set_error; answer <= ompt_set_sometimes; answer++) {
        assert_true(ask(ompt_callback_sync_region_wait, (ompt_set_result_t)answer));
        assert_null(registered[ompt_callback_sync_region_wait]);
        assert_has(text, "no sync_region_wait (waiting at barriers");
        assert_false(waits);
    }
}

/* GCC's code contains static loops: no runtime could report them. */
UNIT_TEST(worksharing_constructs_may_be_reported_in_part)
{
    assert_true(ask(ompt_callback_work, ompt_set_sometimes));
    assert_non_null(registered[ompt_callback_work]);
    assert_string_equal(text, "");
    assert_true(ask(ompt_callback_work, ompt_set_never));
    assert_null(registered[ompt_callback_work]);
    assert_has(text, "no work (iterations are unknown)");
}

UNIT_TEST(an_answer_of_a_later_standard_is_no_less_than_always)
{
    assert_true(ask(ompt_callback_sync_region_wait, (ompt_set_result_t)(ompt_set_always + 1)));
    assert_string_equal(text, "");
}

UNIT_MAIN(NULL, NULL)
