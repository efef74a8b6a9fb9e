/* needs: tests/simulator/played.c */
/* Pairs of a wait and its waker: a sample may interrupt the thread at any instruction of the report that ends the wait. */
#include "tests/unit/unit.h"

#include "blame/wakers.h"
#include "ompt_tool/life/finisher.h"
#include "ompt_tool/pthreads.h"
#include "ompt_tool/sampling/woken.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "tests/simulator/played.h"
#include "tests/unit/instructions.h"

extern ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version);

void finisher_find(void)
{
}

bool finisher_run(const char *directory, const char *file, char *why, size_t why_bytes)
{
    (void)directory, (void)file, (void)why, (void)why_bytes;
    return true;
}

#define MOST 2000 /* instructions */
#define S    1000000000.0

static uint32_t awaited, waits_at;
static const char object;

static int start(void **state)
{
    (void)state;
    setenv("BLAME_OUT", unit_fresh_path(), 1);
    setenv("BLAME_SUMMARY", "0", 1);
    if (!played_start(ompt_start_tool, "played"))
        return -1;
    send_thread_begin(ompt_thread_unknown);
    wakers_count(&awaited);
    waits_at = tree_child(&thread_self->tree, thread_self->tree.root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_BLOCKED);
    return waits_at ? 0 : -1;
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

/* Returns what is booked for this waker. */
static struct profile_woken booked(uint32_t waker_idx)
{
    struct tree *tree = &thread_self->tree;
    uint64_t key = PROFILE_WAKE_KEY(PROFILE_WAKE_SEMAPHORE, waker_idx);
    return *(struct profile_woken *)tree_metric(tree, tree_child(tree, waits_at, PROFILE_NODE_WOKEN, key));
}

static void sample(void)
{
    woken_slept(thread_self, waits_at, S);
}

/* A sample of the thread's own timer may have been late. */
static uint32_t left_awaited(void)
{
    woken_forget(thread_self);
    return awaited;
}

static void wait_ends(void)
{
    pthreads_tool.slept(true);
}

UNIT_TEST(a_wait_without_a_sample_has_no_pair)
{
    pthreads_tool.sleeps(PTHREADS_SEMAPHORE, &object);
    wakers_note((uintptr_t)&object, 6);
    wait_ends();
    assert_true(booked(6).waits == 0 && !woken_is_sampled(thread_self));
    assert_int_equal(left_awaited(), 0);
}

UNIT_TEST(after_a_late_sample_the_waker_is_known_of_waits_that_are_over_when_their_sample_comes)
{
    uint64_t times[WAKERS_TIMES];
    pthreads_tool.sleeps(PTHREADS_SEMAPHORE, &object);
    wakers_note((uintptr_t)&object, 8);
    woken_late(thread_self);
    sample();
    assert_int_equal(woken_times(thread_self, times), 0); /* it came before */
    wait_ends();
    assert_int_equal(booked(8).waits, 0);
    wakers_note((uintptr_t)&object, 8);
    pthreads_tool.sleeps(PTHREADS_SEMAPHORE, &object);
    assert_int_equal(woken_times(thread_self, times), 0); /* nor did the wait */
    wakers_note((uintptr_t)&object, 8);
    assert_int_equal(woken_times(thread_self, times), 1);
    sample();
    wait_ends();
    assert_true(booked(8).waits == 1 && booked(8).ns == S);
    pthreads_tool.sleeps(PTHREADS_SEMAPHORE, &object);
    wait_ends();                                             /* without a sample */
    woken_end(thread_self, woken_close(thread_self), false); /* as at the thread's end */
    assert_int_equal(awaited, 1);
    assert_int_equal(left_awaited(), 0);
}

#if INSTRUCTIONS_COUNT
static volatile long sample_at;

static void take_sample(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    if (++instructions_counted == sample_at)
        sample();
}

/* Runs the report, with a sample behind one of its instructions. Returns false if it has fewer. */
static bool wait_ends_with_sample_at(long instruction)
{
    struct sigaction trap = {.sa_sigaction = take_sample, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &trap, NULL);
    instructions_counted = 0;
    sample_at = instruction;
    instructions_trap(wait_ends);
    return instructions_counted >= instruction;
}

UNIT_TEST(a_sample_at_any_instruction_of_its_end_is_in_the_pair_or_in_none)
{
    double ns = booked(7).ns;
    long taken = 0, instruction;
    for (instruction = 1; instruction < MOST; instruction++) {
        pthreads_tool.sleeps(PTHREADS_SEMAPHORE, &object);
        sample();
        wakers_note((uintptr_t)&object, 7);
        if (!wait_ends_with_sample_at(instruction))
            break;
        assert_false(woken_is_sampled(thread_self));
        assert_int_equal(left_awaited(), 0);
        double added = booked(7).ns - ns;
        assert_true(added == S || added == 2 * S);
        taken += added == 2 * S;
        ns += added;
    }
    assert_true(taken > 0 && taken < instruction && instruction < MOST);
}

/* The first sample of the wait. It joins the object after the waker has come, so there is no pair, but nobody stays. */
UNIT_TEST(a_first_sample_at_any_instruction_of_its_end_leaves_nothing)
{
    long instruction;
    for (instruction = 1; instruction < MOST; instruction++) {
        pthreads_tool.sleeps(PTHREADS_SEMAPHORE, &object);
        bool ends = wait_ends_with_sample_at(instruction);
        assert_false(woken_is_sampled(thread_self));
        assert_int_equal(left_awaited(), 0);
        if (!ends)
            break;
    }
    assert_true(instruction > 5 && instruction < MOST);
}
#endif

UNIT_MAIN(start, end)
