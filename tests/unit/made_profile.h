/* A profile made by hand, and what reports make of it: made_start() before each test, made_finish() after it. */
#ifndef BLAME_TESTS_UNIT_MADE_PROFILE_H
#define BLAME_TESTS_UNIT_MADE_PROFILE_H

#include "cct/profile_tree.h"
#include "command/rows/rows.h"
#include "command/tables/tables.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/unit.h"

#define S 1e9 /* metrics are in nanoseconds */

static struct made {
    struct profile profile;
    struct merged_node nodes[30001]; /* the first is the root */
    struct merged_probe probes[10010];
    struct merged_counters counters[8];
    struct profile_thread threads[4];
    struct profile_module modules[2];
    struct profile_lock locks[8];
    struct profile_name names[8];
    struct symbols *symbols;
    struct report_tables tables;
} made;

/* A program of one thread, on two cores. */
static inline int made_start(void **state)
{
    (void)state;
    static const char text[] = "command\0./v \"</script><b>\"\n\0runtime\0LLVM OMP version: 5.0.20140926";
    memset(&made, 0, sizeof made);
    made.profile = (struct profile){.nodes = made.nodes,
                                    .node_count = 1,
                                    .probes = made.probes,
                                    .counters = made.counters,
                                    .threads = made.threads,
                                    .thread_count = 1,
                                    .modules = made.modules,
                                    .module_count = 2,
                                    .locks = made.locks,
                                    .names = made.names,
                                    .text = (char *)text,
                                    .text_bytes = sizeof text};
    made.profile.header = (struct profile_header){.threads_max = 2, .cores = 2, .finished = 1, .rate = 200};
    made.threads[0] = (struct profile_thread){.kind = PROFILE_THREAD_INITIAL, .tree = 1};
    made.modules[0] = (struct profile_module){.path = "/home/user/app", .flags = PROFILE_MODULE_EXECUTABLE};
    made.modules[1] = (struct profile_module){.path = "/usr/lib/libomp.so.5"};
    made.nodes[0].kind = PROFILE_NODE_ROOT;
    fake_symbols_clear();
    made.symbols = symbols_open(made.modules, 2);
    return made.symbols ? 0 : -1;
}

static inline int made_finish(void **state)
{
    (void)state;
    report_tables_free(&made.tables);
    symbols_close(made.symbols);
    return 0;
}

static inline uint32_t made_add(uint32_t parent, uint8_t kind, uint64_t key, struct profile_sums metric)
{
    size_t i = made.profile.node_count++;
    assert_true(i < sizeof made.nodes / sizeof *made.nodes);
    made.nodes[i] = (struct merged_node){.parent = parent, .kind = kind, .key = key, .metric = metric};
    return (uint32_t)i;
}

/* A frame in which one thread worked alone, in one sample (none, if it did not). */
static inline uint32_t made_work(uint32_t parent, uint64_t key, double work_s)
{
    struct profile_sums metric = {.samples = work_s > 0, .work = work_s * S, .inverse_busy = work_s * S};
    return made_add(parent, PROFILE_NODE_FRAME, key, metric);
}

/* Made again, they are of what was added since. */
static inline struct rows *made_tables(void)
{
    report_tables_free(&made.tables);
    made.tables = report_tables_make(&made.profile, made.symbols);
    assert_non_null(made.tables.rows);
    return made.tables.rows;
}

/* The first row of that name. */
static inline const struct row *made_row(const struct rows *rows, enum row_kind kind, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind == kind && strcmp(rows->row[i].label->name, name) == 0)
            return &rows->row[i];
    fail_msg("no %s row %s", row_kind_name[kind], name);
    return NULL;
}

/* What a writer wrote, until the next text. */
static char *made_text;
static size_t made_text_bytes;

static inline FILE *made_out(void)
{
    free(made_text);
    made_text = NULL;
    return open_memstream(&made_text, &made_text_bytes);
}

#endif
