/* needs: tests/unit/fake_clock.c tests/fuzz/fake_symbols.c */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "cct/deferred/graft.h"
#include "cct/timeline/tracer.h"
#include "command/export/stacks.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/unit_tree.h"

#define PERIOD 5000000ull
#define START  1000000000000ull
#define TREES  3

static struct tree others[TREES];
static struct tracer traced[TREES];
static struct trace_tail tail;
static int file = -1;
static struct symbols *symbols;
static FILE *out;
static char *text;
static size_t bytes;

static struct tree *tree_at(size_t number)
{
    return number == 0 ? &tree : &others[number];
}

static struct symbols *made_symbols(void *unused)
{
    (void)unused;
    trace_tail_tables(&tail);
    return symbols;
}

static int open_log(void **unused)
{
    memset(traced, 0, sizeof(traced));
    tracer_limit(64 << 20);
    if (open_tree(unused) != 0)
        return -1;
    arena_header()->start_ns = START;
    arena_header()->traced = 1;
    for (uint32_t i = 0; i < TREES; i++) {
        uint32_t number;
        struct profile_thread *thread = arena_record(PROFILE_CHUNK_THREAD, &number);
        *thread = (struct profile_thread){.kind = PROFILE_THREAD_WORKER, .begin_ns = START + i, .tree = i + 1};
        if (i && !tree_init(&others[i], i + 1))
            return -1;
    }
    fake_symbols_clear();
    symbols = symbols_open(NULL, 0);
    file = open(unit_path, O_RDONLY);
    trace_tail_open(&tail, file);
    out = open_memstream(&text, &bytes);
    return 0;
}

static int close_log(void **unused)
{
    fclose(out);
    free(text);
    trace_tail_close(&tail);
    close(file);
    symbols_close(symbols);
    return close_tree(unused);
}

#define WITH_LOG(name) UNIT_TEST_WITH(name, open_log, close_log)

static void sample_at(size_t number, uint64_t period, uint32_t node, enum profile_time_state state, uint64_t count)
{
    tracer_begin(&traced[number], START + period * PERIOD, PERIOD, 1000);
    tracer_add(&traced[number], tree_at(number), node, state, count, (double)(count * PERIOD));
}

static void flush_all(void)
{
    for (size_t i = 0; i < TREES; i++)
        tracer_flush(&traced[i], tree_at(i));
}

static uint64_t write_new(struct stacks *stacks)
{
    struct trace_sample sample;
    uint64_t count = 0;
    assert_true(trace_tail_refresh(&tail));
    for (; trace_tail_next(&tail, &sample); count++)
        assert_true(export_stacks_put(stacks, &sample));
    fflush(out);
    return count;
}

static void assert_log(enum stacks_clock clock, const char *expected)
{
    struct stacks *stacks = export_stacks_new(out, &tail, clock, made_symbols, NULL);
    flush_all();
    write_new(stacks);
    export_stacks_free(stacks);
    assert_string_equal(text, expected);
}

static void make_two_threads(void)
{
    fake_function(1, "main", "a.c", 1, 4);
    fake_function(2, "inlined", "b.h", 1, 7);
    fake_function(2, "caller", "a.c", 20, 23);
    uint32_t outer = frame(tree.root, 1), inner = frame(outer, 2);
    sample_at(0, 0, inner, PROFILE_TIME_WORK, 2);
    sample_at(0, 2, outer, PROFILE_TIME_NO_CORE, 1);
    sample_at(0, 5, outer, PROFILE_TIME_OVERHEAD, 1); /* behind a gap */
    sample_at(1, 1, 0, PROFILE_TIME_IDLE, 2);
}

WITH_LOG(a_line_a_sample_in_times_order)
{
    make_two_threads();
    assert_log(STACKS_WALL, "0.002500\t0\t0\twork\tinlined:b.h:7:0x2;caller:a.c:23:0x2;main:a.c:4:0x1\n"
                            "0.007500\t0\t0\twork\tinlined:b.h:7:0x2;caller:a.c:23:0x2;main:a.c:4:0x1\n"
                            "0.007500\t0\t1\tidle\t\n"
                            "0.012500\t0\t0\tno_core\tmain:a.c:4:0x1\n"
                            "0.012500\t0\t1\tidle\t\n"
                            "0.027500\t0\t0\toverhead\tmain:a.c:4:0x1\n");
}

WITH_LOG(by_the_processors_time_there_are_samples_of_threads_that_ran_alone)
{
    make_two_threads();
    arena_header()->in_job = 1;
    arena_header()->rank = 7;
    assert_log(STACKS_CPU, "0.002500\t7\t0\twork\tinlined:b.h:7:0x2;caller:a.c:23:0x2;main:a.c:4:0x1\n"
                           "0.007500\t7\t0\twork\tinlined:b.h:7:0x2;caller:a.c:23:0x2;main:a.c:4:0x1\n"
                           "0.012500\t7\t0\toverhead\tmain:a.c:4:0x1\n");
}

static struct symbols *symbols_without_an_error(void *unused)
{
    made_symbols(unused);
    errno = 0;
    return symbols;
}

/* Wherever in its line: what looks for its names comes between. */
WITH_LOG(a_line_that_cannot_be_written_has_its_errno)
{
    struct trace_sample sample;
    make_two_threads();
    flush_all();
    assert_true(trace_tail_refresh(&tail) && trace_tail_next(&tail, &sample));
    char buffer[200], before[sizeof buffer] = "";
    for (size_t used = 0; used < sizeof buffer; used++) {
        FILE *full = fopen("/dev/full", "w");
        setvbuf(full, buffer, _IOFBF, sizeof buffer);
        assert_int_equal(fwrite(before, 1, used, full), used);
        struct stacks *stacks = export_stacks_new(full, &tail, STACKS_WALL, symbols_without_an_error, NULL);
        for (errno = 0; export_stacks_put(stacks, &sample); errno = 0)
            ;
        assert_int_equal(errno, ENOSPC);
        export_stacks_free(stacks);
        fclose(full);
    }
}

WITH_LOG(no_byte_of_a_name_breaks_a_line)
{
    char every[256];
    for (int i = 0; i < 255; i++)
        every[i] = (char)(i + 1);
    every[255] = '\0';
    fake_function(1, every, every, 1, 9);
    fake_function(2, "std::vector<int, a::b>::at", "", 0, 0);
    sample_at(0, 0, frame(frame(tree.root, 2), 1), PROFILE_TIME_WORK, 1);
    struct stacks *stacks = export_stacks_new(out, &tail, STACKS_WALL, made_symbols, NULL);
    flush_all();
    assert_int_equal(write_new(stacks), 1);
    export_stacks_free(stacks);
    char *stack = strrchr(text, '\t') + 1, *second = strchr(stack, ';');
    assert_string_equal(second, ";std::vector<int, a::b>::at:?:0:0x2\n");
    assert_non_null(strstr(stack, "\\x01\\x02"));
    assert_non_null(strstr(stack, "\\x09\\x0a\\x0b"));
    assert_non_null(strstr(stack, "9:\\x3b<"));
    assert_non_null(strstr(stack, "[\\x5c]"));
    assert_non_null(strstr(stack, "\\xff:"));
    assert_non_null(strstr(stack, "9\\x3a\\x3b<")); /* in the file a colon, too: the last three of a frame divide it */
    for (const char *at = text; *at; at++)
        assert_true(((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f) || *at == '\t' ||
                    (*at == '\n' && !at[1]));
}

WITH_LOG(ten_thousand_frames_are_a_line)
{
    const struct symbol_frame *unused;
    uint32_t node = tree.root;
    size_t expected = 0;
    for (uint64_t i = 1; i <= 10000; i++) {
        node = frame(node, i);
        expected += 3 * symbols_lookup(symbols, i, &unused); /* those that are inlined, too */
    }
    sample_at(0, 0, node, PROFILE_TIME_WORK, 3);
    struct stacks *stacks = export_stacks_new(out, &tail, STACKS_WALL, made_symbols, NULL);
    flush_all();
    assert_int_equal(write_new(stacks), 3);
    export_stacks_free(stacks);
    size_t frames = 3;
    for (const char *at = text; *at; at++)
        frames += *at == ';';
    assert_int_equal(frames, expected);
}

/* The context of a region is known at its end: who reads before has what is inside. */
WITH_LOG(a_region_that_has_not_ended_has_its_own_frames)
{
    fake_function(1, "main", "a.c", 1, 4);
    fake_function(2, "fork", "a.c", 1, 6);
    fake_function(3, "body", "a.c", 1, 8);
    struct stacks *stacks = export_stacks_new(out, &tail, STACKS_WALL, made_symbols, NULL);
    uint32_t region = tree_placeholder(&tree, 2), body = frame(region, 3);
    sample_at(0, 0, body, PROFILE_TIME_WORK, 1);
    flush_all();
    assert_int_equal(write_new(stacks), 1);
    assert_string_equal(text, "0.002500\t0\t0\twork\tbody:a.c:8:0x3;fork:a.c:6:0x2;<unresolved>:?:0:0x0\n");
    assert_true(tree_graft(&tree, region, frame(frame(tree.root, 1), 2), &(uint64_t){UINT64_MAX}));
    sample_at(0, 1, frame(frame(frame(tree.root, 1), 2), 3), PROFILE_TIME_WORK, 1);
    flush_all();
    size_t before = bytes;
    assert_int_equal(write_new(stacks), 1);
    assert_string_equal(text + before, "0.007500\t0\t0\twork\tbody:a.c:8:0x3;fork:a.c:6:0x2;main:a.c:4:0x1\n");
    export_stacks_free(stacks);
    /* Who comes later has all of it. */
    trace_tail_close(&tail);
    trace_tail_open(&tail, file);
    before = bytes;
    stacks = export_stacks_new(out, &tail, STACKS_WALL, made_symbols, NULL);
    assert_int_equal(write_new(stacks), 2);
    export_stacks_free(stacks);
    assert_string_equal(text + before, "0.002500\t0\t0\twork\tbody:a.c:8:0x3;fork:a.c:6:0x2;main:a.c:4:0x1\n"
                                       "0.007500\t0\t0\twork\tbody:a.c:8:0x3;fork:a.c:6:0x2;main:a.c:4:0x1\n");
}

/* Of random samples, as many as fill several chunks, read now and then: each once, and each thread's in order. */
WITH_LOG(what_is_read_while_it_grows_is_all_of_it_and_nothing_twice)
{
    uint64_t added = 0, found = 0, at[TREES] = {0};
    uint64_t last_ns[TREES] = {0};
    struct trace_sample sample;
    srand(7);
    for (int i = 0; i < 60000; i++) {
        size_t number = (size_t)(rand() % TREES);
        uint64_t count = rand() % 8 ? 1 : 1 + (uint64_t)(rand() % 1000);
        at[number] += rand() % 50 ? 0 : 3;
        sample_at(number, at[number],
                  tree_child(tree_at(number), tree_at(number)->root, PROFILE_NODE_FRAME, 1 + (uint64_t)(rand() % 5000)),
                  (enum profile_time_state)(rand() % 7), count);
        at[number] += count;
        added += count;
        if (rand() % 500 == 0)
            tracer_flush(&traced[number], tree_at(number));
        if (rand() % 700 && i != 59999)
            continue;
        if (i == 59999)
            flush_all();
        assert_true(trace_tail_refresh(&tail));
        /* Who looks may leave some for the next time. */
        for (; (i == 59999 || rand() % 1000) && trace_tail_next(&tail, &sample); found++) {
            assert_true(sample.thread < TREES && sample.time_ns > last_ns[sample.thread]);
            last_ns[sample.thread] = sample.time_ns;
        }
    }
    assert_int_equal(found, added);
    assert_int_equal(trace_tail_missing(&tail) + tail.damaged, 0);
}

/* A limit of one chunk for each thread: what is written over before it is read is missing, and what comes then is whole. */
WITH_LOG(what_the_limit_takes_first_is_missing_and_counted)
{
    struct trace_sample sample;
    uint64_t found = 0, added = 0, last_ns = 0;
    tracer_limit(2 * PROFILE_CHUNK_BYTES);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 20000; i++, added++)
            sample_at(0, added, frame(tree.root, 1 + added * 7 % 400), PROFILE_TIME_WORK, 1);
        flush_all();
        assert_true(trace_tail_refresh(&tail));
        for (; trace_tail_next(&tail, &sample); found++) {
            assert_true(sample.time_ns > last_ns);
            last_ns = sample.time_ns;
        }
        assert_int_equal(last_ns, START + (added - 1) * PERIOD + PERIOD / 2);
    }
    assert_int_equal(tail.damaged, 0);
    assert_in_range(found, 20, added - 1);
    assert_true(trace_tail_refresh(&tail));
    assert_int_equal(trace_tail_missing(&tail), added - found);
}

/* Whatever stands in it: an end, no fault, and no more samples than a chunk says that it has. */
WITH_LOG(contexts_in_a_circle_are_not_known)
{
    fake_function(1, "main", "a.c", 1, 4);
    uint32_t outer = frame(tree.root, 1), inner = frame(outer, 2), moved = frame(outer, 3), own = frame(outer, 4);
    tree_node(outer)->parent = inner;
    tree_node(moved)->kind = PROFILE_NODE_MOVED;
    tree_node(moved)->key = moved;
    tree_node(own)->parent = own;
    const uint32_t nodes[] = {inner, outer, moved, own, inner};
    for (uint32_t i = 0; i < 5; i++)
        sample_at(0, i, nodes[i], PROFILE_TIME_WORK, 1);
    assert_log(STACKS_WALL, "0.002500\t0\t0\twork\t<unresolved>:?:0:0x0\n"
                            "0.007500\t0\t0\twork\t<unresolved>:?:0:0x0\n"
                            "0.012500\t0\t0\twork\t<unresolved>:?:0:0x0\n"
                            "0.017500\t0\t0\twork\t<unresolved>:?:0:0x0\n"
                            "0.022500\t0\t0\twork\t<unresolved>:?:0:0x0\n");
}

WITH_LOG(a_damaged_trace_ends)
{
    struct trace_sample sample;
    for (int i = 0; i < 3000; i++)
        sample_at(0, (uint64_t)i * 2, frame(tree.root, 1 + (uint64_t)i % 300), PROFILE_TIME_WORK, 1);
    flush_all();
    uint32_t chunk_no = traced[0].newest;
    unsigned char *chunk = arena_unit(chunk_no * PROFILE_UNITS_PER_CHUNK), good[PROFILE_CHUNK_BYTES];
    memcpy(good, chunk, sizeof good);
    srand(3);
    for (int i = 0; i < 300; i++) {
        memcpy(chunk, good, sizeof good);
        for (int byte = 0; byte < 1 + i % 20; byte++)
            chunk[(byte % 2 ? 8 : 32) + rand() % 4000] = (unsigned char)rand();
        struct profile_trace_chunk *header = (void *)chunk;
        header->samples %= 100000;
        trace_tail_close(&tail);
        trace_tail_open(&tail, file);
        struct stacks *stacks = export_stacks_new(out, &tail, STACKS_WALL, made_symbols, NULL);
        assert_true(trace_tail_refresh(&tail));
        while (trace_tail_next(&tail, &sample))
            if (rand() % 100 == 0)
                assert_true(export_stacks_put(stacks, &sample));
        export_stacks_free(stacks);
    }
}

UNIT_MAIN(NULL, NULL)
