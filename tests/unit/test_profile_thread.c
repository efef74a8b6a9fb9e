/* needs: tests/fuzz/profile_builder.c */
#include "cct/profile_tree.h"
#include "tests/unit/unit.h"

#include <math.h>

#include "command/profile/read.h"
#include "tests/fuzz/profile_builder.h"

#define TREES 3

static char error[512];

static const char *write_example(void (*change)(struct profile_builder *builder))
{
    struct profile_builder builder;
    builder_example(&builder, TREES, 300, 5);
    if (change)
        change(&builder);
    assert_true(builder_write(&builder, unit_fresh_path()));
    builder_free(&builder);
    return unit_path;
}

static struct profile_sums sum_of(const struct profile *profile)
{
    struct profile_sums sum = {0};
    for (size_t i = 0; i < profile->node_count; i++) {
        sum.samples += profile->nodes[i].metric.samples;
        sum.work += profile->nodes[i].metric.work;
        sum.inverse_busy += profile->nodes[i].metric.inverse_busy;
        sum.lock_wait += profile->nodes[i].metric.lock_wait;
    }
    return sum;
}

UNIT_TEST(all_threads_together_are_the_whole)
{
    const char *path = write_example(NULL);
    struct profile *profile = profile_read(path, error, sizeof error);
    struct profile_sums whole = sum_of(profile), parts = {0};
    double before = (double)profile->header.before_start_ns, early = 0;
    assert_true(whole.samples > 0 && whole.lock_wait > 0);
    profile_free(profile);
    for (size_t thread = 0; thread < TREES; thread++) {
        profile = profile_read_thread(path, thread, error, sizeof error);
        assert_non_null(profile);
        struct profile_sums part = sum_of(profile);
        assert_true(part.samples > 0 && part.samples < whole.samples);
        assert_int_equal(profile->thread_count, TREES);
        parts.samples += part.samples;
        parts.work += part.work;
        parts.inverse_busy += part.inverse_busy;
        parts.lock_wait += part.lock_wait;
        early += (double)profile->header.before_start_ns;
        profile_free(profile);
    }
    assert_true(parts.samples == whole.samples && parts.work == whole.work);
    assert_true(parts.inverse_busy == whole.inverse_busy && parts.lock_wait == whole.lock_wait);
    assert_true(early == before && before > 0);
    unit_clean();
}

UNIT_TEST(a_thread_that_is_not_there_is_named)
{
    assert_null(profile_read_thread(write_example(NULL), TREES, error, sizeof error));
    assert_non_null(strstr(error, "no thread 3; its threads are 0 to 2"));
    unit_clean();
}

static void forget_threads(struct profile_builder *builder)
{
    builder_chunk(builder, builder->thread_chunk - 1)->used = 0;
}

UNIT_TEST(that_there_are_no_threads_is_said)
{
    assert_null(profile_read_thread(write_example(forget_threads), 0, error, sizeof error));
    assert_non_null(strstr(error, "has no threads"));
    unit_clean();
}

static size_t damaged;

static void damage_a_sum(struct profile_builder *builder)
{
    struct profile_thread *thread = (struct profile_thread *)builder_chunk(builder, builder->thread_chunk - 1) + 1;
    double *sums[] = {&thread->no_core, &thread->blocked, &thread->idle_no_core, &thread->unsignalled_ns};
    *sums[damaged] = (double)NAN;
}

UNIT_TEST(a_thread_whose_sum_is_no_number_is_refused)
{
    for (damaged = 0; damaged < 4; damaged++) {
        assert_null(profile_read(write_example(damage_a_sum), error, sizeof error));
        assert_non_null(strstr(error, "the sum of a thread"));
        unit_clean();
    }
}

static void forget_trees(struct profile_builder *builder)
{
    for (uint32_t i = 1; i <= TREES; i++)
        ((struct profile_thread *)builder_chunk(builder, builder->thread_chunk - 1))[i].tree = 0;
}

UNIT_TEST(a_file_that_does_not_say_whose_samples_are_whose_is_refused)
{
    assert_null(profile_read_thread(write_example(forget_trees), 0, error, sizeof error));
    assert_non_null(strstr(error, "does not say"));
    struct profile *profile = profile_read(unit_path, error, sizeof error);
    assert_non_null(profile);
    profile_free(profile);
    unit_clean();
}

/* A thread waits in tree 1 for a lock that is released in tree 2, and the process is killed. */
static void wait_and_die(struct profile_builder *builder)
{
    struct profile_metric waits = {.samples = 1, .lock_wait_here = 5e6, .waits = 1};
    struct profile_metric holds = {.lock_wait = 5e6};
    uint64_t key = PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, 0x77777);
    builder_header(builder)->finished = 0;
    for (uint32_t tree = 1; tree <= 2; tree++) {
        uint32_t root = builder_node(builder, tree, 0, PROFILE_NODE_ROOT, 0);
        uint32_t lock = builder_node(builder, tree, root, PROFILE_NODE_LOCK, key);
        builder_metric(builder, tree, lock, tree == 1 ? &waits : &holds);
    }
}

static double unreleased(struct profile *profile)
{
    double sum = 0;
    assert_non_null(profile);
    for (size_t i = 1; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i], *parent = &profile->nodes[node->parent];
        if (parent->kind == PROFILE_NODE_PSEUDO && parent->key == PROFILE_PSEUDO_UNRELEASED &&
            node->key == PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, 0x77777))
            sum += node->metric.lock_wait;
    }
    profile_free(profile);
    return sum;
}

UNIT_TEST(what_a_killed_programs_thread_waited_for_is_not_its_own_blame)
{
    write_example(wait_and_die);
    assert_true(unreleased(profile_read(unit_path, error, sizeof error)) == 0);
    assert_true(unreleased(profile_read_thread(unit_path, 0, error, sizeof error)) == 0);
    unit_clean();
}

UNIT_MAIN(NULL, NULL)
