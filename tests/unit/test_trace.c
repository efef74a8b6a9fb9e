/* needs: tests/unit/fake_clock.c */
#include <sys/resource.h>

#include "cct/deferred/graft.h"
#include "cct/timeline/tracer.h"
#include "command/profile/read.h"
#include "command/profile/trace.h"
#include "tests/unit/unit_tree.h"

#define PERIOD 5000000ull
#define START  1000000000000ull

static struct tracer traced;
static char error[512];

static int open_trace(void **unused)
{
    memset(&traced, 0, sizeof(traced));
    tracer_limit(64 << 20);
    int result = open_tree(unused);
    if (result == 0)
        arena_header()->traced = 1;
    return result;
}

#define WITH_TRACE(name) UNIT_TEST_WITH(name, open_trace, close_tree)

static void moved(struct tree *of, uint32_t from, uint32_t into)
{
    assert_ptr_equal(of, &tree);
    tracer_moved(&traced, from, into);
}

/* One sample a period, from START on. */
static void sample_at(uint64_t period, uint32_t node, enum profile_time_state state, uint64_t count)
{
    tracer_begin(&traced, START + period * PERIOD, PERIOD, 1000);
    tracer_add(&traced, &tree, node, state, count, (double)(count * PERIOD));
}

static struct trace *read_back(struct profile **profile)
{
    tracer_flush(&traced, &tree);
    *profile = profile_read(unit_path, error, sizeof error);
    struct trace *trace = *profile ? trace_read(*profile, error, sizeof error) : NULL;
    if (!trace)
        fail_msg("%s", error);
    return trace;
}

static void assert_span(const struct trace *trace, const struct profile *profile, size_t number, uint64_t period,
                        uint32_t samples, enum profile_time_state state, uint64_t key)
{
    assert_true(number < trace->lanes[0].span_count);
    const struct trace_span *span = &trace->lanes[0].spans[number];
    assert_int_equal(span->begin_ns, START + period * PERIOD);
    assert_int_equal(span->end_ns, START + (period + samples) * PERIOD);
    assert_int_equal(span->samples, samples);
    assert_int_equal(span->state, state);
    assert_int_equal(profile->nodes[span->node].key, key);
}

WITH_TRACE(samples_are_read_as_they_came)
{
    struct profile *profile;
    uint32_t a = frame(tree.root, 11), b = frame(a, 22);
    sample_at(0, a, PROFILE_TIME_WORK, 1);
    sample_at(1, b, PROFILE_TIME_WORK, 1);
    sample_at(2, b, PROFILE_TIME_WORK, 3);
    sample_at(5, a, PROFILE_TIME_LOCK_WAIT, 1);
    sample_at(6, 0, PROFILE_TIME_IDLE, 1000);
    sample_at(2000, a, PROFILE_TIME_WORK, 1); /* behind a pause */
    struct trace *trace = read_back(&profile);
    assert_int_equal(trace->lane_count, 1);
    assert_int_equal(trace->lanes[0].tree, 1);
    assert_int_equal(trace->lanes[0].span_count, 5);
    assert_int_equal(trace->samples, 1007);
    assert_int_equal(profile->trace_samples, 1007);
    assert_span(trace, profile, 0, 0, 1, PROFILE_TIME_WORK, 11);
    assert_span(trace, profile, 1, 1, 4, PROFILE_TIME_WORK, 22);
    assert_span(trace, profile, 2, 5, 1, PROFILE_TIME_LOCK_WAIT, 11);
    assert_span(trace, profile, 3, 6, 1000, PROFILE_TIME_IDLE, 0);
    assert_span(trace, profile, 4, 2000, 1, PROFILE_TIME_WORK, 11);
    trace_free(trace);
    profile_free(profile);
}

/* Some before their region's context is known, some written by then, and a second time when the outer region's is. */
WITH_TRACE(samples_of_regions_have_the_node_that_stays)
{
    struct profile *profile;
    uint32_t outer = tree_placeholder(&tree, 0), inner = tree_placeholder(&tree, 0);
    uint32_t x = frame(inner, 33);
    tree.moved = moved;
    sample_at(0, x, PROFILE_TIME_WORK, 1);
    sample_at(1, inner, PROFILE_TIME_WORK, 1);
    tracer_flush(&traced, &tree);
    uint32_t y = frame(inner, 44);
    sample_at(2, y, PROFILE_TIME_WORK, 1);
    sample_at(3, x, PROFILE_TIME_WORK, 1);
    assert_true(tree_graft(&tree, inner, frame(outer, 55), &(uint64_t){UINT64_MAX}));
    assert_true(tree_graft(&tree, outer, frame(tree.root, 66), &(uint64_t){UINT64_MAX}));
    for (uint32_t i = 0; i < 100; i++) /* what was recycled is taken by others */
        frame(tree.root, 1000 + i);
    struct trace *trace = read_back(&profile);
    assert_int_equal(trace->lanes[0].span_count, 4);
    const uint64_t keys[] = {33, 55, 44, 33};
    for (size_t i = 0; i < 4; i++) {
        assert_span(trace, profile, i, i, 1, PROFILE_TIME_WORK, keys[i]);
        uint32_t at = trace->lanes[0].spans[i].node;
        at = keys[i] == 55 ? at : profile->nodes[at].parent;
        assert_int_equal(profile->nodes[at].key, 55);
        assert_int_equal(profile->nodes[profile->nodes[at].parent].key, 66);
    }
    trace_free(trace);
    profile_free(profile);
}

WITH_TRACE(what_is_booked_at_a_waits_end_has_its_node_then)
{
    struct profile *profile;
    uint32_t a = frame(tree.root, 11), b = frame(tree.root, 22);
    for (uint32_t written = 0; written < 2; written++) {
        sample_at(10 * written, TRACER_DISPATCH, PROFILE_TIME_OVERHEAD, 1);
        sample_at(10 * written + 1, 0, PROFILE_TIME_IDLE, 2);
        if (written)
            tracer_flush(&traced, &tree);
        tracer_tell(&traced, &tree, TRACER_DISPATCH, (uint32_t)TRACER_CARRIED);
        sample_at(10 * written + 3, TRACER_DISPATCH, PROFILE_TIME_OVERHEAD, 1);
        if (written)
            tracer_flush(&traced, &tree);
        tracer_tell(&traced, &tree, TRACER_DISPATCH, b);
        tracer_tell(&traced, &tree, TRACER_CARRIED, a);
    }
    sample_at(20, TRACER_DISPATCH, PROFILE_TIME_OVERHEAD, 1); /* and one that is never told */
    struct trace *trace = read_back(&profile);
    assert_int_equal(trace->lanes[0].span_count, 7);
    for (size_t i = 0; i < 2; i++) {
        assert_span(trace, profile, 3 * i, 10 * i, 1, PROFILE_TIME_OVERHEAD, 11);
        assert_span(trace, profile, 3 * i + 1, 10 * i + 1, 2, PROFILE_TIME_IDLE, 0);
        assert_span(trace, profile, 3 * i + 2, 10 * i + 3, 1, PROFILE_TIME_OVERHEAD, 22);
    }
    assert_span(trace, profile, 6, 20, 1, PROFILE_TIME_OVERHEAD, 0);
    trace_free(trace);
    profile_free(profile);
}

WITH_TRACE(periods_that_are_cut_or_become_longer_keep_their_times)
{
    struct profile *profile;
    uint32_t a = frame(tree.root, 11);
    tracer_begin(&traced, START + 3, PERIOD, 1000);
    tracer_add(&traced, &tree, a, PROFILE_TIME_WORK, 1, PERIOD - 3);
    sample_at(1, a, PROFILE_TIME_WORK, 2);
    tracer_begin(&traced, START + 3 * PERIOD, 2 * PERIOD, 1000);
    tracer_add(&traced, &tree, a, PROFILE_TIME_WORK, 1, 2 * PERIOD);
    tracer_add(&traced, &tree, a, PROFILE_TIME_IDLE, 17, 17.0 / 3 * PERIOD);
    struct trace *trace = read_back(&profile);
    assert_int_equal(trace->lanes[0].span_count, 2);
    const struct trace_span *span = trace->lanes[0].spans;
    assert_int_equal(span[0].begin_ns, START + 3);
    assert_int_equal(span[0].end_ns, START + 5 * PERIOD);
    assert_int_equal(span[0].samples, 4);
    assert_int_equal(span[1].end_ns, START + 5 * PERIOD + (17 * PERIOD + 1) / 3);
    assert_int_equal(span[1].samples, 17);
    trace_free(trace);
    profile_free(profile);
}

/* Of a trace that is longer than its limit the last part is there, and the rest is counted. */
WITH_TRACE(the_oldest_samples_give_way)
{
    enum { SAMPLES = 150000 };
    struct profile *profile;
    uint64_t random = 7;
    uint32_t nodes[300];
    tracer_limit(4 * PROFILE_CHUNK_BYTES);
    for (uint32_t i = 0; i < 300; i++)
        nodes[i] = frame(tree.root, i + 1);
    uint32_t *came = malloc(SAMPLES * sizeof(*came));
    for (uint32_t i = 0; i < SAMPLES; i++) {
        do
            came[i] = (uint32_t)(unit_random(&random) % 300);
        while (i && came[i] == came[i - 1]);
        sample_at(i, nodes[came[i]], (enum profile_time_state)(came[i] % 8), 1);
        tracer_write(&traced, &tree, START + i * PERIOD, true);
    }
    struct trace *trace = read_back(&profile);
    size_t kept = trace->lanes[0].span_count;
    assert_int_equal(trace->samples, kept);
    assert_int_equal(trace->samples + trace->thinned, SAMPLES);
    assert_true(trace->thinned > SAMPLES / 2 && kept > PROFILE_CHUNK_BYTES / 2);
    for (size_t i = 0; i < kept; i++) {
        uint32_t number = came[SAMPLES - kept + i];
        assert_span(trace, profile, i, SAMPLES - kept + i, 1, (enum profile_time_state)(number % 8), number + 1);
    }
    free(came);
    trace_free(trace);
    profile_free(profile);
}

/* Samples that come in turns, and sometimes again, or behind a gap. */
WITH_TRACE(samples_of_a_few_contexts_take_less_than_a_byte)
{
    enum { SAMPLES = 20000 };
    struct profile *profile;
    uint64_t random = 3, period = 0;
    uint32_t nodes[9], *came = calloc(SAMPLES, sizeof(*came));
    for (uint32_t i = 0; i < 9; i++)
        nodes[i] = frame(tree.root, i + 1);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        came[i] = (uint32_t)(unit_random(&random) % 9);
        period += 1 + (unit_random(&random) % 100 == 0);
        sample_at(period, nodes[came[i]], PROFILE_TIME_WORK, 1);
        tracer_write(&traced, &tree, START + period * PERIOD, true);
    }
    struct trace *trace = read_back(&profile);
    assert_int_equal(trace->samples, SAMPLES);
    assert_true(profile->trace_bytes < SAMPLES * 9 / 10);
    uint32_t at = 0;
    for (size_t i = 0; i < trace->lanes[0].span_count; i++)
        for (uint32_t j = 0; j < trace->lanes[0].spans[i].samples; j++)
            assert_int_equal(profile->nodes[trace->lanes[0].spans[i].node].key, came[at++] + 1);
    assert_int_equal(trace->lanes[0].spans[trace->lanes[0].span_count - 1].end_ns, START + (period + 1) * PERIOD);
    free(came);
    trace_free(trace);
    profile_free(profile);
}

WITH_TRACE(a_trace_without_room_is_counted)
{
    struct profile *profile;
    uint32_t a = frame(tree.root, 11);
    tracer_limit(PROFILE_CHUNK_BYTES - 1);
    sample_at(0, a, PROFILE_TIME_WORK, 5);
    struct trace *trace = read_back(&profile);
    assert_int_equal(trace->samples, 0);
    assert_int_equal(trace->thinned, 5);
    assert_int_equal(trace->lane_count, 0);
    trace_free(trace);
    profile_free(profile);
}

/* Then as where the limit is reached. */
WITH_TRACE(a_full_disk_ends_no_trace)
{
    struct profile *profile;
    uint32_t nodes[2] = {frame(tree.root, 11), frame(tree.root, 22)};
    sample_at(0, nodes[0], PROFILE_TIME_WORK, 1);
    tracer_flush(&traced, &tree);
    unit_limit_files(PROFILE_HEADER_BYTES + arena_header()->chunk_count * PROFILE_CHUNK_BYTES);
    signal(SIGXFSZ, SIG_IGN);
    for (uint32_t i = 1; i < 100000; i++)
        sample_at(i, nodes[i % 2], PROFILE_TIME_WORK, 1), tracer_write(&traced, &tree, START + i * PERIOD, true);
    unit_limit_files(RLIM_INFINITY);
    struct trace *trace = read_back(&profile);
    assert_int_equal(trace->samples + trace->thinned, 100000);
    assert_true(trace->thinned > 0 && trace->samples > 0);
    assert_int_equal(trace->lanes[0].spans[trace->samples - 1].end_ns, START + 100000 * PERIOD);
    trace_free(trace);
    profile_free(profile);
}

/* Whatever stands there is read or refused. */
WITH_TRACE(damaged_traces_are_refused)
{
    uint64_t random = 99;
    uint32_t refused = 0, nodes[4] = {0};
    for (uint32_t i = 1; i < 4; i++)
        nodes[i] = frame(tree.root, i);
    for (uint32_t i = 0; i < 400; i++)
        sample_at(i, nodes[unit_random(&random) % 4], PROFILE_TIME_WORK, 1 + unit_random(&random) % 3);
    tree_node(nodes[3])->key = nodes[3];
    tree_node(nodes[3])->kind = PROFILE_NODE_MOVED; /* to itself */
    struct profile *profile;
    trace_free(read_back(&profile));
    unsigned char *bytes = (unsigned char *)(traced.chunk + 1), kept[32768];
    uint32_t used = traced.chunk->used;
    memcpy(kept, bytes, used);
    for (uint32_t i = 0; i < 300; i++) {
        memcpy(bytes, kept, used);
        for (uint32_t j = 0; j < 3; j++)
            bytes[unit_random(&random) % used] = (unsigned char)unit_random(&random);
        traced.chunk->used = i % 10 ? used : UINT32_MAX;
        *error = '\0';
        struct trace *trace = trace_read(profile, error, sizeof error);
        refused += !trace;
        assert_true(trace || strstr(error, "the end of the trace cannot be read"));
        trace_free(trace);
    }
    assert_true(refused > 10);
    arena_header()->traced = 0;
    profile_free(profile);
    profile = profile_read(unit_path, error, sizeof error);
    assert_null(trace_read(profile, error, sizeof error));
    assert_non_null(strstr(error, "has no trace"));
    profile_free(profile);
}

/* A byte of a trace is two samples: with a node's moves followed for each, a small file takes minutes. More than 10 s of a processor end the test,
 * which needs less than one. */
WITH_TRACE(moves_in_a_circle_are_followed_once)
{
    uint32_t node = frame(tree.root, 1);
    sample_at(0, node, PROFILE_TIME_WORK, 1);
    tree_node(node)->key = node;
    tree_node(node)->kind = PROFILE_NODE_MOVED;
    struct profile *profile;
    trace_free(read_back(&profile));
    uint32_t most = PROFILE_CHUNK_BYTES - sizeof *traced.chunk;
    memset((unsigned char *)(traced.chunk + 1) + traced.chunk->used, PROFILE_TRACE_TWO, most - traced.chunk->used);
    traced.chunk->used = most;
    struct rlimit before, limit;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_CPU, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec + 10;
    setrlimit(RLIMIT_CPU, &limit);
    for (size_t i = 0; i < 100; i++) {
        struct trace *trace = trace_read(profile, error, sizeof error);
        assert_non_null(trace);
        assert_true(trace->samples > most);
        trace_free(trace);
    }
    setrlimit(RLIMIT_CPU, &before);
    profile_free(profile);
}

UNIT_MAIN(NULL, NULL)
