/* needs: tests/fuzz/fake_symbols.c */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <zlib.h>

#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/hpctoolkit.h"
#include "command/export/pprof.pb-c.h"
#include "tests/unit/made_profile.h"

#define KEY(address) PROFILE_KEY(1, (address))

/* main calls f in line 10, f calls itself in line 20; at LEAF, line 3 of twice() inlined in line 30 of f. */
enum { MAIN_10 = 0x1000, F_20 = 0x2000, LEAF = 0x2100 };

/* main > f > twice (1 s), and main > f > f > twice (2 s). */
static int make(void **state)
{
    made_start(state);
    fake_function(KEY(MAIN_10), "main", "m.c", 5, 10);
    fake_function(KEY(F_20), "f", "m.c", 5, 20);
    fake_function(KEY(LEAF), "twice", "t.h", 5, 3);
    fake_function(KEY(LEAF), "f", "m.c", 5, 30);
    uint32_t caller = made_work(0, KEY(MAIN_10), 0);
    made_work(caller, KEY(LEAF), 1);
    made_work(made_work(caller, KEY(F_20), 0), KEY(LEAF), 2);
    made_tables();
    return 0;
}

/* Where a buffer is full just before the footer, the footer finds that the file is, and nothing is left to write when it is closed. */
UNIT_TEST(why_a_file_could_not_be_written_is_known_wherever_that_was)
{
    static const char data[4096];
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){6000, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    for (size_t bytes = 6000; bytes < 13000; bytes += 16) {
        struct hpc_file file;
        unlink("full.db");
        assert_true(hpc_open(&file, ".", "full.db", 0));
        setrlimit(RLIMIT_FSIZE, &limit);
        for (size_t left = bytes; left; left -= left < 1000 ? left : 1000)
            hpc_put(&file, data, left < 1000 ? left : 1000);
        bool good = hpc_close(&file, "ctxt", NULL, 0, "__ctx.db");
        int why = errno;
        setrlimit(RLIMIT_FSIZE, &before);
        assert_false(good);
        assert_int_equal(why, EFBIG);
    }
    unlink("full.db");
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, make, made_finish)

WITH_PROFILE(values_are_rounded_and_bounded)
{
    const struct rows *rows = made.tables.rows;
    struct profile_sums sums = {.samples = 7, .work = 1.6, .overhead = 1e24, .lock_wait = -1e24};
    sums.lock_wait_here = -2.6;
    assert_int_equal(export_value(rows, &sums, METRIC_SAMPLES), 7);
    assert_int_equal(export_value(rows, &sums, METRIC_WORK), 2);
    assert_true(export_value(rows, &sums, METRIC_OVERHEAD) == INT64_MAX);
    assert_true(export_value(rows, &sums, METRIC_LOCK_WAIT) == -INT64_MAX);
    assert_int_equal(export_value(rows, &sums, METRIC_LOCK_WAIT_HERE), -3);
}

static void write_speedscope(FILE *out)
{
    export_speedscope(out, &made.profile, made.tables.rows, METRIC_WORK, false);
}

static void write_folded(FILE *out)
{
    export_folded(out, made.tables.rows, METRIC_WORK);
}

static void write_hatchet(FILE *out)
{
    export_hatchet(out, &(struct export_input){.rows = made.tables.rows});
}

static const char *written(void (*write)(FILE *out))
{
    FILE *out = made_out();
    write(out);
    fclose(out);
    return made_text;
}

static bool put_pprof(FILE *out)
{
    return export_pprof(
        out, &(struct export_input){.profile = &made.profile, .rows = made.tables.rows, .metric = METRIC_WORK});
}

/* Unpacks what the exporter packed, by the library's reader. */
static Perftools__Profiles__Profile *unpacked_pprof(void)
{
    static unsigned char packed[1 << 16], plain[1 << 16];
    FILE *out = fmemopen(packed, sizeof packed, "wb");
    assert_true(put_pprof(out));
    long bytes = ftell(out);
    fclose(out);
    z_stream stream = {.next_in = packed, .avail_in = (uInt)bytes, .next_out = plain, .avail_out = sizeof plain};
    assert_int_equal(inflateInit2(&stream, 31), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t room = stream.total_out;
    inflateEnd(&stream);
    Perftools__Profiles__Profile *profile = perftools__profiles__profile__unpack(NULL, room, plain);
    assert_non_null(profile);
    return profile;
}

/* Samples by page faults: each of the profile's "seconds" is an event. */
static void count_events(void)
{
    static char sample[] = "sample\0perf::PAGE-FAULTS@10";
    made.profile.text = sample;
    made.profile.text_bytes = sizeof sample;
    made.profile.header.period_ns = 10000000000;
    made_tables();
}

WITH_PROFILE(events_are_no_seconds)
{
    count_events();
    const char *text = written(write_speedscope);
    assert_non_null(strstr(text, "\"name\":\"work, events (perf::PAGE-FAULTS)\",\"unit\":\"none\""));
    assert_non_null(strstr(text, "\"endValue\":3}"));
    assert_null(strstr(text, "nanoseconds"));
    assert_string_equal(written(write_folded), "main;f;f;twice 2\nmain;f;twice 1\n");
    assert_non_null(strstr(written(write_hatchet), "\"work (inc)\":3,\"work\":0,"));
}

WITH_PROFILE(events_are_what_pprof_is_told)
{
    count_events();
    Perftools__Profiles__Profile *profile = unpacked_pprof();
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

static const Perftools__Profiles__Location *location_of(const Perftools__Profiles__Profile *profile, uint64_t id)
{
    for (size_t i = 0; i < profile->n_location; i++)
        if (profile->location[i]->id == id)
            return profile->location[i];
    fail_msg("no location %llu", (unsigned long long)id);
    return NULL;
}

WITH_PROFILE(pprof_has_calls_in_their_lines_and_inlined_functions_in_one_place)
{
    Perftools__Profiles__Profile *profile = unpacked_pprof();
    assert_int_equal(profile->n_sample, 2);
    const Perftools__Profiles__Sample *deeper =
        profile->sample[0]->n_location_id > profile->sample[1]->n_location_id ? profile->sample[0] : profile->sample[1];
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

WITH_PROFILE(a_file_that_is_full_is_an_error_of_its_own)
{
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setbuf(full, NULL);
    errno = 0;
    assert_false(put_pprof(full));
    assert_int_equal(errno, ENOSPC);
    fclose(full);
}

UNIT_MAIN(NULL, NULL)
