/* needs: tests/unit/fake_clock.c */
#include <math.h>

#include "cct/fold.h"
#include "cct/graft.h"
#include "tests/unit/instructions.h"
#include "tests/unit/unit_tree.h"

#define STEP  7u /* number of the phase's name */
#define MS    1000000u
#define OTHER 9u

static uint32_t phase;
static uint64_t now_ns;

static int open_fold(void **unused)
{
    fold_phases_reset();
    if (open_tree(unused) != 0)
        return -1;
    tree.moved[TREE_TOLD_FOLDS] = fold_moved;
    phase = fold_phase_find(STEP);
    now_ns = 1000 * MS;
    return phase == FOLD_NONE ? -1 : 0;
}

#define WITH_FOLD(name) UNIT_TEST_WITH(name, open_fold, close_tree)

static uint32_t step_node(uint64_t number)
{
    uint32_t node = tree_child(&tree, frame(tree.root, 1), PROFILE_NODE_PHASE, STEP);
    return tree_child(&tree, node, PROFILE_NODE_INSTANCE, number);
}

static void note_ns(uint32_t node_idx, uint64_t time_ns, float own)
{
    const struct profile_time_value value = {own, own / 4, own * 3, 0};
    fold_note(&tree, node_idx, time_ns, value);
    fold_deposit(&tree);
}

static void end_step(uint64_t number, uint64_t length_ns, enum fold_verdict verdict)
{
    struct fold_instance instance = {.begin_ns = now_ns, .end_ns = now_ns + length_ns, .number = number, .verdict = verdict};
    fold_end(&tree, phase, &instance);
    now_ns += length_ns + MS;
}

/* f has the first 30 %, g the rest; `samples` of each step, evenly spread. */
static void step(uint64_t number, uint64_t length_ns, uint32_t samples)
{
    uint32_t at = step_node(number), f = frame(at, 2), g = frame(frame(at, 3), 4);
    fold_begin(&tree, phase);
    for (uint32_t i = 0; i < samples; i++) {
        uint64_t after_ns = length_ns * (2 * i + 1) / (2 * samples);
        note_ns(after_ns < length_ns * 3 / 10 ? f : g, now_ns + after_ns, 100);
    }
    end_step(number, length_ns, FOLD_UNDECIDED);
}

static uint32_t find(uint32_t parent, enum profile_node_kind kind, uint64_t key)
{
    uint32_t child = parent ? tree_node(parent)->first_child : 0;
    while (child && (tree_node(child)->kind != kind || tree_node(child)->key != key))
        child = tree_node(child)->next_sibling;
    return child;
}

static uint32_t fold_of(bool outlier)
{
    return find(tree.trie, PROFILE_NODE_FOLD, PROFILE_FOLD_KEY(STEP, outlier));
}

/* Of own, inverse_busy, shared_idle and lock_wait. */
static double value_in(uint32_t context, uint32_t which, uint32_t first, uint32_t end)
{
    uint32_t time_idx = find(context, PROFILE_NODE_TIME, 0);
    const void *record = time_idx && tree_node(time_idx)->metric ? arena_unit(tree_node(time_idx)->metric) : NULL;
    const struct profile_moments *few = record;
    const struct profile_bins *bins = record;
    double sum = 0;
    for (uint32_t i = 0; record && few->form == PROFILE_TIME_FEW && i < few->count; i++)
        sum += few->moment[i].bin >= first && few->moment[i].bin < end ? (double)(&few->moment[i].value.own)[which] : 0;
    for (uint32_t i = first; record && few->form == PROFILE_TIME_DENSE && i < end; i++)
        sum += (double)(&bins->bin[i].own)[which];
    return sum;
}

static double own_in(uint32_t context, uint32_t first, uint32_t end)
{
    return value_in(context, 0, first, end);
}

static double own_of(uint32_t context)
{
    return own_in(context, 0, PROFILE_TIME_BINS);
}

static void finish(void)
{
    fold_phases_finish();
    fold_finish(&tree);
}

static const struct profile_fold *record(void)
{
    return fold_phases[phase].record;
}

WITH_FOLD(instances_lie_over_one_another_by_the_part_of_their_length)
{
    for (uint32_t i = 0; i < 100; i++)
        step(i, (20 + i % 3) * MS, 40);
    finish();
    uint32_t fold = fold_of(false), f = find(fold, PROFILE_NODE_FRAME, 2), g = find(find(fold, PROFILE_NODE_FRAME, 3), PROFILE_NODE_FRAME, 4);
    assert_int_equal(fold_of(true), 0);
    assert_int_equal(record()->instances[0], 100);
    assert_int_equal(record()->samples[0], 4000);
    assert_true(fabs(own_of(f) - 100 * 12 * 100) < 1 && fabs(own_of(g) - 100 * 28 * 100) < 1);
    assert_true(own_in(f, 36, 120) == 0 && own_in(g, 0, 36) == 0); /* 30 % of 120 bins */
    assert_true(fabs(own_in(g, 36, 78) - own_of(g) / 2) < 1);
    double squares = 0, blame_squares = 0;
    for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++) {
        const struct profile_bins *bins = arena_unit(tree_node(find(fold, PROFILE_NODE_TIME, 1))->metric);
        squares += (double)bins->bin[i].own;
        blame_squares += (double)bins->bin[i].inverse_busy + (double)bins->bin[i].shared_idle;
    }
    assert_true(fabs(squares - 4000.0 * 100 * 100) < 1 && fabs(blame_squares - 4000.0 * (25 * 25 + 300 * 300)) < 100);
    assert_int_equal(find(fold, PROFILE_NODE_INSTANCE, 3), 0);
    assert_true(record()->overtaken + record()->cut + record()->no_room + record()->thinned == 0);
}

WITH_FOLD(the_first_instance_may_be_an_outlier_and_ones_that_come_later)
{
    step(0, 70 * MS, 10);
    for (uint32_t i = 1; i < 200; i++)
        step(i, i % 50 ? 20 * MS + i % 7 * 10000 : 65 * MS, 10);
    finish();
    assert_int_equal(record()->instances[0], 196);
    assert_int_equal(record()->instances[1], 4);
    assert_true(fabs(record()->duration_ns[1] - 265 * 1e6) < 1);
    assert_true(fabs(own_of(find(fold_of(true), PROFILE_NODE_FRAME, 2)) - 4 * 3 * 100) < 1);
    assert_int_equal(record()->samples[0] + record()->samples[1], 2000);
    assert_in_range(record()->low_ns, 13 * MS, 16 * MS);
    assert_in_range(record()->high_ns, 25 * MS, 31 * MS);
}

WITH_FOLD(durations_that_differ_widely_are_all_usual)
{
    for (uint32_t i = 0; i < 3000; i++) {
        fold_begin(&tree, phase);
        end_step(i, (10 + i * 7919 % 20) * MS, FOLD_UNDECIDED);
    }
    assert_in_range(record()->instances[0], 2950, 3000);
    /* Half of all, 16 to 26 ms, lie within 5 classes of 20 ms: 22 of them away are 7.6 and 54.5 ms. */
    assert_in_range(record()->low_ns, 75 * MS / 10, 77 * MS / 10);
    assert_in_range(record()->high_ns, 53 * MS, 55 * MS);
    assert_int_equal(record()->instances[0] + record()->instances[1], 3000);
    assert_int_equal(record()->samples[0], 0);
}

WITH_FOLD(of_a_few_instances_the_end_decides)
{
    for (uint32_t i = 0; i < 5; i++)
        step(i, i == 3 ? 90 * MS : 10 * MS, 4);
    assert_int_equal(record()->samples[0], 0);
    finish();
    assert_int_equal(record()->instances[0], 4);
    assert_int_equal(record()->instances[1], 1);
    assert_int_equal(record()->samples[0], 16);
    assert_int_equal(record()->samples[1], 4);
}

WITH_FOLD(a_sample_waits_until_its_region_is_known)
{
    step(0, 10 * MS, 4);
    fold_begin(&tree, phase);
    uint32_t placeholder = tree_placeholder(&tree, 5), below = frame(placeholder, 6);
    note_ns(below, now_ns + 5 * MS, 40);
    end_step(1, 10 * MS, FOLD_UNDECIDED);
    fold_phases_finish();
    fold_deposit(&tree);
    uint32_t fold = fold_of(false);
    assert_int_equal(find(fold, PROFILE_NODE_FRAME, 3) != 0, 1);
    assert_int_equal(find(find(fold, PROFILE_NODE_FRAME, 8), PROFILE_NODE_FRAME, 6), 0);
    assert_true(tree_graft(&tree, placeholder, frame(step_node(1), 8), &(uint64_t){UINT64_MAX}));
    assert_int_not_equal(frame(tree.root, 99), 0); /* what was recycled is another's */
    finish();
    assert_true(own_in(find(find(fold, PROFILE_NODE_FRAME, 8), PROFILE_NODE_FRAME, 6), 60, 61) == 40);
    assert_int_equal(record()->overtaken, 0);
}

WITH_FOLD(samples_outside_of_the_phase_are_not_folded)
{
    uint32_t outside = frame(tree.root, 50);
    for (uint32_t i = 0; i < 20; i++) {
        note_ns(outside, now_ns - MS / 2, 1000); /* none is open */
        fold_begin(&tree, phase);
        note_ns(outside, now_ns + 5 * MS, 1000);
        note_ns(frame(step_node(i), 2), now_ns + 5 * MS, 100);
        end_step(i, 10 * MS, FOLD_UNDECIDED);
    }
    finish();
    assert_int_equal(record()->samples[0], 20);
    assert_int_equal(record()->overtaken, 0);
}

WITH_FOLD(what_was_cut_is_counted_and_left_out)
{
    for (uint32_t i = 0; i < 20; i++) {
        fold_begin(&tree, phase);
        note_ns(frame(step_node(i), 2), now_ns + 5 * MS, 100);
        end_step(i, 10 * MS, i % 10 ? FOLD_UNDECIDED : FOLD_LEFT_OUT);
    }
    fold_begin(&tree, phase);
    note_ns(frame(step_node(20), 2), now_ns + 5 * MS, 100);
    end_step(20, 6 * MS, FOLD_LEFT_OUT);
    finish();
    assert_int_equal(record()->instances[0], 18);
    assert_int_equal(record()->samples[0], 18);
    assert_int_equal(record()->left_out, 3);
    assert_int_equal(record()->cut, 3);
}

WITH_FOLD(instances_of_phases_inside_are_one_context)
{
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t inner = tree_child(&tree, step_node(i), PROFILE_NODE_PHASE, OTHER);
        fold_begin(&tree, phase);
        uint32_t node_idx = frame(tree_child(&tree, inner, PROFILE_NODE_INSTANCE, i), 2);
        note_ns(tree_child(&tree, node_idx, PROFILE_NODE_LOCK, 77), now_ns + 5 * MS, 100);
        end_step(i, 10 * MS, FOLD_UNDECIDED);
    }
    finish();
    uint32_t context = find(find(fold_of(false), PROFILE_NODE_PHASE, OTHER), PROFILE_NODE_FRAME, 2);
    assert_true(own_in(context, 60, 61) == 2000);
}

WITH_FOLD(of_too_many_samples_some_stand_for_all)
{
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < 40; i++) {
        step(i, 60000 * MS, 12000); /* a minute at 200/s */
        chunks = i == 20 ? arena_header()->chunk_count : chunks;
    }
    finish();
    uint32_t fold = fold_of(false), f = find(fold, PROFILE_NODE_FRAME, 2), g = find(find(fold, PROFILE_NODE_FRAME, 3), PROFILE_NODE_FRAME, 4);
    double all = 40 * 12000 * 100.0;
    assert_int_equal(record()->thinned + record()->samples[0], 40 * 12000);
    assert_true(fabs(own_of(f) + own_of(g) - all) < 1e-4 * all);
    assert_true(fabs(own_of(f) - 0.3 * all) < 2e-3 * all);
    assert_true(own_in(f, 37, 120) == 0 && own_in(g, 0, 35) == 0);
    assert_true(fabs(own_in(f, 0, 18) - 0.15 * all) < 0.01 * all);
    assert_in_range(arena_header()->chunk_count, chunks, chunks + 1);
}

WITH_FOLD(what_stands_for_others_is_chosen_by_its_weight)
{
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t at = step_node(i), light = frame(at, 2), heavy = frame(at, 3);
        fold_begin(&tree, phase);
        for (uint32_t k = 0; k < 4000; k++)
            note_ns(k % 2 ? heavy : light, now_ns + k * 5ull * MS, k % 2 ? 300 : 100);
        end_step(i, 20000ull * MS, FOLD_UNDECIDED);
    }
    finish();
    uint32_t fold = fold_of(false), light = find(fold, PROFILE_NODE_FRAME, 2), heavy = find(fold, PROFILE_NODE_FRAME, 3);
    double all = 10 * 2000 * 400.0, idle = value_in(light, 2, 0, PROFILE_TIME_BINS) + value_in(heavy, 2, 0, PROFILE_TIME_BINS);
    assert_true(fabs(own_of(light) + own_of(heavy) - all) < 1e-4 * all && fabs(idle - 3 * all) < 3e-4 * all);
    assert_true(fabs(own_of(light) - all / 4) < 0.05 * all); /* 10 of the deviations of 5,000 places */
}

WITH_FOLD(an_end_that_too_many_have_overtaken_costs_its_samples_and_that_is_counted)
{
    for (uint32_t i = 0; i < 1000; i++) { /* another thread's, whose samples keep the ends coming */
        const struct profile_time_value value = {100, 0, 0, 0};
        fold_phase_begin(phase);
        fold_keep(&tree, frame(step_node(i), 2), now_ns + 5 * MS, value);
        struct fold_instance instance = {.begin_ns = now_ns, .end_ns = now_ns + 10 * MS, .number = i, .tree = 2, .verdict = FOLD_UNDECIDED};
        fold_phase_end(phase, &instance);
        now_ns += 11 * MS;
        if (i == 9)
            fold_deposit(&tree);
    }
    finish();
    assert_int_equal(record()->instances[0], 1000);
    assert_int_equal(record()->overtaken + record()->samples[0] + record()->thinned, 1000);
    assert_true(record()->overtaken > 0 && record()->samples[0] >= 10);
}

/* As many samples wait, and as many ends have come since the last one, as there is room for; each sample may be in any of the instances. */
static void fill(uint32_t depth, bool resolved)
{
    uint32_t at = resolved ? step_node(0) : tree_placeholder(&tree, 5);
    uint64_t begin_ns = now_ns;
    const struct profile_time_value value = {100, 0, 0, 0};
    fold_phase_begin(phase);
    for (uint32_t i = 0; i < depth; i++)
        at = frame(at, 10 + i);
    for (uint32_t i = 0; i < FOLD_SAMPLES * 3 / 4; i++)
        fold_keep(&tree, at, now_ns += MS, value);
    for (uint32_t i = 0; i < FOLD_ENDED; i++) {
        struct fold_instance instance = {.begin_ns = begin_ns, .end_ns = now_ns + i, .number = i, .tree = 2, .verdict = FOLD_UNDECIDED};
        fold_phase_begin(phase);
        fold_phase_end(phase, &instance);
    }
}

static void deposit(void)
{
    fold_deposit(&tree);
}

/* All of it would be 20 million nodes to look at, in each of FOLD_PHASES phases. */
WITH_FOLD(a_sample_does_a_bounded_part_of_the_work)
{
    for (int resolved = 0; resolved < 2 && INSTRUCTIONS_COUNT; resolved++) {
        fill(200, resolved);
        assert_in_range(instructions_of(deposit, 150000), 1000, 120000); /* the context of a first sample is made */
    }
}

WITH_FOLD(what_one_sample_had_no_time_for_the_next_ones_do)
{
    fold_begin(&tree, phase);
    uint32_t at = step_node(0);
    const struct profile_time_value value = {100, 0, 0, 0};
    for (uint32_t i = 0; i < 300; i++)
        fold_keep(&tree, frame(at, i % 20), now_ns + i * MS, value);
    end_step(0, 300 * MS, FOLD_UNDECIDED);
    fold_phases_finish();
    uint32_t calls = 0;
    for (uint64_t before = UINT64_MAX; record()->samples[0] != before && calls < 1000; calls++) {
        before = record()->samples[0];
        fold_deposit(&tree);
    }
    assert_int_equal(record()->samples[0], 300);
    assert_in_range(calls, 3, 50);
}

WITH_FOLD(threads_that_are_in_instances_of_one_number_have_their_own)
{
    fold_begin(&tree, phase);
    note_ns(frame(step_node(3), 2), now_ns + 5 * MS, 100);
    struct fold_instance others = {.begin_ns = now_ns, .end_ns = now_ns + 6 * MS, .number = 3, .tree = 2, .verdict = FOLD_UNDECIDED};
    fold_phase_begin(phase);
    fold_phase_end(phase, &others);
    end_step(3, 10 * MS, FOLD_UNDECIDED);
    finish();
    assert_true(own_in(find(fold_of(false), PROFILE_NODE_FRAME, 2), 60, 61) == 100);
}

WITH_FOLD(names_beyond_the_room_are_not_folded)
{
    for (uint32_t name = 100; name < 100 + FOLD_PHASES - 1; name++)
        assert_int_not_equal(fold_phase_find(name), FOLD_NONE);
    assert_int_equal(fold_phase_find(200), FOLD_NONE);
    assert_int_equal(fold_phase_find(STEP), phase);
}

UNIT_MAIN(NULL, NULL)
