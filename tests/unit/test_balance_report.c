/* needs: tests/fuzz/fake_symbols.c */
#include "command/files/csv.h"
#include "command/views/text.h"
#include "tests/unit/job_program.h"

static struct merged_balance balances[8];

static void put(uint32_t node, uint32_t key, struct profile_balance balance)
{
    balances[made.profile.balance_count++] = (struct merged_balance){node, key, balance};
}

/* main > heavy, and MPI_Allreduce: rank 3 is 10 s longer in heavy, rank 2 1 s; two ranks a node. */
static void make_job(void)
{
    const double charged_s[RANKS] = {0, 0, 1, 28};
    make_ranks(20, (const double[]){9, 9, 10, 19});
    made.profile.balances = balances;
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].charged = charged_s[i] * S;
        snprintf(ranks[i].host, sizeof ranks[i].host, "node%u", i / 2);
    }
    put(0, PROFILE_BALANCE_NO_CONTEXT, (struct profile_balance){.charged = 1 * S, .most = 1 * S, .most_rank = 2});
    put(heavy, PROFILE_BALANCE_CONTEXT, /* two places in one row */
        (struct profile_balance){.charged = 20 * S, .most = 20 * S, .most_rank = 3, .time = 13 * S, .mean = 8 * S});
    put(heavy, PROFILE_BALANCE_CONTEXT,
        (struct profile_balance){.charged = 8 * S, .most = 8 * S, .most_rank = 3, .time = 6 * S, .mean = 3.75 * S});
    put(call, PROFILE_BALANCE_CALL,
        (struct profile_balance){.charged = 29 * S, .most = 28 * S, .most_rank = 3, .common = 4 * S});
}

#define WITH_JOB(name) UNIT_TEST_WITH(name, NULL, destroy)

WITH_JOB(the_late_rank_is_named_with_the_call_and_its_code)
{
    make_job();
    const struct finding *finding = find("late-between-nodes");
    assert_non_null(finding);
    assert_string_equal(finding->title,
                        "between nodes: rank 3 makes others wait about 28.00 s in MPI_Allreduce p.c:11; most excess in "
                        "heavy (1.6 times the mean)");
    assert_has(finding->evidence,
               "no rank of the node is to blame for 33.00 s of waiting in MPI; 29.00 s of this are charged");
    assert_has(finding->evidence, "it does not show ranks that are late in turn");
    assert_has(finding->place, "heavy");
    assert_about(finding->seconds, 28);
    assert_about(finding->gain_s, 28.0 / 3);
    assert_null(find("unequal-ranks")); /* it is the same */
    assert_about(find("mpi-wait")->seconds, 33 - 29);
}

/* What the ranks of its own node wait is told by them: the others are of the other node. */
WITH_JOB(the_bound_is_of_the_ranks_that_nothing_is_told_of)
{
    make_job();
    for (int i = 0; i < RANKS; i++)
        ranks[i].ranks_seen = 2;
    assert_about(find("late-between-nodes")->gain_s, 28.0 / 2);
}

WITH_JOB(where_no_rank_stands_out_nothing_is_said)
{
    make_job();
    for (int i = 0; i < RANKS; i++)
        ranks[i].charged = 29 * S / RANKS;
    assert_null(find("late-between-nodes"));
    assert_non_null(find("unequal-ranks"));
}

WITH_JOB(all_that_is_charged_is_in_the_view)
{
    const struct view_style style = {.title = "Balance", .columns = 100};
    make_job();
    struct rows *rows = made_tables();
    FILE *out = made_out();
    view_text_balance(out, &made.profile, rows, &style);
    fclose(out);
    assert_has(made_text, "For 33.000 s of waiting in MPI");
    assert_has(made_text, "29.000 s are charged");
    assert_has(made_text, "    29.000  100.0       3     28.000  MPI_Allreduce");
    assert_has(made_text, "    28.000   96.6       3             node1\n");
    assert_has(made_text, "    28.000   96.6       3       1.62  heavy");
    assert_has(made_text, "     1.000    3.4       2             <no longer than others>\n");
    made.profile.balance_count = 0;
    out = made_out();
    view_text_balance(out, &made.profile, rows, &style);
    fclose(out);
    assert_has(made_text, "No waiting is charged to ranks on other nodes");
}

WITH_JOB(the_file_has_a_line_for_each)
{
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

UNIT_MAIN(NULL, NULL)
