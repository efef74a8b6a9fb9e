/* What becomes of the events of locks when the process's first thread ends. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/os.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/first_thread.h"
#include "ompt_tool/session/thread.h"

__thread struct thread *thread_self;

static struct thread first, other;
static struct profile_thread ledger;
static ompt_callback_t registered[64];
static uint32_t begun, returned, stop;
static pthread_t releases;
static uint64_t ran_ns; /* the other's, when releases were told to nobody any more, since they were told to who waits */

struct thread *thread_all(void)
{
    first.record.next_all = &other;
    return &first;
}

static void *release(void *callback)
{
    store_release(&begun, 1);
    ((ompt_callback_mutex_t)callback)(ompt_mutex_critical, 8, NULL);
    store_release(&returned, 1);
    return NULL;
}

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
    if (event == ompt_callback_mutex_released && callback) {
        assert_int_equal(pthread_create(&releases, NULL, release, (void *)callback), 0);
        while (!load_acquire(&begun))
            sched_yield();
        ran_ns = other.record.active ? clock_cpu_ns_of(ledger.tid) : 0;
    } else if (event == ompt_callback_mutex_released) {
        assert_non_null(registered[event]); /* another one stood in its place before */
        ran_ns = other.record.active ? clock_cpu_ns_of(ledger.tid) - ran_ns : 0;
        assert_false(load_acquire(&returned));
    }
    registered[event] = callback;
    return ompt_set_always;
}

static void end(void)
{
    memset(registered, 0, sizeof(registered));
    begun = returned = 0;
    runtime.set_llvm_callback = set_callback;
    assert_true(first_thread_stays());
    first_thread_ends();
    pthread_join(releases, NULL);
}

UNIT_TEST(who_releases_a_lock_meanwhile_is_held_until_nobody_is_told)
{
    end();
    assert_true(returned);
    assert_null(registered[ompt_callback_mutex_released]);
    runtime.set_llvm_callback = NULL;
    first_thread_ends(); /* once */
}

static void *spin(void *unused)
{
    ledger.tid = os_tid();
    store_release(&other.record.active, true);
    while (!load_acquire(&stop))
        ;
    return unused;
}

UNIT_TEST(a_thread_that_wants_a_core_has_gone_on_before)
{
    pthread_t spins;
    other.ledger = &ledger;
    assert_int_equal(pthread_create(&spins, NULL, spin, NULL), 0);
    while (!load_acquire(&other.record.active))
        sched_yield();
    end();
    assert_in_range(ran_ns, 100000, UINT64_MAX);
    store_release(&stop, 1);
    pthread_join(spins, NULL);
    other.record.active = false;
}

UNIT_TEST(a_wait_that_was_told_of_ends_and_none_begins)
{
    static struct state_line line;
    end();
    thread_self = &first;
    first.line = &line;
    line.wait_key = 8;
    ((ompt_callback_mutex_t)registered[ompt_callback_mutex_acquired])(ompt_mutex_critical, 8, NULL);
    assert_int_equal(line.wait_key, 0);
    ((ompt_callback_mutex_acquire_t)registered[ompt_callback_mutex_acquire])(ompt_mutex_critical, 0, 0, 8, NULL);
    assert_int_equal(line.wait_key, 0);
    assert_int_equal(line.held[0], 0);
    thread_self = NULL;
}

UNIT_TEST(the_events_of_other_runtimes_than_llvms_go_on)
{
    end();
    runtime.set_llvm_callback = NULL;
    assert_true(first_thread_stays());
    registered[ompt_callback_mutex_released] = NULL;
    first_thread_ends();
    assert_null(registered[ompt_callback_mutex_released]);
}

UNIT_MAIN(NULL, NULL)
