/* needs: tests/fuzz/fake_symbols.c */
#include "base/mpi_calls.h"
#include "report/files/balance_csv.h"
#include "report/views/text.h"
#include "tests/unit/findings_program.h"

#define RANKS 4
#define LONG  20 /* seconds that each rank is measured for */

static struct profile_rank ranks[RANKS];
static struct merged_balance balances[8];
static uint32_t main_node, heavy, call;

static void put(uint32_t node, uint32_t key, struct profile_balance balance)
{
    balances[made.profile.balance_count++] = (struct merged_balance){node, key, balance};
}

/* main > heavy, and MPI_Allreduce: rank 3 is 10 s longer in heavy, rank 2 1 s; two ranks a node. */
static void make_job(void)
{
    const double wait_s[RANKS] = {11, 11, 10, 1}, charged_s[RANKS] = {0, 0, 1, 28};
    made_start(NULL);
    name(MAIN, "main", 10, SYMBOL_PROCEDURE);
    name(HEAVY, "heavy", 50, SYMBOL_PROCEDURE);
    made.profile.header = (struct profile_header){.threads_max = 1,
                                                  .cores = 1,
                                                  .finished = 1,
                                                  .rate = 200,
                                                  .merged = RANKS,
                                                  .ranks = RANKS,
                                                  .start_ns = 1,
                                                  .end_ns = 1 + LONG * (uint64_t)S};
    made.profile.ranks = ranks;
    made.profile.rank_count = made.profile.thread_count = RANKS;
    made.profile.balances = balances;
    main_node = frame(0, KEY(MAIN));
    heavy = frame(main_node, KEY(HEAVY));
    call = add(main_node, PROFILE_NODE_MPI, MPI_CALL_Allreduce);
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i] = (struct profile_rank){.rank = i,
                                         .threads = 1,
                                         .threads_max = 1,
                                         .mpi_wait = wait_s[i] * S,
                                         .charged = charged_s[i] * S};
        snprintf(ranks[i].host, sizeof ranks[i].host, "node%u", i / 2);
        made.threads[i] = (struct profile_thread){.kind = PROFILE_THREAD_INITIAL,
                                                  .rank_record = i + 1,
                                                  .begin_ns = 1,
                                                  .end_ns = 1 + LONG * (uint64_t)S,
                                                  .delivered = 4000,
                                                  .recorded = 4000,
                                                  .work = (LONG - wait_s[i]) * S,
                                                  .mpi_wait = wait_s[i] * S};
        run(heavy, LONG - wait_s[i], 1, 1, 0);
        made.nodes[call].metric.mpi_wait += wait_s[i] * S;
        made.nodes[call].metric.inverse_busy += wait_s[i] * S;
    }
    put(0, PROFILE_BALANCE_NO_CONTEXT,
        (struct profile_balance){.charged = 1 * S, .most = 1 * S, .most_rank = 2});
    put(heavy, PROFILE_BALANCE_CONTEXT,
        (struct profile_balance){
            .charged = 28 * S, .most = 28 * S, .most_rank = 3, .time = 19 * S, .mean = 11.75 * S});
    put(call, PROFILE_BALANCE_CALL,
        (struct profile_balance){.charged = 29 * S, .most = 28 * S, .most_rank = 3, .common = 4 * S});
}

static const struct finding *find(const char *rule)
{
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        if (strcmp(program.findings->finding[i].rule, rule) == 0)
            return &program.findings->finding[i];
    return NULL;
}

static void the_late_rank_is_named_with_the_call_and_its_code(void **state)
{
    (void)state;
    make_job();
    const struct finding *finding = find("late-between-nodes");
    assert_non_null(finding);
    assert_string_equal(
        finding->title,
        "between nodes: rank 3 makes others wait about 28.00 s in MPI_Allreduce p.c:11; most excess in "
        "heavy (1.6 times the mean)");
    assert_non_null(
        strstr(finding->evidence,
               "of 33.00 s waited in MPI for which no rank of the node is blamed, 29.00 s are charged"));
    assert_non_null(strstr(finding->evidence, "ranks late in turn do not show"));
    assert_non_null(strstr(finding->place, "heavy"));
    assert_about(finding->seconds, 28);
    assert_about(finding->gain_s, 28.0 / 3);
    assert_null(find("unequal-ranks")); /* it is the same */
    assert_about(find("mpi-wait")->seconds, 33 - 29);
}

/* What the ranks of its own node wait is told by them: the others are of the other node. */
static void the_bound_is_of_the_ranks_that_nothing_is_told_of(void **state)
{
    (void)state;
    make_job();
    for (int i = 0; i < RANKS; i++)
        ranks[i].ranks_seen = 2;
    assert_about(find("late-between-nodes")->gain_s, 28.0 / 2);
}

static void where_no_rank_stands_out_nothing_is_said(void **state)
{
    (void)state;
    make_job();
    for (int i = 0; i < RANKS; i++)
        ranks[i].charged = 29 * S / RANKS;
    assert_null(find("late-between-nodes"));
    assert_non_null(find("unequal-ranks"));
}

static void all_that_is_charged_is_in_the_view(void **state)
{
    (void)state;
    const struct view_style style = {.title = "Balance", .columns = 100};
    make_job();
    struct rows *rows = made_tables();
    FILE *out = made_out();
    view_text_balance(out, &made.profile, rows, &style);
    fclose(out);
    assert_non_null(strstr(made_text, "Ranks wait 33.000 s"));
    assert_non_null(strstr(made_text, "29.000 s are charged"));
    assert_non_null(strstr(made_text, "    29.000  100.0       3     28.000  MPI_Allreduce"));
    assert_non_null(strstr(made_text, "    28.000   96.6       3             node1\n"));
    assert_non_null(strstr(made_text, "    28.000   96.6       3       1.62  heavy"));
    assert_non_null(strstr(made_text, "     1.000    3.4       2             <no longer than others>\n"));
    made.profile.balance_count = 0;
    out = made_out();
    view_text_balance(out, &made.profile, rows, &style);
    fclose(out);
    assert_non_null(strstr(made_text, "Nothing is charged between nodes"));
}

static void the_file_has_a_line_for_each(void **state)
{
    (void)state;
    make_job();
    struct rows *rows = made_tables();
    FILE *out = made_out();
    write_balance_csv(out, &made.profile, rows);
    fclose(out);
    assert_string_equal(made_text, "kind,id,name,charged,rank,of_rank,common,time,mean\r\n"
                                   "call,4,MPI_Allreduce,29.000000,3,28.000000,4.000000,,\r\n"
                                   "context,2,heavy,28.000000,3,28.000000,,19.000000,11.750000\r\n"
                                   "context,,<no longer than others>,1.000000,2,1.000000,,,\r\n"
                                   "rank,,,28.000000,3,28.000000,,,\r\n"
                                   "rank,,,1.000000,2,1.000000,,,\r\n");
}

#define WITH_JOB(name) cmocka_unit_test_teardown(name, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_JOB(the_late_rank_is_named_with_the_call_and_its_code),
        WITH_JOB(the_bound_is_of_the_ranks_that_nothing_is_told_of),
        WITH_JOB(where_no_rank_stands_out_nothing_is_said),
        WITH_JOB(all_that_is_charged_is_in_the_view),
        WITH_JOB(the_file_has_a_line_for_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
