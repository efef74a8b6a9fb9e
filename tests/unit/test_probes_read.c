/* needs: tests/fuzz/profile_builder.c */
#include "tests/unit/built_file.h"

#include <math.h>

static int make_file(void **state)
{
    (void)state;
    unit_fresh_path();
    builder_start(&builder);
    return 0;
}

static struct profile_probe probe(uint64_t calls, double each_ns, uint64_t begin_ns)
{
    return (struct profile_probe){.calls = calls,
                                  .inclusive_ns = (double)calls * each_ns,
                                  .exclusive_ns = (double)calls * each_ns / 2,
                                  .shortest_ns = each_ns,
                                  .longest_ns = each_ns,
                                  .sum_of_squares = (double)calls * each_ns * each_ns,
                                  .first_begin_ns = begin_ns,
                                  .last_end_ns = begin_ns + 100};
}

/* A PROBE below a node, with counters if first is not 0. */
static uint32_t add_probe(uint32_t tree, uint32_t node, struct profile_probe record, double first)
{
    uint32_t at = builder_node(&builder, tree, node, PROFILE_NODE_PROBE, 0);
    struct profile_counters counters = {.value = {first, 2 * first}};
    builder_record(&builder, tree, at, &record);
    if (first != 0)
        builder_record(&builder, tree, builder_node(&builder, tree, at, PROFILE_NODE_COUNTERS, 0), &counters);
    return at;
}

static void add_counters(uint32_t tree, uint32_t node, double first)
{
    struct profile_counters counters = {.value = {first}};
    builder_record(&builder, tree, builder_node(&builder, tree, node, PROFILE_NODE_COUNTERS, 0), &counters);
}

#define WITH_FILE(name) UNIT_TEST_WITH(name, make_file, remove_file)

WITH_FILE(exact_times_are_kept_by_node_and_tree)
{
    for (uint32_t tree = 1; tree <= 2; tree++) {
        uint32_t root = builder_node(&builder, tree, 0, PROFILE_NODE_ROOT, 0);
        uint32_t main_node = builder_node(&builder, tree, root, PROFILE_NODE_FRAME, KEY(1));
        uint32_t phase = builder_node(&builder, tree, main_node, PROFILE_NODE_PHASE, 1);
        uint32_t instance = builder_node(&builder, tree, phase, PROFILE_NODE_INSTANCE, 17);
        add_probe(tree, instance, probe(2, 10 * tree, 1000 * tree), 5 * tree);
        add_probe(tree, instance, probe(1, 7, 50 * tree), 1);
        add_counters(tree, main_node, 100 * tree);
        /* Where no writer puts them. */
        add_probe(tree, main_node, probe(1, 1, 1), 1);
        add_probe(tree, instance, probe(0, 1, 1), 1000);
        builder_node(&builder, tree, main_node, PROFILE_NODE_INSTANCE, 3);
        builder_node(&builder, tree, instance, PROFILE_NODE_PROBE, 0);
    }
    struct profile *profile = read_built();
    assert_non_null(profile);
    assert_int_equal(profile->node_count, 4); /* root, main, phase, instance: the rest are no contexts */
    assert_int_equal(profile->probe_count, 2);
    for (uint32_t tree = 1; tree <= 2; tree++) {
        const struct merged_probe *merged = &profile->probes[tree - 1];
        assert_int_equal(merged->tree, tree);
        assert_int_equal(profile->nodes[merged->node].kind, PROFILE_NODE_INSTANCE);
        assert_int_equal(merged->probe.calls, 3);
        assert_true(merged->probe.inclusive_ns == 20 * tree + 7);
        assert_true(merged->probe.exclusive_ns == 10 * tree + 3.5);
        assert_true(merged->probe.shortest_ns == 7 && merged->probe.longest_ns == 10 * tree);
        assert_int_equal(merged->probe.first_begin_ns, 50 * tree);
        assert_int_equal(merged->probe.last_end_ns, 1000 * tree + 100);
        assert_true(merged->probe.sum_of_squares == 200 * tree * tree + 49);
        assert_true(merged->counters.value[0] == 5 * tree + 1 + 1000);
        assert_true(merged->counters.value[1] == 2 * (5 * tree + 1 + 1000));
    }
    assert_int_equal(profile->counters_count, 1);
    assert_true(profile->counters[0].counters.value[0] == 300);
    assert_int_equal(profile->nodes[profile->counters[0].node].kind, PROFILE_NODE_FRAME);
    profile_free(profile);
}

WITH_FILE(names_and_counters_are_found)
{
    for (int i = 0; i < 200; i++) { /* more than a chunk has room for */
        struct profile_name name = {.kind = PROFILE_NODE_EVENT};
        memset(name.text, 'a' + i % 26, sizeof name.text); /* no end */
        assert_int_equal(builder_name(&builder, &name), i + 1);
    }
    builder_text(&builder, "counters", "A\nperf::B\n\nC\nD\nE\nF\nG\nH\nI");
    builder_text(&builder, "misnested", "one");
    builder_text(&builder, "other", "misnested");
    builder_text(&builder, "misnested", "two");
    struct profile *profile = read_built();
    assert_int_equal(profile->name_count, 200);
    assert_int_equal(profile->names[199].text[0], 'a' + 199 % 26);
    assert_int_equal(strlen(profile->names[199].text), sizeof profile->names[0].text - 1);
    assert_int_equal(profile->counter_count, PROFILE_COUNTERS);
    assert_string_equal(profile->counter_name[1], "perf::B");
    assert_string_equal(profile->counter_name[2], "");
    assert_string_equal(profile->counter_name[7], "G");
    const char *first = profile_text_next(profile, "misnested", NULL);
    assert_string_equal(first, "one");
    const char *second = profile_text_next(profile, "misnested", first);
    assert_string_equal(second, "two");
    assert_null(profile_text_next(profile, "misnested", second));
    profile_free(profile);
}

WITH_FILE(a_name_is_that_of_its_kind_of_node_alone)
{
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    struct profile_name name = {.kind = PROFILE_NODE_PHASE, .text = "solve"};
    uint64_t number = builder_name(&builder, &name);
    uint32_t phase = builder_node(&builder, 1, root, PROFILE_NODE_PHASE, number);
    builder_node(&builder, 1, phase, PROFILE_NODE_INSTANCE, 99);
    builder_node(&builder, 1, root, PROFILE_NODE_EVENT, 0);
    builder_node(&builder, 1, root, PROFILE_NODE_EVENT, 2);
    builder_node(&builder, 1, root, PROFILE_NODE_FRAME, number);
    struct profile *profile = read_built();
    size_t named = 0;
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct profile_name *found = profile_name_of(profile, &profile->nodes[i]);
        named += found != NULL;
        assert_true(!found || strcmp(found->text, "solve") == 0);
    }
    assert_int_equal(profile->node_count, 6);
    assert_int_equal(named, 2); /* the phase, and its execution */
    profile_free(profile);
}

WITH_FILE(what_is_no_number_is_refused)
{
    for (int i = 0; i < 5; i++) {
        struct profile_probe record = probe(1, 10, 0);
        double bad[] = {NAN, -1, INFINITY, 1e300};
        builder_free(&builder);
        builder_start(&builder);
        uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
        uint32_t event = builder_node(&builder, 1, root, PROFILE_NODE_EVENT, 1);
        record.inclusive_ns = i < 3 ? bad[i] : 10;
        record.sum_of_squares = i == 3 ? bad[i] : 100;
        add_probe(1, event, record, i == 4 ? NAN : 0);
        assert_true(builder_write(&builder, unit_path));
        assert_null(profile_read(unit_path, error, sizeof error));
        assert_non_null(strstr(error, i == 4 ? "the sum of a counter is not" : " is not a possible value"));
        assert_null(strchr(error, '\n'));
    }
}

WITH_FILE(one_threads_probes_are_its_own)
{
    for (uint32_t tree = 1; tree <= 2; tree++) {
        struct profile_thread thread = {.kind = PROFILE_THREAD_WORKER, .begin_ns = tree, .tree = tree};
        uint32_t root = builder_node(&builder, tree, 0, PROFILE_NODE_ROOT, 0);
        add_probe(tree, builder_node(&builder, tree, root, PROFILE_NODE_EVENT, 1), probe(tree, 1, 1), 0);
        builder_thread(&builder, &thread);
    }
    assert_true(builder_write(&builder, unit_path));
    builder_free(&builder);
    struct profile *profile = profile_read_thread(unit_path, 1, error, sizeof error);
    assert_int_equal(profile->probe_count, 1);
    assert_int_equal(profile->probes[0].probe.calls, 2);
    profile_free(profile);
}

UNIT_MAIN(NULL, NULL)
