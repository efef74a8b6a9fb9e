/* needs: tests/unit/fake_clock.c */
/* Bins against plain sums of what was put into them. */
#include "cct/deferred/graft.h"
#include "cct/timeline/time.h"
#include "tests/unit/unit_tree.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORIGIN_NS 5000000000ull
#define HOUR_NS   3600000000000ull

static int open_timed(void **unused)
{
    int failed = open_tree(unused);
    if (!failed)
        time_begin(&tree, ORIGIN_NS);
    return failed;
}

#define WITH_TIME(name) UNIT_TEST_WITH(name, open_timed, close_tree)

static void assert_close(double value, double expected)
{
    if (fabs(value - expected) > 2e-6 * fabs(expected))
        fail_msg("%.9g instead of %.9g", value, expected);
}

static const struct profile_lane *lane_in_file(void)
{
    return arena_unit(tree_node(tree_find(&tree, tree.root, PROFILE_NODE_LANE, 0))->metric);
}

/* Each page of a new chunk costs a fault. */
WITH_TIME(what_a_new_tree_touches_of_its_chunk_is_one_page)
{
    const char *chunk = arena_unit(tree.times.chunk_no * PROFILE_UNITS_PER_CHUNK);
    const struct profile_bins *root = arena_unit(tree.times.dense[0]);
    assert_in_range((const char *)lane_in_file() - chunk, 1, 4095);
    assert_in_range((const char *)(root + 1) - chunk, 1, 4095);
}

/* As a reader adds them up: of the context, by bins of that width. */
static void add_context(uint32_t context, uint32_t shift, double own[PROFILE_TIME_BINS])
{
    uint32_t time_idx = tree_find(&tree, context, PROFILE_NODE_TIME, 0);
    const void *record = time_idx && tree_node(time_idx)->metric ? arena_unit(tree_node(time_idx)->metric) : NULL;
    const struct profile_few_bins *few = record;
    const struct profile_bins *bins = record;
    if (!record)
        return;
    assert_true(few->shift <= shift);
    for (uint32_t i = 0; few->form == PROFILE_TIME_FEW && i < few->count; i++) {
        assert_true(few->entry[i].bin < PROFILE_TIME_BINS);
        own[few->entry[i].bin >> (shift - few->shift)] += few->entry[i].value.own;
    }
    for (uint32_t i = 0; few->form == PROFILE_TIME_DENSE && i < PROFILE_TIME_BINS; i++)
        own[i >> (shift - bins->shift)] += bins->bin[i].own;
}

static double sum_of(const double *values)
{
    double sum = 0;
    for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++)
        sum += values[i];
    return sum;
}

static void add_own(uint32_t context, uint64_t after_ns, double ns)
{
    time_add(&tree, context, ORIGIN_NS + after_ns,
             (struct profile_time_value){(float)ns, (float)ns / 4, (float)ns / 8, (float)ns / 2});
}

WITH_TIME(a_lane_has_each_state_s_time_where_it_was_however_long_the_run)
{
    static double expected[PROFILE_LANE_BINS][PROFILE_TIME_STATES];
    uint64_t step_ns = 4999999;
    uint32_t shift = profile_time_shift(HOUR_NS) - PROFILE_TIME_FINER;
    for (uint64_t after_ns = 0; after_ns <= HOUR_NS; after_ns += step_ns) {
        uint32_t state = (uint32_t)(after_ns / 700000000000ull) % PROFILE_TIME_STATES;
        time_add_state(&tree, ORIGIN_NS + after_ns, (enum profile_time_state)state, (double)step_ns);
        expected[after_ns >> shift][state] += (double)step_ns;
    }
    const struct profile_lane *lane = lane_in_file();
    assert_int_equal(lane->shift, shift);
    assert_int_equal(lane->merged, 0);
    assert_in_range(HOUR_NS >> shift, 240, 479);
    for (uint32_t bin = 0; bin < PROFILE_LANE_BINS; bin++)
        for (uint32_t state = 0; state < PROFILE_TIME_STATES; state++)
            if (fabs(lane->ns[bin][state] - expected[bin][state]) > 1e-4 * expected[bin][state])
                fail_msg("bin %u, state %u: %.9g instead of %.9g", bin, state, lane->ns[bin][state],
                         expected[bin][state]);
}

WITH_TIME(a_context_has_its_time_where_it_was_through_all_doublings)
{
    double expected[PROFILE_TIME_BINS] = {0}, own[PROFILE_TIME_BINS] = {0}, sum = 0;
    uint32_t context = frame(tree.root, 1), shift = profile_time_shift(HOUR_NS);
    for (uint64_t after_ns = 1; after_ns < HOUR_NS; after_ns += 1 + after_ns / 1000) {
        double ns = 1000 + (double)(after_ns % 777);
        add_own(context, after_ns, ns);
        expected[after_ns >> shift] += (float)ns;
        sum += (float)ns;
    }
    add_context(context, shift, own);
    assert_close(sum_of(own), sum);
    for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++)
        assert_close(own[i], expected[i]);
}

/* A bin of half a minute has a float's steps of 2 us: 100 us would become 102, or 100, each time. */
WITH_TIME(many_small_summands_are_not_lost_in_a_large_sum)
{
    uint64_t step_ns = 100500, end_ns = HOUR_NS / 36;
    uint32_t context = frame(tree.root, 1);
    double sum = 0, own[PROFILE_TIME_BINS] = {0};
    add_own(context, HOUR_NS, 1);
    for (uint64_t after_ns = 0; after_ns < end_ns; after_ns += step_ns) {
        add_own(context, after_ns % 1000, (double)step_ns);
        sum += (double)step_ns;
    }
    add_context(context, profile_time_shift(HOUR_NS), own);
    if (fabs(own[0] - sum) > 1e-4 * sum)
        fail_msg("%.9g instead of %.9g", own[0], sum);
}

WITH_TIME(a_moment_before_the_origin_is_in_the_first_bin)
{
    double own[PROFILE_TIME_BINS] = {0};
    uint32_t context = frame(tree.root, 1);
    add_own(context, (uint64_t)-1000, 7);
    time_add_state(&tree, ORIGIN_NS - 1, PROFILE_TIME_IDLE, 9);
    add_context(context, PROFILE_TIME_SHIFT, own);
    assert_true(own[0] == 7 && lane_in_file()->ns[0][PROFILE_TIME_IDLE] == 9);
    assert_int_equal(lane_in_file()->shift, PROFILE_TIME_SHIFT - PROFILE_TIME_FINER);
}

WITH_TIME(a_state_gives_back_no_more_than_it_has)
{
    float *bin = &tree.times.lane->ns[0][PROFILE_TIME_LOCK_WAIT];
    time_add_state(&tree, ORIGIN_NS, PROFILE_TIME_LOCK_WAIT, 9);
    time_take_state(&tree, ORIGIN_NS, PROFILE_TIME_LOCK_WAIT, 4);
    assert_true(*bin == 5);
    time_take_state(&tree, ORIGIN_NS, PROFILE_TIME_LOCK_WAIT, 5.5);
    assert_true(*bin == 0);
}

/* Of one function's 40 instructions each, below that many calls; some are hot. */
#define CALLS        9u
#define INSTRUCTIONS 40u

struct many {
    uint32_t call[CALLS], instruction[CALLS][INSTRUCTIONS];
    double sum[CALLS], bin[CALLS][PROFILE_TIME_BINS]; /* in all, and when */
};

static void add_to_one(struct many *many, uint32_t c, uint32_t context, uint64_t after_ns, uint32_t shift)
{
    add_own(context, after_ns, 5e6);
    many->sum[c] += 5e6;
    many->bin[c][after_ns >> shift] += 5e6;
}

/* Each also once more behind the next: what was remembered of it then may be another's. */
static void run_many(struct many *many, uint32_t top, uint64_t end_ns)
{
    uint32_t last_c = CALLS, last = 0;
    uint64_t last_ns = 0;
    for (uint32_t c = 0; c < CALLS; c++) {
        many->call[c] = frame(top, 100 + c);
        for (uint32_t i = 0; i < INSTRUCTIONS; i++)
            many->instruction[c][i] = frame(many->call[c], 1000 + i);
    }
    uint32_t shift = profile_time_shift(end_ns);
    srand(1);
    for (uint64_t after_ns = 0; after_ns < end_ns; after_ns += 5000000) {
        uint32_t c = (uint32_t)rand() % CALLS, i = (uint32_t)rand() % INSTRUCTIONS;
        if (rand() % 2)
            c = i = 0;
        uint64_t late_ns = (uint64_t)rand() % (after_ns / 8 + 1); /* times come in no order */
        uint32_t context = rand() % 64 ? many->instruction[c][i] : many->call[c];
        add_to_one(many, c, context, after_ns - late_ns, shift);
        if (last_c < CALLS)
            add_to_one(many, last_c, last, last_ns, shift);
        last_c = c, last = context, last_ns = after_ns - late_ns;
    }
}

static void add_below(uint32_t context, uint32_t shift, double own[PROFILE_TIME_BINS])
{
    add_context(context, shift, own);
    for (uint32_t idx = tree_node(context)->first_child; idx; idx = tree_node(idx)->next_sibling)
        add_below(idx, shift, own);
}

static double sum_below(uint32_t context, bool itself)
{
    double own[PROFILE_TIME_BINS] = {0};
    if (itself)
        add_context(context, 40, own);
    double sum = sum_of(own);
    for (uint32_t idx = tree_node(context)->first_child; idx; idx = tree_node(idx)->next_sibling)
        sum += sum_below(idx, true);
    return sum;
}

#define UNITS 100000u

static void use_record(unsigned char *used, uint32_t unit_idx)
{
    assert_true(unit_idx < UNITS);
    if (used[unit_idx]++)
        fail_msg("record %u is used twice", unit_idx);
}

static void use_records_below(unsigned char *used, uint32_t idx)
{
    if (tree_node(idx)->metric)
        use_record(used, tree_node(idx)->metric);
    for (uint32_t child = tree_node(idx)->first_child; child; child = tree_node(child)->next_sibling)
        use_records_below(used, child);
}

/* Of the trees from these nodes on, and of those that wait to be used again. */
static void assert_records_are_one_s(uint32_t top, uint32_t other)
{
    unsigned char *used = calloc(UNITS, 1);
    use_records_below(used, top);
    if (other)
        use_records_below(used, other);
    for (uint32_t unit_idx = tree.free_metrics; unit_idx; unit_idx = *(uint32_t *)arena_unit(unit_idx))
        use_record(used, unit_idx);
    for (uint32_t place = tree.times.used; place < tree.times.made; place++)
        use_record(used, tree.times.dense[place]);
    free(used);
}

WITH_TIME(where_dense_bins_do_not_suffice_those_of_the_coldest_instructions_are_their_call_s)
{
    struct many many = {0};
    double own[PROFILE_TIME_BINS] = {0}, below_all[PROFILE_TIME_BINS] = {0}, all = 0;
    run_many(&many, frame(tree.root, 1), 100000000000ull);
    for (uint32_t c = 0; c < CALLS; c++) {
        double below[PROFILE_TIME_BINS] = {0};
        assert_close(sum_below(many.call[c], true), many.sum[c]);
        add_below(many.call[c], profile_time_shift(100000000000ull), below);
        for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++)
            assert_close(below[i], many.bin[c][i]);
        all += many.sum[c];
    }
    add_below(tree.root, profile_time_shift(100000000000ull), below_all);
    for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++) {
        double expected = 0;
        for (uint32_t c = 0; c < CALLS; c++)
            expected += many.bin[c][i];
        assert_close(below_all[i], expected);
    }
    assert_close(sum_below(tree.root, true), all);
    assert_true(tree.times.made == TIME_DENSE && tree.times.used <= TIME_DENSE);
    assert_records_are_one_s(tree.root, 0);
    add_context(many.instruction[0][0], 40, own);
    assert_true(sum_of(own) > 0.49 * all); /* the hot one has its own */
}

/* Light bins go up to the very context that asked for room: its few bins are theirs then, and its record is recycled once. */
WITH_TIME(a_context_has_what_rose_to_it_while_it_asked_for_bins_of_its_own)
{
    uint32_t heavy = frame(tree.root, 1), context = frame(tree.root, 2);
    for (uint32_t bin = 0; bin <= PROFILE_FEW_BINS; bin++) {
        for (uint32_t c = 3; c < TIME_DENSE; c++)
            add_own(frame(heavy, c), bin * 100000000ull, 1000);
        add_own(frame(context, 3), bin * 100000000ull, 1);
        add_own(frame(context, 4), bin * 100000000ull, 1);
    }
    assert_int_equal(tree.times.used, TIME_DENSE);
    for (uint32_t bin = 0; bin <= PROFILE_FEW_BINS; bin++)
        add_own(context, bin * 100000000ull, 10);
    assert_records_are_one_s(tree.root, 0);
    for (uint32_t i = 0; i < 100; i++)
        add_own(frame(heavy, 100 + i), 0, 1);
    assert_close(sum_below(tree.root, true), (1000 * (TIME_DENSE - 3) + 1 + 1 + 10) * (PROFILE_FEW_BINS + 1) + 100);
}

WITH_TIME(dense_bins_that_became_so_wide_that_few_are_in_use_make_way)
{
    uint32_t context[TIME_DENSE + 1];
    for (uint32_t c = 0; c <= TIME_DENSE; c++) {
        uint64_t begin_ns = c < TIME_DENSE - 1 ? 0 : HOUR_NS, width_ns = c < TIME_DENSE - 1 ? 100000000 : HOUR_NS / 100;
        context[c] = frame(tree.root, 1 + c);
        for (uint32_t i = 0; i < 20; i++)
            add_own(context[c], begin_ns + i * width_ns, 1000);
    }
    assert_true(tree.times.used < TIME_DENSE / 2);
    for (uint32_t c = 0; c <= TIME_DENSE; c++) {
        double own[PROFILE_TIME_BINS] = {0};
        add_context(context[c], profile_time_shift(2 * HOUR_NS), own);
        assert_close(sum_of(own), 20000);
        assert_true(c >= TIME_DENSE - 1 || own[0] > 0);
    }
}

WITH_TIME(a_graft_moves_the_bins_whatever_their_width_and_form)
{
    uint32_t top = frame(tree.root, 1), used = 0;
    double all = 0;
    for (uint32_t round = 0; round < 30; round++) {
        struct many many = {0};
        uint32_t placeholder = tree_placeholder(&tree, 7);
        add_own(placeholder, 1, 5);
        run_many(&many, placeholder, (round % 3 ? 1000000000ull : 9000000000ull) << round % 5);
        for (uint32_t c = 0; c < CALLS; c++)
            all += many.sum[c];
        all += 5;
        double below = sum_below(placeholder, true) + sum_below(top, true), before[PROFILE_TIME_BINS] = {0},
               after[PROFILE_TIME_BINS] = {0};
        add_below(tree.root, profile_time_shift(9000000000ull << 4), before);
        add_below(placeholder, profile_time_shift(9000000000ull << 4), before);
        assert_records_are_one_s(tree.root, placeholder);
        assert_true(tree_graft(&tree, placeholder, top, &(uint64_t){UINT64_MAX}));
        assert_records_are_one_s(tree.root, 0);
        assert_close(sum_below(top, true), below);
        add_below(tree.root, profile_time_shift(9000000000ull << 4), after);
        for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++)
            assert_close(after[i], before[i]);
        assert_close(sum_below(tree.root, true), all);
        used = tree.times.used > used ? tree.times.used : used;
        if (round % 2)
            add_own(frame(frame(top, 100), 1000), 1, 3), all += 3;
    }
    assert_int_equal(tree.times.made, TIME_DENSE);
    assert_true(used <= TIME_DENSE);
}

WITH_TIME(a_full_disk_leaves_the_sums_to_those_above_and_counts_what_no_lane_has)
{
    uint32_t a = frame(tree.root, 1), b = frame(a, 2);
    unit_limit_files(0);
    for (uint32_t i = 0; i < 5000; i++)
        add_own(i % 2 ? a : frame(b, i), i * 10000000ull, 1);
    assert_close(sum_below(tree.root, true), 5000);
    struct tree other;
    assert_false(tree_init(&other, 2)); /* no tree, no thread: it is not measured at all */
    unit_limit_files(RLIM_INFINITY);
    fake_now_ns += 1000000000;
    assert_true(tree_init(&other, 2));
    unit_limit_files(0);
    time_begin(&other, ORIGIN_NS);
    time_add_state(&other, ORIGIN_NS, PROFILE_TIME_WORK, 77);
    assert_int_equal(arena_header()->timeline_lost_ns, 77);
    unit_limit_files(RLIM_INFINITY);
    fake_now_ns += 1000000000;
    time_add_state(&other, ORIGIN_NS, PROFILE_TIME_WORK, 78);
    assert_int_equal(arena_header()->timeline_lost_ns, 77);
    assert_true(other.times.lane->ns[0][PROFILE_TIME_WORK] == 78);
}

static double read_killed(const struct profile_lane *lane)
{
    double sum = 0;
    for (uint32_t bin = 0; bin < PROFILE_LANE_BINS; bin++)
        if (bin < lane->merged || bin >= 2u * lane->merged)
            for (uint32_t state = 0; state < PROFILE_TIME_STATES; state++)
                sum += lane->ns[bin][state];
    return sum;
}

UNIT_TEST(a_process_that_is_killed_while_it_merges_leaves_the_sum)
{
    struct profile_lane *lane = mmap(NULL, sizeof(*lane), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t midway = 0;
    for (uint32_t i = 0; i < 60 || (midway == 0 && i < 6000); i++) { /* who gets no core is killed before it merges */
        memset(lane, 0, sizeof(*lane));
        for (uint32_t bin = 0; bin < PROFILE_LANE_BINS; bin++)
            lane->ns[bin][bin % PROFILE_TIME_STATES] = 1;
        pid_t child = fork();
        if (child == 0) {
            raise(SIGSTOP);
            for (;;) {
                for (uint32_t times = 0; times < 4; times++)
                    widen_lane(lane, lane->shift + 1u);
                lane->shift = 0;
            }
        }
        int status;
        waitpid(child, &status, WUNTRACED);
        kill(child, SIGCONT);
        usleep(100 + i % 60 * 10);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        midway += lane->merged != 0;
        double twice = 0; /* within one instruction of each merge */
        for (uint32_t state = 0; state < PROFILE_TIME_STATES && lane->merged == 0; state++)
            twice += (double)lane->ns[1][state];
        assert_true(read_killed(lane) >= PROFILE_LANE_BINS && read_killed(lane) <= PROFILE_LANE_BINS + twice);
    }
    assert_true(midway > 0);
    munmap(lane, sizeof(*lane));
}

UNIT_MAIN(NULL, NULL)
