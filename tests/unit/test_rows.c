/* needs: tests/fuzz/fake_symbols.c tests/fuzz/profile_builder.c */
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <sys/stat.h>

#include "base/mpi_calls.h"
#include "command/files/csv.h"
#include "command/files/output.h"
#include "command/tables/conservation.h"
#include "command/text/format.h"
#include "tests/unit/made_profile.h"

enum {
    MAIN_CALL = 1,
    MAIN_BARRIER,
    BODY_8,
    BODY_9,
    BODY_INLINED,
    DEBUG_BODY,
    ENTRY,
    NO_DEBUG,
    LINE_0,
    MAIN_CALL_AGAIN
};
#define KEY(place) PROFILE_KEY(1, 0x1000 + (place))
#define BODY       "solve [parallel a.c:7]"

static int make(void **state)
{
    made_start(state);
    made.profile.header.threads_max = 4;
    made.profile.header.start_ns = 1000;
    made.profile.header.end_ns = 1000 + (uint64_t)S;
    fake_function(KEY(MAIN_CALL), "main", "/s/a.c", 3, 20);
    fake_function(KEY(MAIN_CALL_AGAIN), "main", "/s/a.c", 3, 20);
    fake_function(KEY(MAIN_BARRIER), "main", "/s/a.c", 3, 21);
    fake_function(KEY(BODY_8), BODY, "/s/a.c", 7, 8)->construct = SYMBOL_PARALLEL;
    fake_function(KEY(BODY_9), BODY, "/s/a.c", 7, 9)->construct = SYMBOL_PARALLEL;
    fake_function(KEY(BODY_INLINED), "dot", "/s/dot.h", 1, 2);
    fake_function(KEY(BODY_INLINED), BODY, "/s/a.c", 7, 9)->construct = SYMBOL_PARALLEL;
    struct symbol_frame *twin = fake_function(KEY(DEBUG_BODY), BODY, "/s/a.c", 7, 8);
    twin->construct = SYMBOL_PARALLEL;
    twin->merge_into_caller = true;
    fake_function(KEY(ENTRY), "__kmpc_barrier", "", 0, 0);
    fake_function(KEY(NO_DEBUG), "memset", "", 0, 0);
    fake_function(KEY(LINE_0), "main", "/s/a.c", 3, 0);
    return 0;
}

static uint32_t work(uint32_t parent, int place, double seconds)
{
    return made_work(parent, KEY(place), seconds);
}

/* The one row of that name. */
static const struct row *row_of(const struct rows *rows, enum row_kind kind, const char *name)
{
    const struct row *found = made_row(rows, kind, name);
    for (const struct row *row = found + 1; row < rows->row + rows->count; row++)
        assert_false(row->kind == kind && strcmp(row->label->name, name) == 0);
    return found;
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, make, made_finish)

WITH_PROFILE(addresses_of_one_function_and_call_line_are_one_row)
{
    uint32_t first = work(0, MAIN_CALL, 0);
    uint32_t again = work(0, MAIN_CALL_AGAIN, 0);
    work(first, BODY_8, 1);
    work(again, BODY_8, 2);
    work(again, BODY_9, 4);
    const struct rows *rows = made_tables();
    const struct row *body = row_of(rows, ROW_PARALLEL, BODY);
    assert_int_equal(body->call_line, 20);
    assert_int_equal(body->label->line, 7);
    assert_true(body->exclusive->work == 7 * S);
    assert_true(row_of(rows, ROW_STATEMENT, "a.c:8")->exclusive->work == 3 * S);
    assert_true(row_of(rows, ROW_STATEMENT, "a.c:9")->inclusive->work == 4 * S);
    assert_true(row_of(rows, ROW_PROCEDURE, "main")->exclusive->work == 0);
    assert_true(rows->row[0].inclusive->work == 7 * S);
    assert_string_equal(rows->row[1].label->name, "main");
    assert_string_equal(rows->row[3].label->name, "a.c:9"); /* siblings: the largest effort first */
}

WITH_PROFILE(inlined_functions_are_rows_between_caller_and_statement)
{
    work(0, BODY_INLINED, 1);
    const struct rows *rows = made_tables();
    const struct row *inlined = row_of(rows, ROW_INLINED, "dot");
    assert_int_equal(inlined->call_line, 9);
    assert_true(&rows->row[inlined->parent] == row_of(rows, ROW_PARALLEL, BODY));
    assert_true(rows->row[inlined->parent].exclusive->work == 0);
    assert_true(inlined->exclusive->work == S);
    assert_string_equal(row_of(rows, ROW_STATEMENT, "dot.h:2")->label->file, "/s/dot.h");
}

WITH_PROFILE(the_two_functions_of_a_construct_are_one_row)
{
    uint32_t outer = work(0, BODY_9, 0);
    work(outer, DEBUG_BODY, 1);
    uint32_t other = work(0, MAIN_CALL, 0);
    work(other, DEBUG_BODY, 2);
    const struct rows *rows = made_tables();
    int constructs_found = 0;
    for (size_t i = 0; i < rows->count; i++)
        constructs_found += rows->row[i].kind == ROW_PARALLEL;
    assert_int_equal(constructs_found, 2); /* folded below its twin, a row of its own below main */
}

WITH_PROFILE(runtime_pseudo_and_nameless_rows_have_their_kinds)
{
    struct profile_sums overhead = {.samples = 1, .overhead = S, .inverse_busy = S};
    made.profile.header.before_start_ns = 3;
    uint32_t main_node = made_add(0, PROFILE_NODE_FRAME, KEY(MAIN_BARRIER), (struct profile_sums){0});
    made_add(main_node, PROFILE_NODE_RUNTIME, KEY(ENTRY), overhead);
    made_add(main_node, PROFILE_NODE_RUNTIME, PROFILE_PSEUDO_BARRIER, overhead);
    made_add(0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_UNRELEASED, overhead);
    made_add(0, PROFILE_NODE_PSEUDO, 999, overhead);
    work(0, NO_DEBUG, 1);
    work(0, LINE_0, 1);
    const struct rows *rows = made_tables();
    assert_int_equal(row_of(rows, ROW_RUNTIME, "__kmpc_barrier")->call_line, 21);
    row_of(rows, ROW_RUNTIME, "<region end>");
    row_of(rows, ROW_PSEUDO, "<unreleased lock>");
    row_of(rows, ROW_PSEUDO, "<unknown>");
    const struct row *before = row_of(rows, ROW_PSEUDO, "<before OpenMP start>");
    assert_true(before->exclusive->work == 3 && before->exclusive->inverse_busy == 3);
    assert_true(fabs(metric_value(rows, before->exclusive, METRIC_IDLENESS) - 9e-9) < 1e-15);
    const struct row *bare = row_of(rows, ROW_PROCEDURE, "memset");
    assert_true(bare->exclusive->work == S && bare->end == (uint32_t)(bare - rows->row) + 1);
    row_of(rows, ROW_STATEMENT, "a.c:3"); /* code of no line counts for the function's first */
}

/* And others idle because of it, but for what they do for want of a core. */
WITH_PROFILE(time_before_openmp_is_work_blocked_and_without_a_core)
{
    struct profile_header *header = &made.profile.header;
    header->before_start_ns = (uint64_t)(10 * S);
    header->before_no_core_ns = (uint64_t)(3 * S);
    header->before_blocked_ns = (uint64_t)(5 * S);
    const struct rows *rows = made_tables();
    const struct row *before = row_of(rows, ROW_PSEUDO, "<before OpenMP start>"),
                     *lost = row_of(rows, ROW_PSEUDO, "<no core>");
    assert_int_equal(lost->parent, before - rows->row);
    assert_true(before->exclusive->work == 2 * S && before->exclusive->blocked == 5 * S);
    assert_true(lost->exclusive->no_core == 3 * S && lost->exclusive->work == 0);
    assert_true(metric_value(rows, before->exclusive, METRIC_IDLENESS) == 21);
    assert_true(metric_value(rows, lost->exclusive, METRIC_IDLENESS) == 9);
    struct conservation_law laws[CONSERVATION_LAWS];
    for (size_t i = 0, count = conservation_check(&made.profile, rows, laws); i < count; i++)
        assert_true(laws[i].ok);
    header->before_no_core_ns = header->before_blocked_ns = UINT64_MAX; /* a damaged file */
    rows = made_tables();
    assert_true(rows->row[0].inclusive->no_core == 10 * S && rows->row[0].inclusive->blocked == 0);
}

WITH_PROFILE(lock_nodes_count_for_their_parents_statement)
{
    struct profile_sums wait = {.samples = 9, .waits = 7, .lock_wait = 2 * S, .lock_wait_here = S, .inverse_busy = S};
    struct profile_sums held = {.lock_wait = 3 * S};
    made.modules[0] = (struct profile_module){.load_bias = 0x10000, .vaddr_low = 0x4000, .vaddr_high = 0x5000};
    uint32_t body = work(0, BODY_8, 1);
    uint32_t pseudo = made_add(0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_UNRELEASED, (struct profile_sums){0});
    uint32_t other = made_add(0, PROFILE_NODE_FRAME, KEY(BODY_9), (struct profile_sums){0});
    made_add(body, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x14040), wait);
    made_add(other, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x14040), held);
    made_add(pseudo, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x14040), held);
    made_add(body, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(PROFILE_LOCK_NEST_LOCK, 0x99), held);
    const struct rows *rows = made_tables();
    const struct row *statement = row_of(rows, ROW_STATEMENT, "a.c:8");
    assert_int_equal(statement->exclusive->samples, 10);
    assert_true(statement->exclusive->lock_wait == 5 * S);
    const struct lock_table *table = made.tables.locks;
    assert_int_equal(table->count, 2);
    assert_true(table->lock[0].wait_ns == 8 * S); /* unreleased included */
    assert_int_equal(table->lock[0].contended, 7);
    assert_int_equal(table->lock[0].context_count, 2); /* and not a context */
    assert_true(table->context[table->lock[0].first_context].wait_ns == 3 * S);
    assert_string_equal(table->lock[0].symbol, "the_lock");
    assert_string_equal(table->lock[1].symbol, "");
    char text[1000] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    write_locks_csv(out, table);
    fclose(out);
    assert_string_equal(
        text, "lock,kind,symbol,wait,acquisitions_contended,blamed_contexts,name,longest_wait,holder,holder_wait,"
              "holder_id,waiter,waiter_wait,waiter_id,initialiser,initialisers\r\n"
              "0x14040,critical,the_lock,8.000000,7,2,the_lock,0.000000,solve [parallel a.c:7] a.c:9,3.000000,3,"
              "solve [parallel a.c:7] a.c:8,1.000000,2,,0\r\n"
              "0x99,nest_lock,,3.000000,0,1,0x99,0.000000,solve [parallel a.c:7] a.c:8,3.000000,2,,,,,0\r\n");
}

WITH_PROFILE(no_core_is_a_row_below_its_context_and_blocked_a_metric_of_it)
{
    uint32_t body = work(0, BODY_8, 3);
    made.nodes[body].metric.blocked = 2 * S;
    made.nodes[body].metric.inverse_busy = 4 * S; /* of one second the share is the missing core's */
    made.nodes[body].metric.own_elsewhere = 1 * S;
    uint32_t no_core = made_add(body, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE,
                                (struct profile_sums){.no_core = 3 * S, .inverse_busy = 4 * S});
    made.nodes[no_core].metric.own_elsewhere = -1 * S;
    struct rows *rows = made_tables();
    const struct row *code = row_of(rows, ROW_PARALLEL, "solve [parallel a.c:7]");
    const struct row *row = row_of(rows, ROW_PSEUDO, "<no core>");
    assert_ptr_equal(&rows->row[row->parent], code);
    assert_true(metric_value(rows, row->inclusive, METRIC_NO_CORE) == 3);
    assert_true(metric_value(rows, code->inclusive, METRIC_NO_CORE) == 3);
    assert_true(metric_value(rows, code->exclusive, METRIC_NO_CORE) == 0);
    assert_true(metric_value(rows, code->exclusive, METRIC_BLOCKED) == 2);
    assert_true(metric_value(rows, code->exclusive, METRIC_IDLENESS) == 12); /* four threads, one busy */
    assert_true(metric_value(rows, row->exclusive, METRIC_IDLENESS) == 12);
    assert_true(metric_value(rows, code->inclusive, METRIC_EFFORT) == 32);
    assert_true(metric_value(rows, code->inclusive, METRIC_ORDER) == 27);
    assert_true(metric_is_shown(rows, METRIC_NO_CORE));
}

WITH_PROFILE(a_call_of_mpi_is_a_row_below_the_line_that_makes_it)
{
    uint32_t body = work(0, BODY_8, 3);
    struct profile_sums waited = {.samples = 2, .mpi_wait = 2 * S, .inverse_busy = 2 * S};
    made_add(body, PROFILE_NODE_MPI, MPI_CALL_Barrier, waited);
    made_add(body, PROFILE_NODE_MPI, 100000, waited); /* of a later version */
    struct rows *rows = made_tables();
    const struct row *code = row_of(rows, ROW_PARALLEL, "solve [parallel a.c:7]");
    const struct row *row = row_of(rows, ROW_RUNTIME, "MPI_Barrier");
    assert_ptr_equal(&rows->row[row->parent], code);
    assert_int_equal(row->call_line, 8);
    assert_true(row->foreign && row_is_mpi_wait(row));
    assert_true(metric_value(rows, row->exclusive, METRIC_MPI_WAIT) == 2);
    assert_true(metric_value(rows, row->exclusive, METRIC_WORK) == 0);
    assert_true(metric_value(rows, row->exclusive, METRIC_IDLENESS) == 6); /* four threads */
    assert_true(metric_value(rows, code->inclusive, METRIC_MPI_WAIT) == 4);
    assert_true(metric_value(rows, code->exclusive, METRIC_MPI_WAIT) == 0);
    assert_true(metric_is_shown(rows, METRIC_MPI_WAIT));
    row_of(rows, ROW_RUNTIME, "<unknown call of MPI>");
}

/* Three other ranks wait for this one, of one of whose own waits another is the cause. */
WITH_PROFILE(rank_idleness_is_the_codes_that_others_wait_for_and_no_part_of_the_effort)
{
    uint32_t body = work(0, BODY_8, 3);
    uint32_t call = made_add(body, PROFILE_NODE_MPI, MPI_CALL_Barrier,
                             (struct profile_sums){.samples = 2, .mpi_wait = 2 * S, .inverse_busy = 2 * S});
    struct rows *rows = made_tables();
    double effort = metric_value(rows, rows->row[0].inclusive, METRIC_EFFORT);
    assert_false(metric_is_shown(rows, METRIC_RANK_IDLENESS));
    made_add(body, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Barrier, KEY(BODY_9)),
             (struct profile_sums){.rank_idle = 9 * S, .rank_wall = 3 * S});
    made_add(call, PROFILE_NODE_RANKS, 0, (struct profile_sums){.rank_waited = 1 * S});
    rows = made_tables();
    const struct row *code = row_of(rows, ROW_PARALLEL, "solve [parallel a.c:7]");
    const struct row *line = row_of(rows, ROW_STATEMENT, "a.c:8");
    const struct row *row = row_of(rows, ROW_RUNTIME, "MPI_Barrier");
    assert_true(metric_value(rows, code->inclusive, METRIC_RANK_IDLENESS) == 9);
    assert_true(metric_value(rows, code->exclusive, METRIC_RANK_IDLENESS) == 9);
    assert_true(metric_value(rows, line->exclusive, METRIC_RANK_IDLENESS) == 9);
    assert_true(metric_value(rows, row->exclusive, METRIC_RANK_IDLENESS) == 0);
    assert_true(row->exclusive->rank_waited == 1 * S && row->exclusive->mpi_wait == 2 * S);
    assert_true(metric_value(rows, rows->row[0].inclusive, METRIC_EFFORT) == effort);
    assert_true(metric_is_shown(rows, METRIC_RANK_IDLENESS));
    /* Of what this rank's code is answerable for: its own time without what others are blamed for, and theirs. */
    assert_true(fabs(metric_absolute(rows, rows->row[0].inclusive, METRIC_RANK_IDLENESS) - 100 * 9 / (effort - 1 + 9)) <
                1e-9);
    rows->job = true; /* of the whole job's, whose mpi wait it is a part of, blamed or not */
    assert_true(
        fabs(metric_absolute(rows, rows->row[0].inclusive, METRIC_RANK_IDLENESS) - fmin(100, 100 * 9 / effort)) < 1e-9);
}

WITH_PROFILE(idleness_follows_the_environment_and_eq_1)
{
    struct profile_sums sums = {.work = 3 * S, .overhead = S, .inverse_busy = 2 * S, .shared_idle = 5 * S};
    made_add(0, PROFILE_NODE_FRAME, KEY(BODY_8), sums);
    struct rows *rows = made_tables();
    assert_true(metric_value(rows, &sums, METRIC_IDLENESS) == 4);
    assert_true(metric_value(rows, &sums, METRIC_CORE_IDLENESS) == 0);
    assert_true(metric_value(rows, &sums, METRIC_EFFORT) == 8);
    assert_true(metric_absolute(rows, &sums, METRIC_WORK) == 37.5);
    assert_true(metric_relative(rows, &sums, METRIC_IDLENESS) == 50);
    struct profile_sums nothing = {0};
    assert_true(metric_relative(rows, &nothing, METRIC_IDLENESS) == 0);
    struct profile_sums noise = {.work = 4 * S * (1 + 1e-15), .inverse_busy = S};
    assert_true(metric_value(rows, &noise, METRIC_IDLENESS) == 0);
    struct profile_sums oversubscribed = {.work = 4 * S, .inverse_busy = S};
    assert_true(metric_value(rows, &oversubscribed, METRIC_CORE_IDLENESS) == -2);
    rows->shared = true;
    assert_true(metric_value(rows, &sums, METRIC_IDLENESS) == 5);
    rows->without_team = true; /* the sum itself */
    struct profile_sums serial = {.work = S, .inverse_busy = S, .core_idle = 7 * S};
    assert_true(metric_value(rows, &serial, METRIC_CORE_IDLENESS) == 7);
}

WITH_PROFILE(numbers_are_written_alike_in_every_locale)
{
    char number[FORMAT_NUMBER_BYTES], text[200] = "";
    setlocale(LC_ALL, "de_DE.UTF-8");
    assert_string_equal(format_decimal(number, 1.0000005, 6), "1.000001");
    assert_string_equal(format_decimal(number, -0.0000001, 6), "0.000000");
    assert_string_equal(format_decimal(number, -2.5, 2), "-2.50");
    assert_string_equal(format_decimal(number, 1e30, 2), "1000000000000000019884624838656.00");
    assert_string_equal(format_decimal(number, (double)NAN, 1), "0.0");
    FILE *out = fmemopen(text, sizeof text, "w");
    const double numbers[] = {0, 12.3456789, -0.5, 1e-7, 123456789.25};
    for (size_t i = 0; i < 5; i++) {
        format_csv_number(out, numbers[i]);
        fputc(' ', out);
    }
    format_csv_text(out, "a\"b, \xff");
    fclose(out);
    assert_string_equal(text, "0.000000 12.345679 -0.500000 0.000000 123456789.250000 \"a\"\"b, \xef\xbf\xbd\"");
    setlocale(LC_ALL, "C");
}

WITH_PROFILE(long_names_lose_their_middle)
{
    char text[64];
    format_shorten(text, sizeof text, "abcdefghij", 7, false);
    assert_string_equal(text, "ab...ij");
    format_shorten(text, sizeof text, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4", 4, true);
    assert_string_equal(text, "\xc3\xa4\xc3\xb6\xe2\x80\xa6\xc3\xa4");
    format_shorten(text, sizeof text, "short", 7, true);
    assert_string_equal(text, "short");
}

static void assert_exists(const char *dir, const char *name, bool expected)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(access(path, F_OK) == 0, expected);
    if (expected)
        unlink(path);
}

WITH_PROFILE(files_appear_whole_or_not_at_all)
{
    char dir[] = "/tmp/blame-rows-XXXXXX", error[300], path[200];
    assert_non_null(mkdtemp(dir));
    work(0, BODY_8, 1);
    made_tables();
    assert_int_equal(report_write_files(&made.profile, &made.tables, dir, error, sizeof error), 0);
    snprintf(path, sizeof path, "%s/run.json", dir);
    json_t *json = json_load_file(path, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "command")), "./v \"</script><b>\"\n");
    assert_int_equal(json_integer_value(json_object_get(json, "threads_max")), 4);
    json_decref(json);
    assert_exists(dir, "run.json", true);
    assert_exists(dir, "locks.csv", true);
    assert_exists(dir, "waits.csv", true);
    assert_exists(dir, "threads.csv", true);
    assert_exists(dir, "profile.csv", true);
    assert_int_equal(rmdir(dir), 0); /* no temporary file is left */
    assert_int_equal(report_write_files(&made.profile, &made.tables, dir, error, sizeof error), -1);
    assert_non_null(strstr(error, dir));
    assert_int_equal(mkdir(dir, 0700), 0);
    snprintf(path, sizeof path, "%s/run.json", dir);
    assert_int_equal(mkdir(path, 0700), 0); /* the last rename fails */
    assert_int_equal(report_write_files(&made.profile, &made.tables, dir, error, sizeof error), -1);
    assert_exists(dir, "profile.csv", false);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

UNIT_MAIN(NULL, NULL)
