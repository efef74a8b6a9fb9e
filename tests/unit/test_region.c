/* needs: tests/unit/fake_clock.c */
#include "cct/profile_metrics.h"
#include "tests/unit/unit.h"

#include "base/atomics.h"
#include "cct/arena.h"
#include "cct/deferred/region.h"
#include "tests/unit/fake_clock.h"

/* What one thread has of it, the plugin's struct thread in small. */
struct worker {
    struct tree tree;
    struct region_pool pool;
    struct placeholders placeholders;
};

static struct worker primary, second, third;

static bool worker_init(struct worker *worker, uint32_t number)
{
    memset(&worker->placeholders, 0, sizeof(worker->placeholders));
    memset(&worker->pool, 0, sizeof(worker->pool));
    return tree_init(&worker->tree, number);
}

static int open_workers(void **unused)
{
    (void)unused;
    unit_limit_files(RLIM_INFINITY); /* a test before may have failed half way */
    arena_abandon();
    fake_now_ns += 1000000000;
    bool good = arena_open(unit_fresh_path(), 0666) && worker_init(&primary, 1) && worker_init(&second, 2);
    return good && worker_init(&third, 3) ? 0 : -1;
}

static int close_workers(void **unused)
{
    (void)unused;
    unit_limit_files(RLIM_INFINITY);
    arena_abandon();
    unit_clean();
    return 0;
}

#define WITH_WORKERS(name) UNIT_TEST_WITH(name, open_workers, close_workers)

static struct region *begin(struct worker *worker, struct region *outer)
{
    struct region *region = region_begin(&worker->pool, outer, 0x1000);
    assert_non_null(region);
    return region;
}

/* A context in the worker's trie: frames key, key + 1, ... */
static uint32_t context_of(struct worker *worker, uint64_t key, uint32_t frames)
{
    uint32_t at = worker->tree.trie;
    for (uint32_t i = 0; i < frames; i++)
        at = tree_child(&worker->tree, at, PROFILE_NODE_FRAME, key + i);
    return at;
}

static void sample(struct worker *worker, struct region *region, uint64_t key, double work)
{
    uint32_t base = placeholders_node(&worker->placeholders, &worker->tree, region, 0x77);
    assert_int_not_equal(base, 0);
    struct profile_metric *metric =
        tree_metric(&worker->tree, tree_child(&worker->tree, base, PROFILE_NODE_FRAME, key));
    assert_non_null(metric);
    metric->work += work;
}

/* The work at the end of a path below the worker's root; the path's keys, 0 ends them. -1: no such path. */
static double work_at(struct worker *worker, const uint64_t *keys)
{
    uint32_t entries = worker->tree.entries, at = worker->tree.root;
    for (; *keys; keys++)
        at = tree_child(&worker->tree, at, PROFILE_NODE_FRAME, *keys);
    if (worker->tree.entries != entries)
        return -1;
    return tree_node(at)->metric ? tree_metric(&worker->tree, at)->work : 0;
}

#define WORK_AT(worker, ...) work_at(worker, (const uint64_t[]){__VA_ARGS__, 0})

static double work_in_all(struct worker *worker)
{
    double sum = 0;
    for (uint32_t n = 0; n < arena_header()->chunk_count; n++) {
        const struct profile_chunk *chunk = arena_unit(n * PROFILE_UNITS_PER_CHUNK);
        for (uint32_t unit = 1; chunk->owner == worker->tree.number && unit < chunk->used; unit++) {
            const struct profile_node *node = tree_node(n * PROFILE_UNITS_PER_CHUNK + unit);
            if (node->kind != PROFILE_NODE_FREE && node->metric)
                sum += ((const struct profile_metric *)arena_unit(node->metric))->work;
        }
    }
    return sum;
}

WITH_WORKERS(a_region_that_nobody_sampled_needs_no_context_and_is_used_again)
{
    struct region *first = begin(&primary, NULL);
    uint32_t instance = first->instance;
    assert_int_equal(first->state, 0);
    assert_false(region_needs_context(first));
    region_end(first);
    assert_int_equal(first->state & REGION_ENDED, REGION_ENDED);
    struct region *next = begin(&primary, NULL);
    assert_ptr_equal(next, first);
    assert_int_equal(next->instance, instance + 1); /* another life, told apart */
    assert_int_equal(next->state, 0);
    region_end(next);
}

WITH_WORKERS(a_hundred_thousand_regions_need_one_record)
{
    struct region *first = begin(&primary, NULL);
    region_end(first);
    for (int i = 0; i < 100000; i++) {
        struct region *region = begin(&primary, NULL);
        assert_ptr_equal(region, first);
        region_end(region);
    }
    assert_int_equal(primary.pool.begun, 100001);
}

WITH_WORKERS(a_sampled_region_lives_until_its_last_reference)
{
    struct region *region = begin(&primary, NULL);
    region_reference(region);
    region_reference(region);
    assert_true(region_needs_context(region));
    region_publish(region, context_of(&primary, 1, 1));
    assert_false(region_needs_context(region));
    region_end(region);
    struct region *others[2000]; /* more than a slab: the free list is empty in between */
    for (int i = 0; i < 2000; i++) {
        others[i] = begin(&primary, NULL);
        assert_ptr_not_equal(others[i], region);
    }
    region_release(region);
    region_release(region); /* the last one: goes to `returned` */
    assert_ptr_equal(load_relaxed(&primary.pool.returned), region);
    bool again = false;
    for (int i = 0; i < 2000 && !again; i++)
        again = begin(&primary, NULL) == region;
    assert_true(again);
}

WITH_WORKERS(the_placeholder_carries_the_forks_address)
{
    struct region *region = begin(&primary, NULL);
    uint32_t node = placeholders_node(&second.placeholders, &second.tree, region, 0xabc);
    assert_int_equal(tree_node(node)->kind, PROFILE_NODE_REGION);
    assert_int_equal(tree_node(node)->key, 0xabc);
    assert_int_equal(placeholders_node(&second.placeholders, &second.tree, region, 0xabc), node);
    assert_int_equal(load_relaxed(&region->references), 2);
    assert_true(region_needs_context(region));
}

/* primary: r0 > second (a worker of r0) encounters r1 > third (a worker of r1) encounters r2; sampled in r2
 * only. */
UNIT_TEST(nested_regions_resolve_in_any_order)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int n = 0; n < 6; n++) {
        assert_int_equal(open_workers(NULL), 0);
        struct region *r[3];
        r[0] = begin(&primary, NULL);
        r[1] = begin(&second, r[0]);
        r[2] = begin(&third, r[1]);
        sample(&primary, r[2], 500, 1);
        uint32_t contexts[3] = {context_of(&primary, 1, 2), context_of(&second, 10, 2), context_of(&third, 20, 2)};
        for (int i = 0; i < 3; i++) {
            region_publish(r[orders[n][i]], contexts[orders[n][i]]);
            uint32_t left = placeholders_resolve(&primary.placeholders, &primary.tree, UINT64_MAX);
            assert_int_equal(left == 0, i == 2);
            assert_true(work_in_all(&primary) == 1); /* wherever it hangs by now */
        }
        for (int i = 3; i-- > 0;)
            region_end(r[i]);
        assert_true(WORK_AT(&primary, 1, 2, 10, 11, 20, 21, 500) == 1);
        assert_ptr_equal(load_relaxed(&primary.pool.returned), r[0]);
        assert_ptr_equal(load_relaxed(&second.pool.returned), r[1]);
        assert_ptr_equal(load_relaxed(&third.pool.returned), r[2]);
        close_workers(NULL);
    }
}

/* Sampled, but without a context: its encountering thread had no room for one. */
WITH_WORKERS(a_region_that_ends_without_a_context_is_not_recycled)
{
    struct region *region = begin(&primary, NULL);
    uint32_t instance = region->instance;
    sample(&second, region, 500, 3);
    region_end(region);
    for (int i = 0; i < 1000; i++)
        assert_ptr_not_equal(begin(&primary, NULL), region);
    assert_int_equal(region->instance, instance);
    assert_int_equal(placeholders_resolve(&second.placeholders, &second.tree, UINT64_MAX), 1);
    assert_true(work_in_all(&second) == 3);
}

WITH_WORKERS(placeholders_are_limited_and_room_comes_back)
{
    static struct region *regions[PLACEHOLDERS_MAX + 1];
    for (uint32_t i = 0; i < PLACEHOLDERS_MAX; i++) {
        regions[i] = begin(&primary, NULL);
        sample(&second, regions[i], 500, 1);
    }
    regions[PLACEHOLDERS_MAX] = begin(&primary, NULL);
    assert_int_equal(placeholders_node(&second.placeholders, &second.tree, regions[PLACEHOLDERS_MAX], 0), 0);
    assert_int_equal(load_relaxed(&regions[PLACEHOLDERS_MAX]->references), 1); /* no reference without an entry */
    sample(&second, regions[0], 500, 1);                                       /* a known one has its place */
    uint32_t context = context_of(&primary, 1, 1);
    for (uint32_t i = 0; i < PLACEHOLDERS_MAX; i += 2)
        region_publish(regions[i], context);
    assert_int_equal(placeholders_resolve(&second.placeholders, &second.tree, UINT64_MAX), PLACEHOLDERS_MAX / 2);
    assert_true(WORK_AT(&second, 1, 500) == PLACEHOLDERS_MAX / 2 + 1);
    sample(&second, regions[PLACEHOLDERS_MAX], 500, 1);
    for (uint32_t i = 1; i < PLACEHOLDERS_MAX; i += 2)
        region_publish(regions[i], context);
    region_publish(regions[PLACEHOLDERS_MAX], context);
    assert_int_equal(placeholders_resolve(&second.placeholders, &second.tree, UINT64_MAX), 0);
    assert_true(WORK_AT(&second, 1, 500) == PLACEHOLDERS_MAX + 2);
}

/* All places taken by inner regions whose outer one has none: they must wait without being lost. */
WITH_WORKERS(with_all_places_taken_nested_regions_wait)
{
    static struct region *inner[PLACEHOLDERS_MAX];
    struct region *outer = begin(&primary, NULL);
    for (uint32_t i = 0; i < PLACEHOLDERS_MAX; i++) {
        inner[i] = begin(&primary, outer);
        sample(&second, inner[i], 500, 1);
        region_publish(inner[i], context_of(&primary, 10, 1));
        region_end(inner[i]);
    }
    placeholders_resolve(&second.placeholders, &second.tree, UINT64_MAX);
    assert_true(work_in_all(&second) == PLACEHOLDERS_MAX);
    region_publish(outer, context_of(&primary, 1, 1));
    region_end(outer);
    assert_int_equal(placeholders_resolve(&second.placeholders, &second.tree, UINT64_MAX), 0);
    assert_true(WORK_AT(&second, 1, 10, 500) == PLACEHOLDERS_MAX);
}

/* Leaves `room` units in the second worker's chunk, and no further chunk for anybody. */
static void leave_room(uint32_t room)
{
    for (uint64_t key = 100000; second.tree.chunk->metric_unit - second.tree.chunk->used > room; key++)
        assert_int_not_equal(tree_child(&second.tree, second.tree.trie, PROFILE_NODE_FRAME, key), 0);
    unit_limit_files(0);
}

UNIT_TEST(out_of_memory_a_resolved_context_waits_on)
{
    for (uint32_t room = 0; room < 12; room++)
        for (int nested = 0; nested < 2; nested++) {
            assert_int_equal(open_workers(NULL), 0);
            struct region *outer = nested ? begin(&primary, NULL) : NULL, *region = begin(&primary, outer);
            sample(&second, region, 500, 1);
            sample(&second, region, 501, 2);
            region_publish(region, context_of(&primary, 10, 2));
            if (outer)
                region_publish(outer, context_of(&primary, 1, 2));
            leave_room(room);
            placeholders_resolve(&second.placeholders, &second.tree, UINT64_MAX);
            assert_true(work_in_all(&second) == 3);
            unit_limit_files(RLIM_INFINITY);
            fake_now_ns += 1000000000;
            assert_int_equal(placeholders_resolve(&second.placeholders, &second.tree, UINT64_MAX), 0);
            if (outer)
                assert_true(WORK_AT(&second, 1, 2, 10, 11, 500) == 1 && WORK_AT(&second, 1, 2, 10, 11, 501) == 2);
            else
                assert_true(WORK_AT(&second, 10, 11, 500) == 1 && WORK_AT(&second, 10, 11, 501) == 2);
            close_workers(NULL);
        }
}

WITH_WORKERS(out_of_memory_a_sample_has_no_node_and_no_reference_leaks)
{
    struct region *region = begin(&primary, NULL);
    leave_room(0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(placeholders_node(&second.placeholders, &second.tree, region, 0), 0);
    unit_limit_files(RLIM_INFINITY);
    fake_now_ns += 1000000000;
    region_publish(region, context_of(&primary, 1, 1));
    region_end(region);
    assert_int_equal(placeholders_resolve(&second.placeholders, &second.tree, UINT64_MAX), 0);
    struct region *returned = load_relaxed(&primary.pool.returned), *freed = primary.pool.free;
    assert_true(returned == region || freed == region);
}

/* Without asking the runtime; a region that there was no memory for is closed, too. */
WITH_WORKERS(the_region_that_a_thread_ends_is_the_one_that_it_began_last)
{
    assert_null(region_close(&primary.pool)); /* it began before the thread was known */
    struct region *outer = begin(&primary, NULL), *inner = begin(&primary, outer);
    assert_ptr_equal(region_close(&primary.pool), inner);
    region_end(inner);
    struct region *again = begin(&primary, outer), *free = primary.pool.free;
    primary.pool.free = NULL;
    primary.pool.nameless = 1;
    assert_null(region_begin(&primary.pool, again, 0x1000));
    for (int i = 0; i < 2; i++)
        assert_null(region_close(&primary.pool));
    primary.pool.free = free;
    assert_ptr_equal(region_close(&primary.pool), again);
    assert_ptr_equal(region_close(&primary.pool), outer);
    assert_null(region_close(&primary.pool));
    region_end(again);
    region_end(outer);
}

/* By a record that lives again meanwhile; of more than are remembered nothing is said. */
WITH_WORKERS(when_the_last_regions_ended_is_known)
{
    const struct region *record = NULL;
    uint32_t first = 0;
    for (uint64_t i = 1; i <= REGION_ENDS; i++) {
        struct region *region = begin(&primary, NULL);
        assert_true(!record || region == record);
        record = region;
        first = first ? first : region->instance;
        assert_int_equal(region_end_of(region, region->instance).ticks, 0);
        region_note_end(region, i * 1000);
        region_end(region);
    }
    assert_int_equal(region_end_of(record, first).ticks, 0);
    for (uint32_t i = 1; i < REGION_ENDS; i++) {
        assert_int_equal(region_end_of(record, first + i).ticks, 1000 * (i + 1));
        assert_int_equal(region_end_of(record, first + i).codeptr, 0x1000);
    }
}

UNIT_MAIN(NULL, NULL)
