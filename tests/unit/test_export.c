/* needs: tests/fuzz/fake_symbols.c */
#include "report/rows/rows.h"
#include "report/views/folded.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <zlib.h>

#include "export/export.h"
#include "export/pprof.pb-c.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/merged_tree.h"

#define S            1e9
#define KEY(address) PROFILE_KEY(1, (address))
#define FRAME(n, in, f, al)                                                                                  \
    {                                                                                                        \
        .name = n, .inlined = in, .host_name = "", .file = f, .line = 5, .at_file = f, .at_line = al,        \
        .task_name = ""                                                                                      \
    }

/* main calls f in line 10, f calls itself in line 20; at LEAF, line 3 of twice() inlined in line 30 of f. */
enum { MAIN_10 = 0x1000, F_20 = 0x2000, LEAF = 0x2100 };
static const struct symbol_frame main_10[] = {FRAME("main", false, "m.c", 10)},
                                 f_20[] = {FRAME("f", false, "m.c", 20)},
                                 leaf[] = {FRAME("twice", true, "t.h", 3), FRAME("f", false, "m.c", 30)};

struct made {
    struct profile profile;
    struct merged_node nodes[8];
    struct profile_module module;
    struct symbols *symbols;
    struct rows *rows;
};

static uint32_t add(struct made *made, uint32_t parent, uint64_t key, double work_s)
{
    return merged_add_work(&made->profile, parent, key, work_s);
}

/* main > f > twice (1 s), and main > f > f > twice (2 s). */
static int make(void **state)
{
    struct made *made = calloc(1, sizeof *made);
    fake_symbols_set(KEY(MAIN_10), main_10, 1);
    fake_symbols_set(KEY(F_20), f_20, 1);
    fake_symbols_set(KEY(LEAF), leaf, 2);
    made->profile =
        (struct profile){.nodes = made->nodes, .node_count = 1, .modules = &made->module, .module_count = 1};
    made->profile.header = (struct profile_header){.threads_max = 2, .cores = 2, .finished = 1};
    strcpy(made->module.path, "/bin/app");
    made->nodes[0].kind = PROFILE_NODE_ROOT;
    uint32_t caller = add(made, 0, KEY(MAIN_10), 0);
    add(made, caller, KEY(LEAF), 1);
    add(made, add(made, caller, KEY(F_20), 0), KEY(LEAF), 2);
    made->symbols = symbols_open(NULL, 0);
    made->rows = rows_build(&made->profile, made->symbols);
    *state = made;
    return made->rows ? 0 : -1;
}

static int destroy(void **state)
{
    struct made *made = *state;
    rows_free(made->rows);
    symbols_close(made->symbols);
    fake_symbols_clear();
    free(made);
    return 0;
}

static void values_are_rounded_and_bounded(void **state)
{
    const struct rows *rows = ((struct made *)*state)->rows;
    struct profile_metric sums = {.samples = 7, .work = 1.6, .overhead = 1e24, .lock_wait = -1e24};
    sums.lock_wait_here = -2.6;
    assert_int_equal(export_value(rows, &sums, METRIC_SAMPLES), 7);
    assert_int_equal(export_value(rows, &sums, METRIC_WORK), 2);
    assert_true(export_value(rows, &sums, METRIC_OVERHEAD) == INT64_MAX);
    assert_true(export_value(rows, &sums, METRIC_LOCK_WAIT) == -INT64_MAX);
    assert_int_equal(export_value(rows, &sums, METRIC_LOCK_WAIT_HERE), -3);
}

static char *dot_of(const struct made *made, double least_percent)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_true(export_dot(out, &made->profile, made->rows, METRIC_WORK, least_percent));
    fclose(out);
    return text;
}

static void a_graph_counts_recursion_once(void **state)
{
    char *text = dot_of(*state, 0);
    assert_non_null(strstr(text, "label=\"f\\nm.c:5\\n0 of 3.000 s (100.0 %)\""));
    assert_non_null(strstr(text, "label=\"twice\\nt.h:5\\n3.000 s (100.0 %)\""));
    assert_non_null(strstr(text, "n1 -> n2 [label=\" 3.000 s\"")); /* main calls f, with all that f does */
    assert_non_null(strstr(text, "n2 -> n2 [label=\" 2.000 s\"")); /* f calls f */
    assert_non_null(strstr(text, "n2 -> n3 [label=\" 3.000 s\"")); /* f calls twice, in both ways */
    assert_non_null(strstr(text, "3 of 3 functions"));
    free(text);
}

/* Unpacks what the exporter packed, by the library's reader. */
static Perftools__Profiles__Profile *pprof_of(const struct made *made)
{
    static unsigned char packed[1 << 16], plain[1 << 16];
    FILE *out = fmemopen(packed, sizeof packed, "wb");
    assert_true(export_pprof(out, &made->profile, made->rows, METRIC_WORK));
    long bytes = ftell(out);
    fclose(out);
    z_stream stream = {
        .next_in = packed, .avail_in = (uInt)bytes, .next_out = plain, .avail_out = sizeof plain};
    assert_int_equal(inflateInit2(&stream, 31), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t room = stream.total_out;
    inflateEnd(&stream);
    Perftools__Profiles__Profile *profile = perftools__profiles__profile__unpack(NULL, room, plain);
    assert_non_null(profile);
    return profile;
}

/* What a writer writes of samples by page faults: each of the profile's "seconds" is an event. */
static char *events_of(struct made *made, bool (*write)(FILE *out, const struct made *made))
{
    char *text = NULL;
    size_t bytes;
    static char sample[] = "sample\0perf::PAGE-FAULTS@10";
    made->profile.text = sample;
    made->profile.text_bytes = sizeof sample;
    made->profile.header.period_ns = 10000000000;
    rows_free(made->rows);
    made->rows = rows_build(&made->profile, made->symbols);
    FILE *out = open_memstream(&text, &bytes);
    assert_true(write(out, made));
    fclose(out);
    return text;
}

static bool write_dot(FILE *out, const struct made *made)
{
    return export_dot(out, &made->profile, made->rows, METRIC_WORK, 0);
}

static bool write_speedscope(FILE *out, const struct made *made)
{
    return export_speedscope(out, &made->profile, made->rows, METRIC_WORK, false);
}

static bool write_folded(FILE *out, const struct made *made)
{
    return view_folded(out, made->rows, METRIC_WORK);
}

static bool write_hatchet(FILE *out, const struct made *made)
{
    return export_hatchet(out, made->rows);
}

static void events_are_no_seconds(void **state)
{
    struct made *made = *state;
    char *text = events_of(made, write_dot);
    assert_non_null(strstr(text, "work 3 events (perf::PAGE-FAULTS)"));
    assert_non_null(strstr(text, "label=\"f\\nm.c:5\\n0 of 3 (100.0 %)\""));
    free(text);
    text = events_of(made, write_speedscope);
    assert_non_null(strstr(text, "\"name\":\"work, events (perf::PAGE-FAULTS)\",\"unit\":\"none\""));
    assert_non_null(strstr(text, "\"endValue\":3}"));
    assert_null(strstr(text, "nanoseconds"));
    free(text);
    text = events_of(made, write_folded);
    assert_string_equal(text, "main;f;f;twice 2\nmain;f;twice 1\n");
    free(text);
    text = events_of(made, write_hatchet);
    assert_non_null(strstr(text, "\"work (inc)\":3,\"work\":0,"));
    free(text);
}

static void events_are_what_pprof_is_told(void **state)
{
    struct made *made = *state;
    free(events_of(made, write_folded));
    Perftools__Profiles__Profile *profile = pprof_of(made);
    assert_string_equal(profile->string_table[profile->sample_type[0]->unit], "count");
    assert_string_equal(profile->string_table[profile->sample_type[1]->unit], "events");
    assert_string_equal(profile->string_table[profile->period_type->type], "perf::PAGE-FAULTS");
    assert_string_equal(profile->string_table[profile->period_type->unit], "events");
    assert_int_equal(profile->period, 10);
    int64_t work = 0;
    for (size_t i = 0; i < profile->n_sample; i++)
        work += profile->sample[i]->value[1];
    assert_int_equal(work, 3);
    perftools__profiles__profile__free_unpacked(profile, NULL);
}

static const char *function_name(const Perftools__Profiles__Profile *profile, uint64_t id)
{
    for (size_t i = 0; i < profile->n_function; i++)
        if (profile->function[i]->id == id)
            return profile->string_table[profile->function[i]->name];
    fail_msg("no function %llu", (unsigned long long)id);
    return NULL;
}

static void assert_line(const Perftools__Profiles__Profile *profile, const Perftools__Profiles__Line *line,
                        const char *name, int64_t number)
{
    assert_string_equal(function_name(profile, line->function_id), name);
    assert_int_equal(line->line, number);
}

static const Perftools__Profiles__Location *location_of(const Perftools__Profiles__Profile *profile,
                                                        uint64_t id)
{
    for (size_t i = 0; i < profile->n_location; i++)
        if (profile->location[i]->id == id)
            return profile->location[i];
    fail_msg("no location %llu", (unsigned long long)id);
    return NULL;
}

static void pprof_has_calls_in_their_lines_and_inlined_functions_in_one_place(void **state)
{
    Perftools__Profiles__Profile *profile = pprof_of(*state);
    assert_int_equal(profile->n_sample, 2);
    const Perftools__Profiles__Sample *deeper =
        profile->sample[0]->n_location_id > profile->sample[1]->n_location_id ? profile->sample[0]
                                                                              : profile->sample[1];
    assert_int_equal(deeper->n_location_id, 3);
    const Perftools__Profiles__Location *inner = location_of(profile, deeper->location_id[0]);
    assert_int_equal(inner->n_line, 2);
    assert_line(profile, inner->line[0], "twice", 3);
    assert_line(profile, inner->line[1], "f", 30);
    assert_line(profile, location_of(profile, deeper->location_id[1])->line[0], "f", 20);
    assert_line(profile, location_of(profile, deeper->location_id[2])->line[0], "main", 10);
    assert_int_equal(deeper->value[1], 2 * S);
    assert_int_equal(inner->mapping_id, 1);
    perftools__profiles__profile__free_unpacked(profile, NULL);
}

static void a_file_that_is_full_is_an_error_of_its_own(void **state)
{
    const struct made *made = *state;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setbuf(full, NULL);
    errno = 0;
    assert_false(export_pprof(full, &made->profile, made->rows, METRIC_WORK));
    assert_int_equal(errno, ENOSPC);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_are_rounded_and_bounded, make, destroy),
        cmocka_unit_test_setup_teardown(a_graph_counts_recursion_once, make, destroy),
        cmocka_unit_test_setup_teardown(events_are_no_seconds, make, destroy),
        cmocka_unit_test_setup_teardown(events_are_what_pprof_is_told, make, destroy),
        cmocka_unit_test_setup_teardown(pprof_has_calls_in_their_lines_and_inlined_functions_in_one_place,
                                        make, destroy),
        cmocka_unit_test_setup_teardown(a_file_that_is_full_is_an_error_of_its_own, make, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
