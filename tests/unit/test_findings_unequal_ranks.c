/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/job_program.h"

#define LONG 10 /* seconds that each rank is measured for */

static struct merged_spread spreads[16];

static void add_spread(uint32_t node, double mean_s, double most_s, uint32_t most_rank)
{
    for (int callee = 0; callee < 2; callee++)
        spreads[made.profile.spread_count++] = (struct merged_spread){
            .node = node,
            .key = PROFILE_SPREAD_KEY(PROFILE_SPREAD_WORK, false, callee),
            .spread = {
                .mean = mean_s * S, .most = most_s * S, .ranks = RANKS, .least_rank = 0, .most_rank = most_rank}};
}

static void make_job(const double work_s[RANKS])
{
    make_ranks(LONG, work_s);
    made.profile.spreads = spreads;
}

static const struct finding *unequal_ranks(void)
{
    return find("unequal-ranks");
}

#define WITH_JOB(name) UNIT_TEST_WITH(name, NULL, destroy)

WITH_JOB(the_rank_that_makes_the_others_wait_is_named_with_its_code)
{
    make_job((const double[]){6, 6, 6, 10});
    for (uint32_t node = 0; node <= heavy; node++)
        add_spread(node, 7, 10, 3);
    const struct finding *finding = unequal_ranks();
    assert_non_null(finding);
    assert_string_equal(finding->title,
                        "rank 3 spends 1.43 times the mean time outside MPI, while the others wait 12.00 s in MPI");
    assert_non_null(strstr(finding->evidence,
                           "of 4 ranks, rank 3 spends 10.00 s outside MPI, compared with a mean of 7.00 s and with "
                           "6.00 s for rank 0; rank 3 works 10.00 s in heavy, compared with a mean of 7.00 s"));
    assert_non_null(strstr(finding->place, "heavy"));
    assert_about(finding->seconds, 12);
    assert_about(finding->gain_s, 3);
}

/* Where another rank has the most of the work, the code is not what makes this one late. */
WITH_JOB(without_the_ranks_own_code_the_finding_is_about_the_program)
{
    make_job((const double[]){6, 6, 6, 10});
    for (uint32_t node = 0; node <= heavy; node++)
        add_spread(node, 7, 10, 2);
    const struct finding *finding = unequal_ranks();
    assert_non_null(finding);
    assert_string_equal(finding->place, "");
    assert_null(strstr(finding->evidence, "works"));
}

WITH_JOB(several_late_ranks_are_told_together)
{
    make_job((const double[]){4, 9, 4, 10});
    assert_string_equal(
        unequal_ranks()->title,
        "ranks 3, 1 spend up to 1.48 times the mean time outside MPI, while the others wait 13.00 s in MPI");
}

/* They wait for what no rank's sum tells: each for another in turn, or for messages. */
WITH_JOB(ranks_that_are_alike_are_no_finding_however_long_they_wait)
{
    make_job((const double[]){5, 5, 5, 5});
    assert_null(unequal_ranks());
}

WITH_JOB(ranks_that_wait_for_nobody_are_none_however_unlike_they_are)
{
    make_job((const double[]){10, 10, 10, 10});
    for (size_t i = 0; i < 3; i++)
        made.threads[i].end_ns = 1 + 5 * (uint64_t)S;
    ranks[0].mpi_wait = 1; /* so that waiting is told */
    assert_null(unequal_ranks());
}

WITH_JOB(a_missing_rank_is_not_late_and_one_rank_is_never)
{
    make_job((const double[]){6, 6, 6, 10});
    ranks[3].state = PROFILE_RANK_MISSING;
    assert_null(unequal_ranks());
    make_job((const double[]){6, 6, 6, 10});
    made.profile.header.merged = 0;
    assert_null(unequal_ranks());
}

/* Ranks of one node see whom they wait for: that is another finding. Of a job on several nodes the rest is what this one is about. */
WITH_JOB(what_is_told_by_who_waits_for_whom_is_not_told_again)
{
    for (int others = 0; others < 2; others++) { /* rank 2 is on another node */
        make_job((const double[]){6, 6, 6, 10});
        made.profile.header.ranks = RANKS;
        made.profile.header.ranks_seen = (uint32_t)(RANKS - others);
        made.nodes[heavy].metric.rank_idle = made.nodes[heavy].metric.rank_wall = 12 * S;
        for (int i = 0; i < 3 - others; i++) {
            ranks[i].rank_idle = ranks[i].mpi_wait;
            ranks[i].ranks_seen = made.profile.header.ranks_seen;
        }
        const struct finding *finding = unequal_ranks();
        if (others)
            assert_about(finding->seconds, 4);
        else
            assert_null(finding);
        bool told = false;
        for (size_t i = 0; i < program.findings->count; i++)
            told |= strcmp(program.findings->finding[i].rule, "late-rank") == 0;
        assert_true(told);
    }
}

UNIT_MAIN(NULL, NULL)
