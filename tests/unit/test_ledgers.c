/* needs: tests/unit/fake_clock.c */
/* Threads' records and their sums: when more come and go than have a place for theirs, or there is no room at all. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "cct/arena.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/sampling/timer.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "tests/unit/fake_clock.h"
#include "unwind/linked.h"

#define LEDGERS 65536u /* as session/thread.c has it */
#define MORE    1000u

static struct thread *come(void)
{
    struct thread *thread = thread_take(PROFILE_THREAD_WORKER);
    assert_non_null(thread);
    assert_int_equal(thread->sampling.from_ns, fake_now_ns);
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

static int begin(void **unused)
{
    (void)unused;
    thread_reset();
    return arena_open(unit_fresh_path(), 0666) ? 0 : -1;
}

static int end(void **unused)
{
    (void)unused;
    arena_abandon();
    unit_clean();
    return 0;
}

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, begin, end)

static long mapped_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pages), 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

FROM_EMPTY(what_was_lost_before_samples_that_the_end_dropped_is_kept_apart)
{
    struct thread *thread = come();
    struct profile_thread *ledger = thread->ledger;
    uint64_t on_core_ns, no_core_ns;
    os_run_times(os_tid(), &on_core_ns, &no_core_ns);
    ledger->tid = os_tid();
    ledger->core_source = PROFILE_CORE_SCHEDSTAT;
    while (on_core_ns && ledger->no_core_ns == 0) { /* until this test's thread has once waited for a core */
        sched_yield();
        thread_note_run_times(thread);
    }
    assert_true(ledger->no_core_dropped_ns == 0);
    ledger->no_core_ns = 0;
    ledger->dropped[PROFILE_DROP_STOPPING] = 1;
    thread->core.counts.last.no_core_ns = 100;
    thread_note_run_times(thread);
    assert_true(ledger->no_core_dropped_ns == fmax(0, ledger->no_core_ns - 100));
    thread->core.counts.last.no_core_ns = UINT64_MAX; /* not asked since */
    ledger->no_core_dropped_ns = 0;
    thread_note_run_times(thread);
    assert_true(ledger->no_core_dropped_ns == 0);
    go(thread, 1000);
}

#define NEW_THREADS 64

FROM_EMPTY(a_new_thread_makes_few_page_faults)
{
    struct rusage before, after;
    struct thread *threads[NEW_THREADS];
    session.options.depth = 256;
    session.options.timeline = true;
    arena_header()->tool_start_ns = fake_now_ns;
    go(come(), 0); /* what there is one of is there */
    thread_reset();
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < NEW_THREADS; i++)
        threads[i] = come();
    getrusage(RUSAGE_SELF, &after);
    session.options.timeline = false;
    for (int i = 0; i < NEW_THREADS; i++)
        go(threads[i], 0);
    assert_in_range(after.ru_minflt - before.ru_minflt, 1, 8 * NEW_THREADS);
}

static bool is_present(const void *address)
{
    unsigned char present = 0;
    uintptr_t page = (uintptr_t)address & -(uintptr_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(mincore((void *)page, 1, &present), 0);
    return present & 1;
}

/* All in one mapping that is made present at once, not by a fault for each page. */
FROM_EMPTY(what_every_thread_uses_is_present_before_its_first_sample)
{
    struct thread *thread = come();
    assert_true(is_present(thread));
    assert_true(is_present((char *)(thread + 1) - 1));
    assert_true(is_present(thread->level));
    assert_ptr_equal(thread->level, thread + 1);
    if (THREAD_HANDLER_STACK_BYTES)
        assert_true(is_present((char *)thread - 1));
    go(thread, 0);
}

FROM_EMPTY(threads_that_there_is_no_room_for_in_the_file_take_no_memory)
{
    struct rlimit limit, least;
    long before_kb = 0;
    getrlimit(RLIMIT_FSIZE, &limit);
    least = (struct rlimit){PROFILE_HEADER_BYTES, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &least);
    for (int i = 0; i < 100; i++) {
        fake_now_ns += 2 * NS_PER_S; /* the file is tried again */
        assert_null(thread_take(PROFILE_THREAD_WORKER));
        thread_end_untracked();
        if (i == 1)
            before_kb = mapped_kb();
    }
    assert_int_equal(mapped_kb(), before_kb);
    assert_int_equal(arena_header()->room_error, EFBIG);
    setrlimit(RLIMIT_FSIZE, &limit);
    fake_now_ns += 2 * NS_PER_S;
    struct thread *thread = come(); /* what the others had is its */
    assert_non_null(thread->level);
    go(thread, 1000);
}

FROM_EMPTY(behind_the_end_there_is_no_record_and_no_loss)
{
    go(come(), 1000); /* one that could be used again */
    session.stopping = 1;
    assert_null(thread_take(PROFILE_THREAD_WORKER));
    session.stopping = 0;
    arena_finish();
    assert_null(thread_take(PROFILE_THREAD_WORKER));
    assert_int_equal(thread_untracked(), 0);
}

FROM_EMPTY(what_the_tool_does_leaves_errno)
{
    struct thread *thread = come();
    errno = 4242;
    assert_true(thread_enter_tool(thread));
    errno = ENOSPC;
    assert_true(thread_enter_tool(thread));
    errno = ENOENT;
    thread_leave_tool(thread);
    thread_leave_tool(thread);
    assert_int_equal(errno, 4242);
    go(thread, 1000);
}

FROM_EMPTY(the_next_owner_of_a_record_is_in_no_construct)
{
    struct thread *thread = come();
    thread->construct.share = THREAD_SHARE(1, 100);
    thread->construct.team = 4;
    go(thread, 1000);
    assert_ptr_equal(come(), thread);
    assert_int_equal(thread->construct.share, 0);
    assert_int_equal(thread->construct.team, 0);
    go(thread, 1000);
}

FROM_EMPTY(a_crowd_on_one_core_is_sampled_once_a_second_at_least)
{
    session.period_ns = NS_PER_S / 200;
    crowd_forked();
    arena_header()->cores = 1;
    crowd_grows(20);
    assert_int_equal(crowd_period_ns(), session.period_ns);
    crowd_grows(40);
    assert_int_equal(crowd_period_ns(), 2 * session.period_ns);
    alarm(20);
    crowd_grows(100000);
    alarm(0);
    assert_int_equal(crowd_period_ns(), 256 * session.period_ns);
    crowd_grows(1); /* they stay so, */
    assert_int_equal(crowd_period_ns(), 256 * session.period_ns);
    crowd_forked(); /* but not a child that is alone */
    crowd_grows(1);
    assert_int_equal(crowd_period_ns(), session.period_ns);
}

/* As before the first thread of a process. */
static int find_objects(void **state)
{
    (void)state;
    linked_init();
    return 0;
}

UNIT_MAIN(find_objects, NULL)
