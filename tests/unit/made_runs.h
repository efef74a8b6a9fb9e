/* Runs of a program with made rows, laid over one another. */
#ifndef BLAME_TESTS_UNIT_MADE_RUNS_H
#define BLAME_TESTS_UNIT_MADE_RUNS_H

#include "command/rows/make.h"
#include "tests/unit/unit.h"

#include "command/compare/compare.h"

#define RUNS 6

/* A row of a run; the parent is the number of an earlier one, 0 the root. */
struct given {
    uint32_t parent;
    enum row_kind kind;
    const char *name, *module, *file;
    int line;
    double work_s;
};

static struct made {
    struct profile profile[RUNS];
    struct profile_module module[RUNS];
    struct profile_thread thread;
    struct rows *rows[RUNS];
    struct profile_sums sums[RUNS][16];
    struct row_label label[RUNS][16];
    const struct profile *profiles[RUNS];
    const char *names[RUNS];
    size_t runs;
    double no_core_s;   /* of each row of the next run */
    double elsewhere_s; /* own time whose share the next row has */
    struct comparison *comparison;
} made;

static void add_run(uint8_t build, const struct given *given, size_t count)
{
    size_t run = made.runs++;
    struct profile *profile = &made.profile[run];
    made.module[run] = (struct profile_module){.build_id_bytes = build ? 1 : 0, .build_id = {build}};
    strcpy(made.module[run].path, "/x/app");
    *profile = (struct profile){.modules = &made.module[run], .module_count = 1};
    profile->header = (struct profile_header){.rate = 1000, .threads_max = 2, .cores = 2, .end_ns = 1000000000};
    made.profiles[run] = profile;
    made.names[run] = "run";
    struct rows *rows = made.rows[run] = calloc(1, sizeof *rows);
    rows->threads = 2;
    rows_append(rows, ROW_NONE, ROW_ROOT);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = rows_append(rows, given[i].parent, given[i].kind);
        double work = given[i].work_s * 1e9;
        made.sums[run][i] =
            (struct profile_sums){.samples = 1, .work = work, .inverse_busy = work, .no_core = made.no_core_s * 1e9};
        made.sums[run][i].own_elsewhere = (i % 2 ? -1e9 : 1e9) * made.elsewhere_s;
        made.sums[run][i].idle_beside = (float)(0.5 * work);
        made.label[run][i] = (struct row_label){given[i].name, given[i].module, given[i].file, given[i].line};
        rows->row[row].label = &made.label[run][i];
        rows_add_exclusive(rows, &rows->row[row], &made.sums[run][i]);
    }
    rows_sum(rows);
}

#define ADD(build, ...)                                                                                                \
    add_run(build, (const struct given[]){__VA_ARGS__},                                                                \
            sizeof((const struct given[]){__VA_ARGS__}) / sizeof(struct given))

static struct comparison *compare(size_t base)
{
    const size_t sides[SIDES] = {base, made.runs - base};
    made.comparison = comparison_new(made.profiles, made.names, sides, NORMALISE_NONE);
    assert_non_null(made.comparison);
    for (size_t run = 0; run < made.runs; run++)
        comparison_add(made.comparison, run, made.rows[run]);
    return made.comparison;
}

static int forget(void **state)
{
    (void)state;
    comparison_free(made.comparison);
    for (size_t run = 0; run < made.runs; run++)
        rows_free(made.rows[run]);
    memset(&made, 0, sizeof made);
    return 0;
}

#define COMPARED(name) UNIT_TEST_WITH(name, NULL, forget)

#endif
