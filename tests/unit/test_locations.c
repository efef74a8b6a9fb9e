/* needs: tests/fuzz/profile_builder.c tests/fuzz/fake_symbols.c */
#include "cct/profile_tree.h"
#include "tests/unit/unit.h"

#include <math.h>

#include "command/export/locations.h"
#include "command/export/measures.h"
#include "command/profile/job.h"
#include "command/profile/read.h"
#include "command/rows/rows.h"
#include "command/symbols/symbols.h"
#include "tests/fuzz/profile_builder.h"

#define TREES 3
#define RANKS 2

static char error[512];
static char path[RANKS][64];
static const char *const paths[RANKS] = {path[0], path[1]};

static struct profile *profile;
static struct symbols *symbols;
static struct rows *rows;

/* Threads and numbers of contexts differ, and so does the time in a phase. */
static void write_rank(uint32_t rank, bool of_job)
{
    struct profile_builder builder;
    builder_example(&builder, TREES, 300 + 50 * rank, 5);
    struct profile_header *header = builder_header(&builder);
    header->threads_max = TREES + rank;
    header->ranks = of_job ? RANKS : 0;
    header->rank = rank;
    header->pid = (int32_t)(100 + rank);
    memcpy(memmem(builder.bytes, builder.size, "node17", 6), rank ? "south1" : "north1", 6);
    snprintf(path[rank], sizeof path[rank], "/tmp/blame-test-%d-%u.blame", (int)getpid(), rank);
    assert_true(builder_write(&builder, path[rank]));
    builder_free(&builder);
}

static void make_rows(struct profile *of)
{
    assert_non_null(profile = of);
    symbols = symbols_open(profile->modules, profile->module_count);
    rows = rows_build(profile, symbols);
}

static int clean(void **state)
{
    (void)state;
    rows_free(rows);
    symbols_close(symbols);
    profile_free(profile);
    for (int i = 0; i < RANKS; i++)
        unlink(path[i]);
    return 0;
}

static int make_process(void **state)
{
    (void)state;
    write_rank(0, false);
    make_rows(profile_read(path[0], error, sizeof error));
    return 0;
}

static int make_job(void **state)
{
    char *why = NULL;
    (void)state;
    for (uint32_t i = 0; i < RANKS; i++)
        write_rank(i, true);
    make_rows(job_read(paths, RANKS, NULL, &why));
    return 0;
}

static void assert_near(double value, double wanted, const char *what)
{
    if (!(fabs(value - wanted) <= 1e-9 * (1 + fabs(wanted))))
        fail_msg("%s: %g, not %g", what, value, wanted);
}

/* By row of the sum; where the location has a row its place is that in the sum's. */
static void add_rows(const struct location_rows *read, const struct measure *measure, double (*sum)[2])
{
    for (size_t i = 0; i < read->rows->count; i++) {
        const struct row *row = &read->rows->row[i], *whole = &rows->row[read->of[i]];
        assert_true(row->label == whole->label && row->depth == whole->depth && row->call_line == whole->call_line);
        assert_true(i ? read->of[row->parent] == whole->parent && read->of[i] > read->of[i - 1] : read->of[0] == 0);
        sum[read->of[i]][0] += export_measure_own(measure, read->rows, row);
        sum[read->of[i]][1] += export_measure_inclusive(measure, read->rows, row);
    }
}

static size_t assert_that_they_add_up(const char *const *files, size_t file_count)
{
    struct measures measures;
    size_t compared = 0;
    export_measures_gather(&measures, rows);
    for (size_t m = 0; m < measures.count; m++) {
        struct locations locations;
        double(*sum)[2] = calloc(rows->count, sizeof *sum);
        export_locations_find(&locations, profile, rows, files, file_count);
        for (size_t i = 0; i < locations.count; i++) {
            struct location_rows read;
            assert_true(export_locations_read(&locations, i, &read));
            add_rows(&read, &measures.measure[m], sum);
            export_location_rows_free(&read);
        }
        assert_int_equal(locations.lost, 0);
        for (size_t i = 0; i < rows->count && measures.measure[m].adds_up; i++) {
            assert_near(sum[i][0], export_measure_own(&measures.measure[m], rows, &rows->row[i]),
                        measures.measure[m].word);
            assert_near(sum[i][1], export_measure_inclusive(&measures.measure[m], rows, &rows->row[i]),
                        measures.measure[m].word);
            compared += sum[i][1] != 0;
        }
        free(sum);
        export_locations_free(&locations);
    }
    export_measures_free(&measures);
    return compared;
}

UNIT_TEST_WITH(threads_add_up_to_their_process, make_process, clean)
{
    assert_true(assert_that_they_add_up(NULL, 0) > 1000);
}

UNIT_TEST_WITH(ranks_threads_add_up_to_their_job, make_job, clean)
{
    assert_true(assert_that_they_add_up((const char *const[]){path[1], path[0]}, RANKS) > 1000);
}

UNIT_TEST_WITH(locations_are_in_the_order_of_ranks_and_threads, make_job, clean)
{
    struct locations locations;
    export_locations_find(&locations, profile, rows, (const char *const[]){path[1], path[0]}, RANKS);
    assert_int_equal(locations.count, RANKS * TREES);
    assert_int_equal(locations.processes, RANKS);
    assert_int_equal(locations.nodes, RANKS);
    for (uint32_t i = 0; i < locations.count; i++) {
        const struct location *location = &locations.location[i];
        assert_true(location->ranked && location->kind == LOCATION_THREAD);
        assert_int_equal(location->rank, i / TREES);
        assert_int_equal(location->process, i / TREES);
        assert_int_equal(location->node, i / TREES);
        assert_int_equal(location->number, i % TREES);
        assert_int_equal(location->thread, i % TREES);
        assert_int_equal(location->pid, 100 + i / TREES);
        assert_string_equal(location->host, location->rank ? "south1" : "north1");
    }
    export_locations_free(&locations);
}

UNIT_TEST_WITH(what_a_rank_has_whose_file_is_gone_is_counted, make_job, clean)
{
    struct locations locations;
    struct profile *gone = profile_read(path[1], error, sizeof error);
    uint64_t samples = 0;
    for (size_t i = 0; i < gone->node_count; i++)
        samples += gone->nodes[i].kind == PROFILE_NODE_WAITERS ? 0 : gone->nodes[i].metric.samples;
    profile_free(gone);
    export_locations_find(&locations, profile, rows, paths, 1);
    assert_int_equal(locations.count, TREES);
    for (size_t i = 0; i < locations.count; i++) {
        struct location_rows read;
        assert_true(export_locations_read(&locations, i, &read));
        export_location_rows_free(&read);
    }
    assert_true(samples > 0);
    assert_int_equal(locations.lost, samples);
    export_locations_free(&locations);
}

/* It was there when locations were looked for. */
UNIT_TEST_WITH(why_a_ranks_file_cannot_be_read_is_told, make_job, clean)
{
    struct locations locations;
    struct location_rows read;
    export_locations_find(&locations, profile, rows, paths, RANKS);
    assert_int_equal(truncate(path[1], 5000), 0);
    assert_true(export_locations_read(&locations, 0, &read));
    assert_string_equal(locations.refusal, "");
    export_location_rows_free(&read);
    assert_false(export_locations_read(&locations, TREES, &read));
    assert_non_null(strstr(locations.refusal, path[1]));
    export_locations_free(&locations);
}

UNIT_TEST_WITH(without_ranks_files_a_job_has_one_location, make_job, clean)
{
    struct locations locations;
    struct location_rows read;
    export_locations_find(&locations, profile, rows, NULL, 0);
    assert_int_equal(locations.count, 1);
    assert_int_equal(locations.location[0].kind, LOCATION_ALL);
    assert_true(!locations.location[0].ranked && export_locations_read(&locations, 0, &read));
    assert_true(read.rows == rows && read.of[rows->count - 1] == rows->count - 1);
    assert_int_equal(locations.lost, 0);
    export_location_rows_free(&read);
    export_locations_free(&locations);
}

/* What is a part of a measure stands behind it, and the parts are the whole. */
UNIT_TEST_WITH(parts_add_up_to_what_they_are_parts_of, make_process, clean)
{
    struct measures measures;
    export_measures_gather(&measures, rows);
    for (size_t m = 0; m < measures.count; m++) {
        double parts = 0;
        bool any = false;
        for (size_t p = 0; p < measures.count; p++) {
            assert_true(measures.measure[p].parent == MEASURE_NO_PARENT || measures.measure[p].parent < p);
            if (measures.measure[p].parent == m) {
                any = true;
                parts += export_measure_inclusive(&measures.measure[p], rows, rows->row);
                assert_int_equal(measures.measure[p].level, measures.measure[m].level + 1);
            }
        }
        if (any)
            assert_near(parts, export_measure_inclusive(&measures.measure[m], rows, rows->row),
                        measures.measure[m].word);
        assert_null(strchr(measures.measure[m].word, ' '));
    }
    export_measures_free(&measures);
}

UNIT_MAIN(NULL, NULL)
