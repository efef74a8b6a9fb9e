/* needs: tests/fuzz/profile_builder.c tests/fuzz/fake_symbols.c */
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "report/files/folds_csv.h"
#include "report/profile/fold.h"
#include "report/profile/fold_job.h"
#include "report/profile/read.h"
#include "report/profile/write.h"
#include "report/tables/folds.h"
#include "report/views/folds.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/fuzz/profile_builder.h"
#include "tests/unit/unit.h"

#define F (PROFILE_KEY(1, 0x100))
#define G (PROFILE_KEY(1, 0x200))

static const char *path;

static int make_path(void **unused)
{
    (void)unused;
    path = unit_fresh_path();
    fake_symbols_clear();
    fake_function(F, "fill", "p.c", 10, 12);
    fake_function(G, "gather", "p.c", 20, 22);
    return 0;
}

static int remove_path(void **unused)
{
    (void)unused;
    unit_clean();
    return 0;
}

#define WITH_PATH(name) UNIT_TEST_WITH(name, make_path, remove_path)

/* A tree of a step whose first half is fill's and second half gather's, on one of two threads. */
static struct profile_builder builder;
static struct profile_bins dense;
static uint32_t fold_node, fill_node, gather_time;

static void add_record(uint32_t name)
{
    builder_name(&builder, &(struct profile_name){.kind = PROFILE_NODE_PHASE, .flags = PROFILE_NAME_DYNAMIC, .text = "step"});
    builder_thread(&builder, &(struct profile_thread){.kind = PROFILE_THREAD_INITIAL, .tree = 1});
    builder_fold(&builder, &(struct profile_fold){.name = name,
                                                  .instances = {100, 2},
                                                  .duration_ns = {100 * 1e7, 6e7},
                                                  .samples = {400, 4},
                                                  .low_ns = 7000000,
                                                  .high_ns = 14000000,
                                                  .left_out = 1});
}

static void make_file(uint32_t name)
{
    const struct profile_moments few = {.count = 2, .moment = {{10, {.own = 2e6f, .inverse_busy = 2e6f}}, {11, {.own = 4e6f, .inverse_busy = 4e6f}}}};
    builder_start(&builder);
    builder_header(&builder)->threads_max = 2;
    builder_header(&builder)->cores = 2;
    builder_header(&builder)->rate = 200;
    builder_header(&builder)->period_ns = 5000000;
    add_record(name);
    builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t trie = builder_node(&builder, 1, 0, PROFILE_NODE_TRIE, 0);
    fold_node = builder_node(&builder, 1, trie, PROFILE_NODE_FOLD, PROFILE_FOLD_KEY(1, 0));
    fill_node = builder_node(&builder, 1, fold_node, PROFILE_NODE_FRAME, F);
    uint32_t gather_node = builder_node(&builder, 1, fold_node, PROFILE_NODE_FRAME, G);
    uint32_t time_idx = builder_node(&builder, 1, fill_node, PROFILE_NODE_TIME, 0);
    builder_record(&builder, 1, time_idx, &few);
    dense = (struct profile_bins){.form = PROFILE_TIME_DENSE};
    for (uint32_t bin = 60; bin < 120; bin++)
        dense.bin[bin] = (struct profile_time_value){.own = 1e6f, .inverse_busy = 1e6f, .shared_idle = 1e6f, .lock_wait = 5e5f};
    gather_time = builder_time(&builder, 1, gather_node, PROFILE_NODE_TIME, &dense, sizeof dense);
}

static struct profile *read_file(void)
{
    char error[512] = "";
    assert_true(builder_write(&builder, path));
    builder_free(&builder);
    struct profile *profile = profile_read(path, error, sizeof error);
    if (!profile)
        assert_non_null(strstr(error, "damaged: a bin of a folded phase"));
    return profile;
}

static struct fold_table *table_of(const struct profile *profile, struct symbols **symbols, const char *name, bool outliers)
{
    *symbols = symbols_open(profile->modules, profile->module_count);
    return folds_gather(profile, *symbols, name, outliers);
}

static void assert_is_made_fold(const struct merged_fold *fold)
{
    assert_int_equal(fold->node_count, 3);
    assert_int_equal(fold->counts.instances[1], 2);
    assert_true(fold->bins[1][10].own == 2e6f && fold->bins[1][11].inverse_busy == 4e6f && fold->bins[1][12].own == 0);
    assert_true(fold->bins[2][60].lock_wait == 5e5f && fold->bins[2][60].shared_idle == 1e6f && fold->bins[2][119].own == 1e6f && fold->bins[2][59].own == 0);
    assert_true(fabs(fold->nodes[2].metric.work - 6e7) < 1);
}

WITH_PATH(what_the_tool_wrote_is_read)
{
    make_file(1);
    struct profile *profile = read_file();
    assert_int_equal(profile->fold_count, 2);
    assert_is_made_fold(profile_fold_of(profile, 1, false));
    assert_int_equal(profile_fold_of(profile, 1, true)->node_count, 1);
    assert_null(profile_fold_of(profile, 2, false));
    assert_int_equal(profile->node_count, 1); /* none of it is a context of the program's */
    assert_int_equal(profile->timeline.cell_count, 0);
    profile_free(profile);
}

WITH_PATH(what_cannot_be_measured_is_refused_and_what_hangs_nowhere_is_left_out)
{
    make_file(1);
    struct profile_bins *bins = (struct profile_bins *)builder_at(&builder, builder_at(&builder, gather_time)->metric);
    bins->bin[70].own = NAN;
    assert_null(read_file());
    make_file(1);
    ((struct profile_bins *)builder_at(&builder, builder_at(&builder, gather_time)->metric))->form = 7;
    assert_null(read_file());
    make_file(2); /* a name that is not there */
    struct profile *profile = read_file();
    assert_int_equal(profile->fold_count, 0);
    profile_free(profile);
    make_file(1);
    builder_at(&builder, fill_node)->parent = fill_node;
    profile = read_file();
    assert_int_equal(profile->folds[0].node_count, 2);
    profile_free(profile);
    make_file(1);
    builder_at(&builder, fold_node)->key = PROFILE_FOLD_KEY(1, 0) + 40;
    profile = read_file();
    assert_int_equal(profile->folds[0].node_count, 1);
    profile_free(profile);
}

WITH_PATH(a_jobs_folds_are_its_ranks_and_its_file_keeps_them)
{
    char error[512];
    make_file(1);
    struct profile *rank = read_file(), *job = calloc(1, sizeof *job);
    struct job_keys keys;
    job->header = rank->header;
    job->header.threads_max = 4;
    job->nodes = calloc(1, sizeof *job->nodes);
    job->nodes[0].kind = PROFILE_NODE_ROOT;
    job->node_count = 1;
    for (int i = 0; i < 2; i++) {
        job_keys_start(&keys, job, rank);
        folds_join(job, rank, &keys);
        job_keys_end(&keys);
    }
    folds_divide(job);
    const struct merged_fold *fold = profile_fold_of(job, 1, false);
    assert_int_equal(fold->counts.instances[0], 200);
    assert_true(fold->bins[2][60].own == 2e6f);
    assert_true(fold->bins[2][60].inverse_busy == 1e6f); /* 2 x 2 threads of 4: idleness, 4 x that less the own time, is twice the rank's */
    assert_int_equal(profile_write(job, path), 0);
    struct profile *again = profile_read(path, error, sizeof error);
    assert_int_equal(again->fold_count, 2);
    assert_memory_equal(profile_fold_of(again, 1, false)->bins[2], fold->bins[2], sizeof *fold->bins);
    assert_int_equal(again->folds[0].counts.left_out, 2);
    profile_free(again);
    profile_free(job);
    profile_free(rank);
}

WITH_PATH(the_view_has_states_code_and_blame_along_a_step)
{
    struct symbols *symbols;
    const struct view_style style = {.title = "Folded", .columns = 300};
    char *text;
    size_t bytes;
    make_file(1);
    struct profile *profile = read_file();
    struct fold_table *table = table_of(profile, &symbols, "step", false);
    FILE *out = open_memstream(&text, &bytes);
    view_text_folds(out, profile, table, 2, &style);
    fclose(out);
    assert_non_null(strstr(text, "step: 100 instances, 10.000 ms each on average, laid over one another by their 400 samples."));
    assert_non_null(strstr(text, "Apart, as outliers: 2 that did not take 7.000 to 14.000 ms."));
    assert_non_null(strstr(text, "Left out: 1 "));
    const char *fill = strstr(text, "fill  p.c:10"), *gather = strstr(text, "gather  p.c:20");
    assert_true(fill && gather && fill < gather); /* in the order of time */
    assert_non_null(strstr(text, "waiting for locks"));
    assert_null(strstr(text, "+- 0.000")); /* nothing is known for certain */
    free(text);
    out = open_memstream(&text, &bytes);
    write_folds_csv(out, table);
    fclose(out);
    assert_non_null(strstr(text, "bin,begin,end,id,name,work,idleness,lock_wait\r\n10,0.083333,0.091667,"));
    assert_non_null(strstr(text, ",gather,0.001000,0.000500,0.000500\r\n"));
    free(text);
    folds_table_free(table);
    assert_null(folds_gather(profile, symbols, "stop", false));
    text = folds_names(profile);
    assert_string_equal(text, "step");
    free(text);
    profile->names[profile->folds[0].counts.name - 1].text[0] = '\033';
    text = folds_names(profile);
    assert_string_equal(text, "\xef\xbf\xbdtep");
    free(text);
    symbols_close(symbols);
    profile_free(profile);
}

/* Rows that do all of their caller's are not shown, and count for no depth. */
WITH_PATH(a_long_chain_of_calls_takes_little_of_the_stack)
{
    const struct profile_moments few = {.count = 1, .moment = {{10, {.own = 1e9f, .inverse_busy = 1e9f}}}};
    const struct view_style style = {.title = "Folded", .columns = 300};
    struct symbols *symbols;
    struct rlimit before, limit;
    make_file(1);
    uint32_t at = fold_node;
    for (uint32_t i = 0; i < 20000; i++)
        at = builder_node(&builder, 1, at, PROFILE_NODE_FRAME, PROFILE_KEY(1, 0x1000 + 16 * i));
    builder_record(&builder, 1, builder_node(&builder, 1, at, PROFILE_NODE_TIME, 0), &few);
    struct profile *profile = read_file();
    struct fold_table *table = table_of(profile, &symbols, "step", false);
    FILE *out = fopen("/dev/null", "w");
    getrlimit(RLIMIT_STACK, &before);
    limit = before;
    limit.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_STACK, &limit);
    view_text_folds(out, profile, table, 2, &style);
    setrlimit(RLIMIT_STACK, &before);
    fclose(out);
    folds_table_free(table);
    symbols_close(symbols);
    profile_free(profile);
}

UNIT_MAIN(NULL, NULL)
