/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/job_program.h"

#define BINS  100
#define BIN_S 0.5
#define STEPS 200

static struct timeline_cell cells[BINS * RANKS * 4];
static struct timeline_lane lanes[RANKS];
static struct {
    uint32_t work, serial, refine;
} nodes;

/* Of that bin `busy` threads of a team of four ran this code for so long. */
static struct timeline_cell *cell(uint32_t node, uint32_t lane, uint32_t bin, double busy, double seconds)
{
    struct timeline_cell *to = &cells[made.profile.timeline.cell_count++];
    *to = (struct timeline_cell){.node = node, .lane = lane, .bin = bin};
    to->value.own = (float)(busy * seconds * S);
    to->value.inverse_busy = (float)(seconds * S);
    to->value.shared_idle = (float)((THREADS - busy) * seconds * S);
    return to;
}

static void start_timeline(uint32_t lane_count)
{
    made.profile.timeline = (struct timeline){.bin_ns = (uint64_t)(BIN_S * S),
                                              .lane_bin_ns = (uint64_t)(BIN_S / 4 * S),
                                              .bins = BINS,
                                              .lane_bins = 4 * BINS,
                                              .lanes = lanes,
                                              .lane_count = lane_count,
                                              .cells = cells};
    for (uint32_t i = 0; i < RANKS; i++)
        lanes[i] = (struct timeline_lane){.threads = THREADS, .rank_record = lane_count > 1 ? i + 1 : 0};
}

/* Steady, but for a little. */
static double about(double part, uint32_t bin)
{
    return part * (bin % 3 == 0 ? 1.06 : bin % 3 == 1 ? 0.97 : 1);
}

static void begin_program(void)
{
    make_program(THREADS, 0);
    nodes.work = program.main_node + 1;
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    nodes.serial = frame(solve, KEY(HEAVY));
    nodes.refine =
        frame(frame(solve, KEY(INIT)), KEY(ALLOCATOR)); /* both of the worse part's own: the outer one is named */
    start_timeline(1);
}

static const struct finding *find_titled(const char *rule, const char *title)
{
    const struct finding *finding = find(rule);
    assert_non_null(finding);
    assert_string_equal(finding->title, title);
    return finding;
}

/* A bin of which one thread runs `serial` and refine for these parts; all work for the rest. */
static void spend(uint32_t bin, double serial, double refine)
{
    double serial_s = about(serial, bin) * BIN_S, refine_s = about(refine, bin) * BIN_S,
           rest_s = BIN_S - serial_s - refine_s;
    cell(nodes.work, 0, bin, THREADS, rest_s);
    run(nodes.work, rest_s, THREADS, THREADS, 0);
    if (serial_s > 0) {
        cell(nodes.serial, 0, bin, 1, serial_s);
        run(nodes.serial, serial_s, 1, 1, 0);
    }
    if (refine_s > 0) {
        cell(nodes.refine, 0, bin, 1, refine_s);
        run(nodes.refine, refine_s, 1, 1, 0);
    }
}

UNIT_TEST_WITH(a_run_that_becomes_idle_says_when_and_because_of_what, NULL, destroy)
{
    begin_program();
    for (uint32_t bin = 0; bin < BINS; bin++)
        spend(bin, 0.053, bin < 62 ? 0 : 0.453);
    const struct finding *finding = find_titled(
        "changes", "idleness is 4 % of the effort until 31 s, and 38 % later, when init begins to dominate");
    assert_has(finding->place, "init  p.c:21  < solve");
    assert_int_equal(finding->metric, METRIC_IDLENESS);
    assert_true(fabs(finding->seconds - 0.34 * 38 * BIN_S * THREADS) < 0.3); /* 38 bins, 34 points */
    assert_about(finding->gain_s, finding->seconds / THREADS);
    assert_has(finding->evidence, ", 100 % of it in the named code");
}

UNIT_TEST_WITH(a_slow_begin_is_called_one, NULL, destroy)
{
    begin_program();
    for (uint32_t bin = 0; bin < BINS; bin++)
        spend(bin, 0.1, bin < 20 ? 0.8 : 0.05);
    find_titled("changes", "the first 10 s are slow: idleness is 68 % of the effort, and 11 % later");
    made.profile.header.environment = 1;
    for (size_t i = 0; i < made.profile.timeline.cell_count; i++)
        cells[i].value.inverse_busy = 0; /* then idleness is shared idleness */
    find_titled("changes", "the first 10 s are slow: idleness is 68 % of the effort, and 11 % later");
}

UNIT_TEST_WITH(what_was_there_before_is_not_said_to_begin, NULL, destroy)
{
    begin_program();
    for (uint32_t bin = 0; bin < BINS; bin++)
        spend(bin, 0, bin < 50 ? 0.4 : 0.1);
    find_titled("changes", "idleness is 30 % of the effort until 25 s, and 8 % later");
}

UNIT_TEST_WITH(a_change_that_is_nobodys_alone_names_nobody, NULL, destroy)
{
    begin_program();
    uint32_t others[3];
    for (int i = 0; i < 3; i++)
        others[i] = frame(program.main_node, OTHER(i));
    for (uint32_t bin = 0; bin < BINS; bin++) {
        spend(bin, 0.05, 0);
        for (int i = 0; i < 3 && bin >= 50; i++) {
            cell(others[i], 0, bin, 1, 0.2 * BIN_S);
            run(others[i], 0.2 * BIN_S, 1, 1, 0);
        }
    }
    const struct finding *finding = find("changes");
    assert_non_null(finding);
    assert_null(strstr(finding->title, "dominate"));
    assert_true(finding->row == ROW_NONE);
    /* each of the causes has a smaller share, and comes before */
    assert_ptr_equal(finding, &program.findings->finding[program.findings->count - 1]);
    assert_true(program.findings->count > 1 && finding->share > program.findings->finding[0].share);
}

UNIT_TEST_WITH(steady_and_little_changed_runs_say_nothing, NULL, destroy)
{
    begin_program();
    for (uint32_t bin = 0; bin < BINS; bin++)
        spend(bin, 0.1, 0.3);
    assert_null(find("changes"));
    destroy(NULL);
    begin_program();
    for (uint32_t bin = 0; bin < BINS; bin++)
        spend(bin, 0.1, bin < 50 ? 0 : 0.12); /* 9 points */
    assert_null(find("changes"));
    destroy(NULL);
    begin_program();
    for (uint32_t bin = 0; bin < BINS; bin++)
        spend(bin, 0.05, bin < 4 ? 0.9 : 0); /* 3 % of the run */
    assert_null(find("changes"));
    destroy(NULL);
    begin_program();
    made.profile.timeline.bin_ns = 1;
    for (uint32_t bin = 0; bin < BINS; bin++)
        spend(bin, 0.05, bin < 50 ? 0.9 : 0);
    assert_null(find("changes")); /* too soon for anybody to see it */
    made.profile.timeline.bin_ns = (uint64_t)(BIN_S * S);
    assert_non_null(find("changes"));
    made.profile.header.end_ns = 1 + (uint64_t)((BINS * BIN_S + 5) * S);
    assert_null(find("changes")); /* nobody was busy for a tenth of it, and who knows when */
}

UNIT_TEST_WITH(lock_waits_change_too, NULL, destroy)
{
    begin_program();
    made.profile.timeline.origin_ns = made.profile.header.start_ns + (uint64_t)(2 * S);
    for (uint32_t bin = 0; bin < BINS; bin++) {
        double waits = bin < 40 ? 0.02 : 0.5;
        struct timeline_cell *to = cell(nodes.work, 0, bin, THREADS, BIN_S);
        to->value.own = (float)(about(1 - waits, bin) * THREADS * BIN_S * S);
        to->value.lock_wait = (float)(THREADS * BIN_S * S) - to->value.own;
        run(nodes.work, BIN_S, THREADS, THREADS, 0);
    }
    const struct finding *finding = find("changes");
    assert_non_null(finding);
    assert_int_equal(finding->metric, METRIC_LOCK_WAIT);
    assert_has(finding->title, "waiting for locks is 1 % of the effort until 22 s, and 49 % later");
    assert_has(finding->advice, "--view locks");
}

UNIT_TEST_WITH(threads_that_lose_their_cores_are_not_the_codes_doing, NULL, destroy)
{
    begin_program();
    uint32_t no_core = add(nodes.refine, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    for (uint32_t bin = 0; bin < BINS; bin++) {
        spend(bin, 0.05, 0);
        if (bin >= 50)
            cell(no_core, 0, bin, 1, 0.5 * BIN_S);
    }
    made.nodes[no_core].metric.no_core = made.nodes[no_core].metric.inverse_busy = 50 * 0.5 * BIN_S * S;
    const struct finding *finding = find("changes");
    assert_non_null(finding);
    assert_has(finding->title, "later, because threads have no core");
    assert_has(finding->advice, "Measure on a quiet machine");
    assert_true(finding->row == ROW_NONE);
}

UNIT_TEST_WITH(when_cores_begin_to_lack_is_said_by_the_finding_about_them, NULL, destroy)
{
    begin_program();
    uint32_t no_core = add(nodes.work, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    for (uint32_t bin = 0; bin < BINS; bin++) {
        spend(bin, 0.05, 0);
        if (bin >= 50)
            cell(no_core, 0, bin, 3, about(0.5, bin) * BIN_S);
    }
    made.nodes[no_core].metric.no_core = 50 * 0.5 * 3 * BIN_S * S;
    made.nodes[no_core].metric.inverse_busy = 50 * 0.5 * BIN_S * S;
    made.threads[0].core_source = PROFILE_CORE_SCHEDSTAT;
    assert_null(find("changes"));
    const struct finding *finding = find("cores-taken");
    assert_non_null(finding);
    assert_has(finding->evidence, "; time without a core is 0 % of the effort until 25 s, and ");
}

/* One thread a rank in this job: rank i waits in MPI for these parts of a bin. */
static const struct finding *find_in_job(const double before[RANKS], const double after[RANKS])
{
    double work_s[RANKS];
    for (uint32_t i = 0; i < RANKS; i++)
        work_s[i] = BINS * BIN_S * (1 - before[i] / 2 - after[i] / 2);
    make_ranks(BINS * BIN_S, work_s);
    start_timeline(RANKS);
    for (uint32_t bin = 0; bin < BINS; bin++)
        for (uint32_t i = 0; i < RANKS; i++) {
            double waits_s = about(bin < BINS / 2 ? before[i] : after[i], bin) * BIN_S;
            cell(heavy, i, bin, 1, BIN_S - waits_s);
            cell(call, i, bin, 1, waits_s);
        }
    return find("changes");
}

UNIT_TEST_WITH(of_a_job_it_says_which_rank, NULL, destroy)
{
    const struct finding *finding =
        find_in_job((double[RANKS]){0.1, 0.1, 0.1, 0.1}, (double[RANKS]){0.1, 0.1, 0.9, 0.1});
    assert_non_null(finding);
    assert_string_equal(finding->title,
                        "waiting in MPI is 10 % of the effort until 25 s, and 30 % later; most of it in rank 2");
    destroy(NULL);
    finding = find_in_job((double[RANKS]){0.1, 0.1, 0.1, 0.1}, (double[RANKS]){0.5, 0.6, 0.4, 0.5});
    assert_non_null(finding);
    assert_has(finding->title, "; in all 4 ranks");
    destroy(NULL);
    finding = find_in_job((double[RANKS]){0.1, 0.1, 0.1, 0.1}, (double[RANKS]){0.5, 0.6, 0.1, 0.5});
    assert_non_null(finding);
    assert_null(strstr(finding->title, "rank"));
}

/* Of 200 steps from 1000 on, each 0.1 s of all threads, every 25th has 0.3 s of one thread in a checkpoint more. */
static void make_steps(bool periodic)
{
    begin_program();
    made.profile.timeline = (struct timeline){0};
    made.profile.name_count = 1;
    made.names[0] = (struct profile_name){.kind = PROFILE_NODE_PHASE, .flags = PROFILE_NAME_DYNAMIC, .text = "step"};
    uint32_t phase = add(program.main_node, PROFILE_NODE_PHASE, 1);
    for (uint32_t i = 0; i < STEPS; i++) {
        bool longer = periodic ? i % 25 == 3 : i >= STEPS - 8;
        uint32_t step = add(phase, PROFILE_NODE_INSTANCE, 1000 + i), solve = frame(step, KEY(SOLVE));
        run(solve, 0.08, THREADS, THREADS, 0);
        run(frame(solve, KEY(HEAVY)), 0.02, THREADS, THREADS, 0);
        if (longer) {
            uint32_t checkpoint = frame(solve, KEY(ALLOCATOR));
            run(frame(checkpoint, FOREIGN_KEY(COSINE)), 0.1, 1, 1, 0);
            run(frame(checkpoint, KEY(HEAVY)), 0.2, 1, 1, 0); /* most of it, but of all steps */
        }
        double ns = (longer ? 0.4 : 0.1) * S;
        made.probes[made.profile.probe_count++] = (struct merged_probe){
            .node = step,
            .tree = 1,
            .probe = {.calls = 1, .inclusive_ns = ns, .exclusive_ns = ns, .shortest_ns = ns, .longest_ns = ns}};
    }
}

UNIT_TEST_WITH(steps_of_which_every_nth_is_long_say_so, NULL, destroy)
{
    make_steps(true);
    const struct finding *finding = find_titled("periodic", "every 25th step takes 4.0 times as long");
    assert_has(finding->evidence,
               "step [1003], [1028], [1053] and so on: 8 of these 8 are long, and so are 0 of the 192 others");
    assert_has(finding->evidence, "100 % of that in the named code");
    assert_has(finding->place, "allocate  p.c:71 (in cos, libomp)");
    assert_has(finding->advice, "idle meanwhile");
    assert_about(finding->seconds, 8 * 0.3 * THREADS);
    assert_about(finding->gain_s, 8 * 0.3);
    made.profile.header.merged = 4;
    finding = find_titled("periodic", "every 25th step takes 4.0 times as long on average over the ranks");
}

UNIT_TEST_WITH(steps_that_are_long_at_the_end_are_not_periodic, NULL, destroy)
{
    make_steps(false);
    assert_null(find("periodic"));
}

UNIT_MAIN(NULL, NULL)
