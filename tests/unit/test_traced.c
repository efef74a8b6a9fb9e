/* needs: tests/fuzz/fake_symbols.c */
#include "command/export/trace_stacks.h"
#include "command/export/traced.h"
#include "tests/unit/made_profile.h"

#define KEY(address) PROFILE_KEY(1, (address))
#define MS           1000000u

enum { MAIN_10 = 0x1000, MAIN_12 = 0x1010, F_20 = 0x2000, G_30 = 0x3000 };

static struct {
    uint32_t f, g, step, in_step;
} node;

/* main calls f in line 10, in no phase, and g in line 12, in a phase and its execution 3. */
static int make(void **state)
{
    made_start(state);
    made.modules[0].flags = PROFILE_MODULE_EXECUTABLE;
    fake_function(KEY(MAIN_10), "main", "m.c", 5, 10);
    fake_function(KEY(MAIN_12), "main", "m.c", 5, 12);
    fake_function(KEY(F_20), "f", "m.c", 19, 20);
    fake_function(KEY(G_30), "g", "m.c", 29, 30);
    made.profile.name_count = 1;
    made.names[0] = (struct profile_name){.kind = PROFILE_NODE_PHASE, .text = "step"};
    node.f = made_work(made_work(0, KEY(MAIN_10), 0), KEY(F_20), 1);
    node.step = made_add(0, PROFILE_NODE_PHASE, 1, (struct profile_sums){0});
    uint32_t third = made_add(node.step, PROFILE_NODE_INSTANCE, 3, (struct profile_sums){0});
    node.in_step = made_work(third, KEY(MAIN_12), 1);
    node.g = made_work(node.in_step, KEY(G_30), 1);
    made_tables();
    return 0;
}

#define WITH_PROFILE(name)                  UNIT_TEST_WITH(name, make, made_finish)
#define SPAN(begin_ms, end_ms, state, node) {(begin_ms) * MS, (end_ms) * MS, node, PROFILE_TIME_##state, 1}
#define LANE(list)                          {.spans = list, .span_count = sizeof(list) / sizeof *(list)}

WITH_PROFILE(an_idle_threads_time_is_shared_by_who_is_busy)
{
    struct trace_span first[] = {SPAN(0, 10, WORK, node.f), SPAN(10, 20, IDLE, 0)};
    struct trace_span second[] = {SPAN(0, 6, IDLE, 0), SPAN(6, 15, LOCK_WAIT, node.g), SPAN(15, 20, IDLE, 0)};
    struct trace_span third[] = {SPAN(0, 20, IDLE, 0)};
    struct trace_lane lanes[] = {LANE(first), LANE(second), LANE(third)};
    struct sharing culprits;
    export_sharing_find(&culprits, made.tables.rows, lanes, 3);
    /* Until 6 ms f alone, for two; until 10 both for one; until 15 the waiting one for two; then nobody is busy. */
    assert_int_equal(culprits.count, 2);
    char *names[] = {export_culprit_name(&culprits.top[0]), export_culprit_name(&culprits.top[1])};
    assert_string_equal(names[0], "f");
    assert_string_equal(names[1], "g (waiting)");
    free(names[0]);
    free(names[1]);
    assert_float_equal(culprits.top[0].ns, (12 + 2) * MS, 1);
    assert_float_equal(culprits.top[1].ns, (2 + 10) * MS, 1);
    assert_float_equal(culprits.nobody_ns, 15 * MS, 1);
    const struct idle_share wanted[] = {
        {{0, 5 * MS}, 0, 5 * MS}, {{6 * MS}, 0, 0}, {{0}, 0, 5 * MS}, {{8 * MS, 7 * MS}, 0, 5 * MS}};
    assert_int_equal(culprits.share_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_float_equal(culprits.share[i].culprit[0], wanted[i].culprit[0], 1);
        assert_float_equal(culprits.share[i].culprit[1], wanted[i].culprit[1], 1);
        assert_float_equal(culprits.share[i].nobody, wanted[i].nobody, 1);
    }
    export_sharing_free(&culprits);
}

WITH_PROFILE(levels_are_averages_over_windows)
{
    struct trace_span first[] = {SPAN(0, 15, WORK, node.f), SPAN(15, 25, IDLE, 0)}, second[] = {SPAN(5, 25, IDLE, 0)};
    struct trace_lane lanes[] = {LANE(first), LANE(second)};
    struct sharing culprits;
    made.profile.header.period_ns = 10 * MS;
    export_sharing_find(&culprits, made.tables.rows, lanes, 2);
    assert_int_equal(culprits.level_count, 3);
    const double busy[] = {1, 0.5, 0}, blamed[] = {0.5, 0.5, 0};
    for (size_t i = 0; i < 3; i++) {
        assert_float_equal(culprits.level[i].busy, busy[i], 1e-9);
        assert_float_equal(culprits.level[i].blamed, blamed[i], 1e-9);
        assert_float_equal(culprits.level[i].culprit[0], blamed[i], 1e-9);
    }
    export_sharing_free(&culprits);
}

WITH_PROFILE(long_spans_are_cut_into_equal_parts)
{
    struct trace_span span = {100, 100 + 1000 * MS + 7, 1, PROFILE_TIME_WORK, 30};
    struct trace_lane lane = {.spans = &span, .span_count = 1};
    uint64_t begin = span.begin_ns, samples = 0;
    uint32_t pieces = export_traced_pieces(&lane, &span);
    assert_int_equal(pieces, 30); /* as many as there were, */
    span.samples = 700;
    pieces = export_traced_pieces(&lane, &span);
    assert_int_equal(pieces, 51); /* or 20 ms each */
    for (uint32_t i = 0; i < pieces; i++) {
        struct trace_span piece = export_traced_piece(&span, pieces, i);
        assert_int_equal(piece.begin_ns, begin);
        assert_in_range(piece.samples, 13, 14);
        samples += piece.samples;
        begin = piece.end_ns;
    }
    assert_int_equal(begin, span.end_ns);
    assert_int_equal(samples, 700);
    span.end_ns = 1ull << 62;
    span.samples = UINT32_MAX;
    assert_in_range(export_traced_pieces(&lane, &span), TRACED_PIECES, TRACED_PIECES + 1);
}

static const char *function(const struct trace_stacks *stacks, uint32_t stack)
{
    return stacks->functions[stacks->frames[stacks->stacks[stack - 1].frame - 1].function - 1]->name;
}

WITH_PROFILE(stacks_have_lines_and_the_state)
{
    struct trace_stacks stacks;
    export_trace_stacks_start(&stacks);
    export_trace_stacks_of(&stacks, made.tables.rows);
    uint32_t leaf = export_trace_stack(&stacks, node.f, PROFILE_TIME_LOCK_WAIT), f = stacks.stacks[leaf - 1].parent,
             caller = stacks.stacks[f - 1].parent;
    assert_string_equal(function(&stacks, leaf), "<lock wait>");
    assert_string_equal(function(&stacks, f), "f");
    assert_string_equal(function(&stacks, caller), "main");
    assert_int_equal(stacks.frames[stacks.stacks[f - 1].frame - 1].line, 20);
    assert_int_equal(stacks.frames[stacks.stacks[caller - 1].frame - 1].line, 10);
    assert_int_equal(stacks.stacks[caller - 1].parent, 0);
    assert_int_equal(export_trace_stack(&stacks, node.f, PROFILE_TIME_WORK), f);
    uint32_t idle = export_trace_stack(&stacks, 0, PROFILE_TIME_IDLE);
    assert_string_equal(function(&stacks, idle), "<idle>");
    assert_int_equal(stacks.stacks[idle - 1].parent, 0);
    assert_string_equal(function(&stacks, export_trace_stack(&stacks, 0, PROFILE_TIME_WORK)), "<program root>");
    size_t functions = stacks.function_count;
    export_trace_stacks_of(&stacks, made.tables.rows); /* another profile with the same functions */
    assert_int_equal(export_trace_stack(&stacks, node.f, PROFILE_TIME_LOCK_WAIT), leaf);
    assert_int_equal(stacks.function_count, functions);
    export_trace_stacks_free(&stacks);
}

WITH_PROFILE(phases_are_from_the_first_sample_in_them_to_the_last)
{
    struct trace_span spans[] = {SPAN(0, 5, WORK, node.f),   SPAN(5, 10, WORK, node.g),        SPAN(10, 20, IDLE, 0),
                                 SPAN(20, 22, WORK, node.f), SPAN(22, 25, WORK, node.in_step), SPAN(25, 30, IDLE, 0),
                                 SPAN(30, 40, WORK, node.f)};
    struct trace_lane lane = LANE(spans);
    struct traced_thread thread = {.lane = &lane};
    struct traced_process process = {.rows = made.tables.rows, .threads = &thread, .thread_count = 1};
    struct traced_phase *phases;
    assert_int_equal(export_traced_phases(&process, &phases), 4);
    const struct traced_phase wanted[] = {{5 * MS, "phase step", true},
                                          {5 * MS, "step [3]", true},
                                          {25 * MS, "step [3]", false},
                                          {25 * MS, "phase step", false}};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(phases[i].name, wanted[i].name);
        assert_int_equal(phases[i].time_ns, wanted[i].time_ns);
        assert_int_equal(phases[i].begins, wanted[i].begins);
    }
    free(phases);
}

WITH_PROFILE(ranks_are_on_one_clock_and_have_numbers_of_their_own)
{
    struct trace_span early[] = {{1000, 2000, 0, PROFILE_TIME_IDLE, 1}},
                      late[] = {{50000, 50500, 0, PROFILE_TIME_IDLE, 1}};
    struct trace_lane lanes[] = {LANE(early), {0}, LANE(late)};
    struct trace traces[] = {{.lanes = lanes, .lane_count = 2}, {.lanes = lanes + 2, .lane_count = 1}};
    struct profile other = made.profile;
    struct rows rows = *made.tables.rows;
    made.profile.header.start_ns = 900;
    made.profile.header.start_realtime_ns = 1000000;
    other.header.start_ns = 40000;
    other.header.start_realtime_ns = 1003000;
    other.header.rank = 1;
    rows.profile = &other;
    struct traced_process processes[] = {{.rows = made.tables.rows, .trace = &traces[0]},
                                         {.rows = &rows, .trace = &traces[1]}};
    struct traced traced;
    export_traced_make(&traced, processes, 2);
    assert_int_equal(traced.start_realtime_ns, 1000000);
    assert_int_equal(early[0].begin_ns, 100);
    assert_int_equal(late[0].begin_ns, 3000 + 10000);
    assert_int_equal(processes[0].thread_count, 1);
    assert_int_equal(processes[0].pid, 1);
    assert_int_equal(processes[1].pid, 2);
    assert_int_equal(processes[1].threads[0].tid, 2);
    assert_non_null(strstr(processes[1].name, "rank 1: "));
    export_traced_free(&traced);
}

UNIT_MAIN(NULL, NULL)
