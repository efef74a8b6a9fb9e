/* needs: tests/simulator/played.c */
/* Threads that execute tasks without being in the team, as OpenMP 6.0 has them, and values that no standard has yet. */
#include "tests/unit/unit.h"

#include <pthread.h>

#include "ompt_tool/life/finisher.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "tests/simulator/played.h"

extern ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version);

void finisher_find(void)
{
}

bool finisher_run(const char *directory, const char *file, char *why, size_t why_bytes)
{
    (void)directory, (void)file, (void)why, (void)why_bytes;
    return true;
}

static ompt_callback_task_schedule_t schedule;
static ompt_callback_sync_region_t wait_for;

static int start(void **state)
{
    (void)state;
    setenv("BLAME_OUT", unit_fresh_path(), 1);
    setenv("BLAME_SUMMARY", "0", 1);
    if (!played_start(ompt_start_tool, "played"))
        return -1;
    schedule = (ompt_callback_task_schedule_t)played_callback(ompt_callback_task_schedule);
    wait_for = (ompt_callback_sync_region_t)played_callback(ompt_callback_sync_region_wait);
    return 0;
}

static int end(void **state)
{
    (void)state;
    played_finalize();
    unlink(session.file);
    rmdir(session.directory);
    unit_clean();
    return 0;
}

static bool works(void)
{
    return !thread_self->unusual.uncounted && thread_self->line->state == STATE_WORK;
}

static bool is_parked(void)
{
    return thread_self->unusual.uncounted && thread_self->line->state == STATE_IDLE;
}

static void *be_agent(void *unused)
{
    ompt_data_t dummy = {0}, task = {0}, other = {0};
    send_thread_begin(ompt_thread_worker);
    assert_true(is_parked());
    schedule(NULL, ompt_task_switch, &task); /* no task was active */
    assert_true(works());
    schedule(&task, ompt_task_switch, &other);
    schedule(&other, ompt_task_complete, &task);
    assert_true(works());
    wait_for(ompt_sync_region_taskwait, ompt_scope_begin, NULL, &task, NULL);
    assert_int_equal(thread_self->line->state, STATE_IDLE);
    wait_for(ompt_sync_region_taskwait, ompt_scope_end, &other, &task, NULL);
    assert_true(works());
    schedule(&task, ompt_task_complete, NULL);
    assert_true(is_parked());
    schedule(&dummy, ompt_task_switch, &task); /* one of the runtime's */
    assert_true(works());
    schedule(&task, ompt_task_late_fulfill, NULL); /* of a detached task: nothing is scheduled */
    assert_true(works());
    schedule(&task, ompt_task_cancel, &dummy);
    assert_true(is_parked());
    schedule(NULL, (ompt_task_status_t)99, &task);
    assert_true(works());
    schedule(&task, ompt_task_detach, NULL);
    assert_true(is_parked());
    send_thread_end();
    return unused;
}

UNIT_TEST(a_free_agent_counts_while_it_executes_a_task)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, be_agent, NULL), 0);
    pthread_join(thread, NULL);
}

UNIT_TEST(kinds_that_nobody_knows_leave_the_thread_where_it_was)
{
    ompt_data_t team = {0}, word = {0};
    send_thread_begin(ompt_thread_unknown);
    assert_true(works()); /* the program made it, and its code runs */
    wait_for((ompt_sync_region_t)200, ompt_scope_begin, &team, &word, NULL);
    assert_int_equal(thread_self->line->state, STATE_IDLE);
    wait_for((ompt_sync_region_t)200, ompt_scope_end, &team, &word, NULL);
    wait_for(ompt_sync_region_taskwait, ompt_scope_beginend, &team, &word, NULL);
    assert_true(works());
    send_thread_end();
    send_thread_begin((ompt_thread_t)77);
    assert_true(is_parked());
    send_thread_end();
}

UNIT_MAIN(start, end)
