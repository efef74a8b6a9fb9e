/* needs: tests/simulator/played.c */
/* A thread that waits for tasks while it holds a lock: what others wait for it then is its wait's, and not the next thing's. */
#include "tests/unit/unit.h"

#include <errno.h>

#include "base/clock.h"
#include "blame/attribute.h"
#include "blame/contended.h"
#include "blame/directed.h"
#include "ompt_tool/life/finisher.h"
#include "ompt_tool/mutex.h"
#include "ompt_tool/sampling/lock_blame.h"
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
static ompt_callback_mutex_acquire_t acquire;
static ompt_callback_mutex_t acquired, released;
static ompt_data_t team, task;

static int start(void **state)
{
    (void)state;
    setenv("BLAME_OUT", unit_fresh_path(), 1);
    setenv("BLAME_SUMMARY", "0", 1);
    if (!played_start(ompt_start_tool, "played"))
        return -1;
    schedule = (ompt_callback_task_schedule_t)played_callback(ompt_callback_task_schedule);
    wait_for = (ompt_callback_sync_region_t)played_callback(ompt_callback_sync_region_wait);
    acquire = (ompt_callback_mutex_acquire_t)played_callback(ompt_callback_mutex_acquire);
    acquired = (ompt_callback_mutex_t)played_callback(ompt_callback_mutex_acquired);
    released = (ompt_callback_mutex_t)played_callback(ompt_callback_mutex_released);
    send_thread_begin(ompt_thread_unknown);
    schedule(NULL, ompt_task_switch, &task);
    return 0;
}

static int end(void **state)
{
    (void)state;
    send_thread_end();
    played_finalize();
    unlink(session.file);
    rmdir(session.directory);
    unit_clean();
    return 0;
}

#define LOCK 0x1000u

static uint64_t take_lock(void)
{
    acquire(ompt_mutex_lock, 0, 0, LOCK, NULL);
    acquired(ompt_mutex_lock, LOCK, NULL);
    return lock_key(ompt_mutex_lock, LOCK);
}

/* Another thread's sample finds this one with the lock. */
static bool somebody_waits(uint64_t key)
{
    struct lock_blame blame = {.lock_wait = 1e6, .inverse_busy = 1e6};
    return directed_add(key, state_line_number(thread_self->line), &blame);
}

static bool is_taken(uint64_t key)
{
    return !directed_waiting_for(key, state_line_number(thread_self->line));
}

UNIT_TEST(at_the_end_of_the_wait)
{
    uint64_t key = take_lock();
    wait_for(ompt_sync_region_taskwait, ompt_scope_begin, &team, &task, NULL);
    assert_true(somebody_waits(key));
    wait_for(ompt_sync_region_taskwait, ompt_scope_end, &team, &task, NULL);
    assert_true(is_taken(key));
    released(ompt_mutex_lock, LOCK, NULL);
}

UNIT_TEST(before_a_task_that_it_executes_meanwhile)
{
    ompt_data_t child = {0};
    uint64_t key = take_lock();
    wait_for(ompt_sync_region_taskwait, ompt_scope_begin, &team, &task, NULL);
    assert_true(somebody_waits(key));
    schedule(&task, ompt_task_switch, &child);
    assert_true(is_taken(key));
    assert_true(somebody_waits(key));
    schedule(&child, ompt_task_complete, &task);
    assert_false(is_taken(key)); /* it was the child's, which no sample hit */
    wait_for(ompt_sync_region_taskwait, ompt_scope_end, &team, &task, NULL);
    assert_true(is_taken(key));
    released(ompt_mutex_lock, LOCK, NULL);
}

UNIT_TEST(without_a_lock_nothing_is_asked)
{
    wait_for(ompt_sync_region_taskwait, ompt_scope_begin, &team, &task, NULL);
    assert_false(thread_self->unusual.holds);
    wait_for(ompt_sync_region_taskwait, ompt_scope_end, &team, &task, NULL);
    assert_int_equal(thread_self->unusual.any, 0);
}

/* The kernel is asked how long the thread lacked a core, by a file that the program has closed. */
UNIT_TEST(the_end_of_a_long_wait_leaves_errno_alone)
{
    struct run_file file = thread_self->core.file;
    thread_self->ledger->core_source = PROFILE_CORE_SCHEDSTAT;
    thread_self->core.file.fd = 9999;
    thread_self->line->stamps = STATE_STAMPS_ALL;
    acquire(ompt_mutex_lock, 0, 0, LOCK, NULL);
    thread_self->line->wait_since = 1;
    errno = ENOENT;
    acquired(ompt_mutex_lock, LOCK, NULL);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(thread_self->core.file.fd, 9999);
    released(ompt_mutex_lock, LOCK, NULL);
    thread_self->core.file = file;
}

/* One waits for a thread without a core, whose context is not known yet. */
UNIT_TEST(what_the_full_table_does_not_take_has_a_row)
{
    struct state_line *waiter = state_line_acquire();
    struct census census = {.busy = 1, .in_use = 1, .ticks = STATE_FUTURE_TICKS};
    struct tree *tree = &thread_self->tree;
    uint64_t key = take_lock();
    state_set_work(waiter);
    state_set_lockwait(waiter, key);
    thread_self->line->counts_waiters = true;
    for (uint64_t id = 1, refused = 0; refused < 1000; id++)
        refused = directed_add(id * 16, 5, &(struct lock_blame){1, 0, 0}) ? 0 : refused + 1;
    lock_blame_count_waiters(thread_self, 0, true, clock_now_ns(), 1e6, census);
    uint32_t row_idx = tree_child(tree, tree->root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TABLE_FULL);
    assert_true(attribute_lock_at(tree, row_idx, key)->lock_wait == 1e6);
    uint64_t spin = PROFILE_LOCK_KEY(PROFILE_LOCK_SPIN, 0x7000);
    struct lock_blame blame = {.lock_wait = 2e6};
    assert_true(attribute_waiting(tree, tree->root, spin, &blame, STATE_NO_HOLDER, clock_now_ns()));
    assert_true(attribute_lock_at(tree, row_idx, spin)->lock_wait == 2e6);
    directed_reset();
    contended_reset();
    released(ompt_mutex_lock, LOCK, NULL);
    state_line_release(waiter);
}

/* A lock that one thread sets and another one unsets: who has set it waits for that one, not for itself. */
UNIT_TEST(who_waits_for_its_own_lock_leaves_the_blame_to_the_thread_that_releases_it)
{
    struct state_line *line = thread_self->line;
    struct tree *tree = &thread_self->tree;
    struct lock_blame blame = {.lock_wait = 1e6};
    uint64_t key = take_lock();
    uint32_t self = state_line_number(line), node_idx = tree_child(tree, tree->root, PROFILE_NODE_FRAME, 1);
    state_set_lockwait(line, key);
    assert_true(attribute_waiting(tree, node_idx, key, &blame, self, clock_now_ns()));
    attribute_held(tree, line, node_idx, clock_now_ns());
    assert_true(directed_waiting(key, self));
    state_end_lockwait(line);
    attribute_held(tree, line, node_idx, clock_now_ns());
    assert_false(directed_waiting(key, self));
    assert_true(attribute_lock_at(tree, node_idx, key)->lock_wait == 1e6);
    directed_reset();
    contended_reset();
    released(ompt_mutex_lock, LOCK, NULL);
}

UNIT_MAIN(start, end)
