/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/made_profile.h"

#include <errno.h>

#include "command/files/csv.h"
#include "command/views/text.h"
#include "command/views/summary.h"

#define SERIAL PROFILE_KEY(1, 0x1000)
#define HOLDER PROFILE_KEY(1, 0x2000)
#define BINS   80
#define NS     100000000ull /* a lane's bin; a context's is four of them */
#define START  5000000000ull

static double ns[3][BINS][PROFILE_TIME_STATES];
static struct timeline_lane lanes[3];
static struct timeline_cell cells[4];

static void fill(size_t lane, size_t from, size_t end, enum profile_time_state state)
{
    for (size_t i = from; i < end; i++)
        ns[lane][i][state] = (double)NS;
}

/* Of 8 s: the first half is serial; in the second one two threads work, the third begins late, is stopped, ends early and waits for a lock. */
static int make(void **state)
{
    made_start(state);
    memset(ns, 0, sizeof ns);
    made.profile.header.threads_max = 3;
    made.profile.header.start_ns = START - 1000000000;
    made.profile.header.tool_start_ns = START;
    made.profile.header.end_ns = START + BINS * NS;
    made.profile.header.period_ns = 5000000;
    fake_function(SERIAL, "serial", "/s/a.c", 3, 20);
    fake_function(HOLDER, "holder", "/s/a.c", 30, 33);
    uint32_t serial = made_work(0, SERIAL, 4), holder = made_work(0, HOLDER, 4);
    made.nodes[holder].metric.lock_wait = 3e8;
    for (size_t i = 0; i < 3; i++) {
        made.threads[i] = (struct profile_thread){.kind = i ? PROFILE_THREAD_WORKER : PROFILE_THREAD_INITIAL,
                                                  .tree = 1 + i,
                                                  .begin_ns = START,
                                                  .end_ns = START + BINS * NS};
        lanes[i] = (struct timeline_lane){
            .tree = 1 + i, .thread = (uint32_t)i, .threads = 1, .cell_lane = (uint32_t)i, .ns = ns[i]};
    }
    made.profile.thread_count = 3;
    made.threads[2].begin_ns = START + 20 * NS;
    made.threads[2].end_ns = START + 60 * NS;
    fill(0, 0, 80, PROFILE_TIME_WORK);
    fill(1, 0, 40, PROFILE_TIME_IDLE);
    fill(1, 40, 60, PROFILE_TIME_WORK);                  /* and then nothing is known of it */
    ns[2][39][PROFILE_TIME_STOPPED] = 20.0 * (double)NS; /* one sample, that came when it went on */
    fill(2, 40, 60, PROFILE_TIME_LOCK_WAIT);
    cells[0] = (struct timeline_cell){
        .node = serial, .bin = 0, .value = {.own = 4e8f, .inverse_busy = 4e8f, .shared_idle = 4e8f}};
    cells[1] = (struct timeline_cell){
        .node = serial, .bin = 9, .value = {.own = 4e8f, .inverse_busy = 4e8f, .shared_idle = 4e8f}};
    cells[2] =
        (struct timeline_cell){.node = holder, .bin = 10, .value = {.lock_wait = 2e8f, .inverse_busy = 2e8f / 3}};
    cells[3] = (struct timeline_cell){
        .node = holder, .lane = 1, .bin = 10, .value = {.lock_wait = 1e8f, .inverse_busy = 1e8f / 3}};
    made.profile.timeline = (struct timeline){.origin_ns = START,
                                              .bin_ns = 4 * NS,
                                              .lane_bin_ns = NS,
                                              .bins = 20,
                                              .lane_bins = BINS,
                                              .lanes = lanes,
                                              .lane_count = 3,
                                              .cells = cells,
                                              .cell_count = 4};
    return 0;
}

#define WITH_TIMELINE(name) UNIT_TEST_WITH(name, make, made_finish)

static void assert_text(const char *expected)
{
    if (!strstr(made_text, expected))
        fail_msg("\"%s\" is not in\n%s", expected, made_text);
}

static void show(size_t columns, bool all, bool culprits)
{
    const struct view_style style = {.title = "Timeline", .columns = columns, .all = all};
    const struct rows *rows = made_tables();
    FILE *out = made_out();
    (culprits ? view_text_culprits : view_text_timeline)(out, &made.profile, rows, &style);
    fclose(out);
}

WITH_TIMELINE(each_thread_is_a_line_of_states_with_gaps_that_have_names)
{
    show(67, false, false); /* 40 columns of time */
    assert_text("\n0 initial           100 % ########################################\n");
    assert_text("\n1 worker             33 % ....................##########??????????\n");
    assert_text("\n2 worker              0 % not begun xxxxxxxxxxllllllllll   ended  \n");
    assert_text("\n                               |2 s      |4        |6        |8\n");
    assert_text("# work  . idle  l lock wait  x stopped\n");
    show(107, false, false);
    assert_text("%     not begun     xxxxx stopped xxxxxl");
    assert_text("     ended      ");
    assert_text("?? not sampled ??");
    show(24, false, false);
    assert_text("0 initial           100 % ########\n");
    show(200, false, false);
    assert_text(
        "% ################################################################################\n"); /* no more columns than bins */
    made.profile.header.end_ns -= 2 * NS;
    show(67, false, false);
    assert_text("\n                               |2 s      |4         |6        |8\n");
}

WITH_TIMELINE(an_axis_whose_steps_are_too_small_for_its_seconds_ends)
{
    made.profile.timeline.origin_ns = made.profile.header.start_ns + (1ull << 62);
    made.profile.timeline.lane_bin_ns = 16;
    made.profile.timeline.bin_ns = 64;
    show(107, false, false);
    assert_in_range(strlen(made_text), 1, 4000);
}

WITH_TIMELINE(all_ranks_of_a_job_may_be_one_line)
{
    static struct profile_rank ranks[3] = {{.rank = 0}, {.rank = 1}, {.rank = 2}};
    made.profile.ranks = ranks;
    made.profile.rank_count = made.profile.header.ranks = 3;
    for (size_t i = 0; i < 3; i++)
        made.threads[i].rank_record = i + 1;
    lanes[0].tree = 0;
    lanes[0].rank_record = 1;
    lanes[0].threads = 3;
    made.profile.timeline.lane_count = 1;
    made.profile.timeline.level = TIMELINE_ONE;
    show(67, false, false);
    assert_text(
        "\n0 to 2              100 % ##########???? not sampled ???##########\n"); /* where there are three threads, two are silent */
}

WITH_TIMELINE(below_the_threads_is_who_was_blamed_when)
{
    show(67, false, false);
    assert_text("# is 2.0 waiting threads\n    blame code\n");
    assert_text("\n     1.90 <all>");
    assert_text("\n     1.60 serial  a.c:20  ##                ##\n");
    assert_text("\n     0.30 holder  a.c:33                      --\n");
    show(160, false, true);
    assert_text("\n idleness lock wait code\n");
    const uint64_t many = PROFILE_KEY(1, 0x4000);
    fake_function(many, "holder_of_many", "/s/a.c", 40, 43);
    cells[2].node = cells[3].node = made_work(0, many, 4);
    show(67, false, false);
    assert_text("\n     0.30 holder_of_many                      --\n"); /* its line has no room */
    made.profile.timeline.cell_count = 0;
    show(67, false, false);
    assert_text("No code was blamed for even a thousandth of the time.");
}

WITH_TIMELINE(threads_beyond_a_screen_are_shown_in_groups)
{
    static struct timeline_lane many[70];
    for (size_t i = 0; i < 70; i++)
        many[i] = lanes[i % 2];
    made.profile.timeline.lanes = many;
    made.profile.timeline.lane_count = 70;
    show(67, false, false);
    size_t lines = 0;
    for (const char *at = made_text; (at = strstr(at, " % ")); at++)
        lines++;
    assert_int_equal(lines, 24); /* of 3 */
    show(67, true, false);
    lines = 0;
    for (const char *at = made_text; (at = strstr(at, " % ")); at++)
        lines++;
    assert_int_equal(lines, 70);
}

WITH_TIMELINE(executions_of_phases_mark_the_axis)
{
    strcpy(made.names[0].text, "step");
    strcpy(made.names[1].text, "setup");
    made.names[0].kind = made.names[1].kind = PROFILE_NODE_PHASE;
    made.profile.name_count = 2;
    uint32_t phase = made_add(0, PROFILE_NODE_PHASE, 1, (struct profile_sums){0}),
             setup = made_add(0, PROFILE_NODE_PHASE, 2, (struct profile_sums){0});
    for (uint64_t i = 0; i < 2; i++) /* by two threads */
        made.probes[made.profile.probe_count++] =
            (struct merged_probe){.node = setup,
                                  .probe = {.calls = 1,
                                            .first_begin_ns = START + 400000000 - i * 200000000,
                                            .last_end_ns = START + 2000000000 - i * 200000000}};
    for (uint32_t i = 100; i-- > 0;) { /* in no order */
        struct merged_probe *instance = &made.probes[made.profile.probe_count++];
        instance->node = made_add(phase, PROFILE_NODE_INSTANCE, i, (struct profile_sums){0});
        instance->probe = (struct profile_probe){
            .calls = 1, .first_begin_ns = START + i * 80000000ull, .last_end_ns = START + (i + 1) * 80000000ull};
    }
    show(67, false, false);
    assert_text(
        "\nstep, every 10th          |   |   |   |   |   |   |   |   |   |\nsetup                      ==========\n");
}

WITH_TIMELINE(scripts_get_seconds_by_bin)
{
    FILE *out = made_out();
    write_timeline_csv(out, &made.profile);
    fclose(out);
    assert_memory_equal(
        made_text, "rank,thread,begin_s,end_s,work,overhead,idle,lock_wait,mpi_wait,no_core,blocked,stopped\r\n", 89);
    assert_text("\n,0,1.000000,1.100000,0.100000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000\r\n");
    assert_text("\n,2,4.900000,5.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,2.000000,2.000000\r\n");
    const struct rows *rows = made_tables();
    struct culprits culprits = culprits_gather(&made.profile, rows, false);
    out = made_out();
    write_culprits_csv(out, &made.profile, rows, &culprits);
    fclose(out);
    char line[3][80];
    const uint32_t serial = (uint32_t)(made_row(rows, ROW_PROCEDURE, "serial") - rows->row),
                   holder = (uint32_t)(made_row(rows, ROW_PROCEDURE, "holder") - rows->row);
    snprintf(line[0], sizeof *line, "lock_wait\r\n1.000000,1.400000,%u,serial,0.800000,0.000000\r\n", serial);
    snprintf(line[1], sizeof *line, "\n4.600000,5.000000,%u,serial,0.800000,0.000000\r\n", serial);
    snprintf(line[2], sizeof *line, "\n5.000000,5.400000,%u,holder,0.000000,0.300000\r\n", holder);
    for (size_t i = 0; i < 3; i++)
        assert_text(line[i]);
    culprits_free(&culprits);
}

WITH_TIMELINE(culprits_follow_the_environment)
{
    struct rows *rows = made_tables();
    rows->shared = true;
    struct timeline_cell serial = cells[1]; /* in no order, and all but one in one bin */
    cells[1] = cells[3];
    cells[3] = cells[2];
    cells[2] = serial;
    cells[1].bin = cells[3].bin = 0;
    struct culprits culprits = culprits_gather(&made.profile, rows, false);
    assert_int_equal(culprits.count, 2);
    assert_true(culprits.culprit[0].count == 2 && culprits.bin[culprits.culprit[0].first].bin == 0);
    assert_true(culprits.culprit[1].count == 1 && culprits.bin[culprits.culprit[1].first].bin == 0);
    assert_true(culprits.culprit[0].idleness > 0.7999 && culprits.culprit[0].idleness < 0.8001);
    assert_true(culprits.culprit[1].idleness == 0 && culprits.culprit[1].lock_wait > 0.2999);
    culprits_free(&culprits);
}

/* A context may have nothing of its own but what waited for a lock, which the lock's node has. */
WITH_TIMELINE(blame_for_a_lock_alone_is_its_contexts)
{
    uint32_t handoff = made_add(cells[2].node, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_HANDOFF, (struct profile_sums){0});
    made_add(handoff, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x3000),
             (struct profile_sums){.lock_wait = 3e8});
    cells[2].node = cells[3].node = handoff;
    const struct rows *rows = made_tables();
    struct culprits culprits = culprits_gather(&made.profile, rows, false);
    assert_int_equal(culprits.count, 2);
    assert_string_equal(rows->row[culprits.culprit[1].row].label->name, "<lock handoff>");
    culprits_free(&culprits);
    show(160, false, true);
    assert_text("     0.30 <lock handoff>  < holder");
}

WITH_TIMELINE(the_same_code_in_numbered_executions_is_one_culprit)
{
    strcpy(made.names[0].text, "step");
    made.names[0].kind = PROFILE_NODE_PHASE;
    made.profile.name_count = 1;
    uint32_t phase = made_add(0, PROFILE_NODE_PHASE, 1, (struct profile_sums){0});
    for (uint32_t i = 0; i < 2; i++)
        cells[i].node = made_work(made_add(phase, PROFILE_NODE_INSTANCE, i, (struct profile_sums){0}), SERIAL, 4);
    show(160, false, true);
    assert_text("     1.60      0.00 serial  a.c:20  < phase step ");
    struct culprits each = culprits_gather(&made.profile, made_tables(), false);
    assert_int_equal(each.count, 3);
    culprits_free(&each);
}

WITH_TIMELINE(what_is_called_of_others_code_is_the_callers)
{
    const uint64_t sine = PROFILE_KEY(1, 0x3000);
    fake_function(sine, "sin", "/usr/include/math.h", 1, 2);
    cells[2].node = cells[3].node = made_work(cells[0].node, sine, 4);
    show(160, false, true);
    assert_text("     1.60      0.30 serial  a.c:");
}

WITH_TIMELINE(samples_that_a_trace_lacks_are_the_limits_or_the_disks)
{
    struct profile_header *header = &made.profile.header;
    header->traced = 1;
    header->trace_thinned = 5;
    header->trace_limit = 1 << 20;
    FILE *out = made_out();
    view_text_trace_note(out, &made.profile);
    fclose(out);
    assert_text("5 more had no room within the limit of 1.00 MiB");
    header->room_error = ENOSPC;
    out = made_out();
    view_text_trace_note(out, &made.profile);
    fclose(out);
    assert_text("more had no room, because the file could not grow (No space left on device)\n");
}

UNIT_MAIN(NULL, NULL)
