/* needs: tests/fuzz/fake_symbols.c */
/* What ranks of a job wait for each other: the law, and what reports say of it. */
#include <math.h>

#include "base/mpi_calls.h"
#include "command/rows/metric.h"
#include "command/files/csv.h"
#include "command/findings/findings.h"
#include "command/tables/conservation.h"
#include "command/tables/ranks.h"
#include "command/views/text.h"
#include "tests/unit/made_profile.h"

#define RANKS   4
#define SOLVE_8 PROFILE_KEY(1, 0x8)
#define STEP_9  PROFILE_KEY(1, 0x9)
#define CALL_7  PROFILE_KEY(1, 0x7)

#define WITH_JOB(name) UNIT_TEST_WITH(name, job_start, made_finish)

static struct profile_rank ranks[RANKS];

/* Four ranks of one node, each of which was measured for ten seconds. */
static int job_start(void **state)
{
    if (made_start(state) != 0)
        return -1;
    fake_function(SOLVE_8, "solve", "/s/m.c", 5, 8);
    fake_function(STEP_9, "step", "/s/m.c", 15, 19);
    fake_function(CALL_7, "exchange", "/s/m.c", 80, 88);
    made.profile.ranks = ranks;
    made.profile.rank_count = RANKS;
    made.profile.header.merged = RANKS;
    made.profile.header.threads_max = 1;
    made.profile.header.ranks_seen = RANKS;
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] = (struct profile_rank){.rank = i, .state = PROFILE_RANK_WHOLE, .host = "node0", .ranks_seen = RANKS};
    return 0;
}

/* In solve() others waited in MPI_Allreduce because of `blame_s`, in a call of their own for `waited_s` of it. */
static void wait_for_solve(double blame_s, double waited_s)
{
    uint32_t solve = made_work(0, SOLVE_8, 10);
    uint32_t call = made_add(solve, PROFILE_NODE_MPI, MPI_CALL_Allreduce,
                             (struct profile_sums){.mpi_wait = 2 * waited_s * S, .inverse_busy = 2 * waited_s * S});
    made_add(solve, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Allreduce, STEP_9),
             (struct profile_sums){.rank_idle = blame_s * S, .rank_wall = blame_s / 3 * S});
    made_add(call, PROFILE_NODE_RANKS, 0, (struct profile_sums){.rank_waited = waited_s * S});
}

static const struct conservation_law *law_of_ranks(void)
{
    static struct conservation_law laws[CONSERVATION_LAWS];
    size_t count = conservation_check(&made.profile, made_tables(), laws);
    for (size_t i = 0; i < count; i++)
        if (strcmp(laws[i].name, "rank_idleness") == 0)
            return &laws[i];
    return NULL;
}

WITH_JOB(what_ranks_are_blamed_for_is_what_others_waited)
{
    wait_for_solve(9, 9.1);
    const struct conservation_law *law = law_of_ranks();
    assert_non_null(law);
    assert_true(law->ok && !law->exact && fabs(law->left - 9) < 1e-9 && fabs(law->right - 9.1) < 1e-9);
    assert_true(law->tolerance > 1.6 &&
                law->tolerance < 2); /* 4 sqrt(9 s x 5 ms x (3 + 1)), and more for few samples */
    wait_for_solve(9, 0);
    assert_false(law_of_ranks()->ok);
}

/* What nobody was blamed for is a residual as what nobody waited is; lost samples of one rank explain what three others waited. */
WITH_JOB(what_nobody_is_blamed_for_is_told)
{
    wait_for_solve(6, 9);
    made.threads[0].no_core = 9 * S;
    const struct conservation_law *law = law_of_ranks();
    assert_true(!law->ok && fabs(law->residual + 3) < 1e-9);
    assert_string_equal(law->cause, LAW_UNEXPLAINED);
    made.threads[0].dropped_ns = 0.5 * S;
    assert_string_equal(law_of_ranks()->cause, LAW_LOST);
}

WITH_JOB(the_law_is_one_of_jobs_whose_ranks_saw_all_others_of_their_node)
{
    wait_for_solve(9, 9);
    ranks[3].ranks_seen = 3;
    assert_null(law_of_ranks());
    for (int i = 0; i < RANKS; i++)
        ranks[i].ranks_seen = 2;
    assert_null(law_of_ranks());
    strcpy(ranks[1].host, "node1");
    strcpy(ranks[3].host, "node1");
    assert_non_null(law_of_ranks());
    ranks[2].state = PROFILE_RANK_OPEN;
    assert_null(law_of_ranks());
    ranks[2].state = PROFILE_RANK_WHOLE;
    made.profile.rank_count = 0; /* a rank's own file */
    assert_null(law_of_ranks());
}

WITH_JOB(the_head_says_what_the_ranks_have)
{
    char text[200];
    made.profile.header.cores = made.profile.header.threads_max = 4;
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i].threads_max = ranks[i].cores = 4;
    assert_true(ranks_size(&made.profile, text, sizeof text));
    assert_string_equal(text, "4 ranks on 1 node, 4 threads on 4 cores each");
    ranks[2].threads_max = 1;
    strcpy(ranks[1].host, "node1");
    ranks_size(&made.profile, text, sizeof text);
    assert_string_equal(text, "4 ranks on 2 nodes, 1 to 4 threads on 4 cores each");
    made.profile.header.merged = 0;
    assert_false(ranks_size(&made.profile, text, sizeof text));
}

/* In two contexts, of which one is blamed for two calls. */
WITH_JOB(waits_have_the_other_ranks_calls_and_whom_they_waited_for)
{
    uint32_t solve = made_work(0, SOLVE_8, 10), step = made_work(0, STEP_9, 10);
    struct profile_sums much = {.rank_idle = 6 * S}, little = {.rank_idle = 1 * S};
    made_add(solve, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Barrier, CALL_7), little);
    made_add(step, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Allreduce, CALL_7), little);
    made_add(solve, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Allreduce, CALL_7), much);
    made_add(step, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Recv, 0ull), little);
    struct rows *rows = made_tables();
    FILE *out = made_out();
    write_waits_csv(out, rows, made.tables.waits);
    fclose(out);
    assert_non_null(strstr(made_text, "\r\n0,mpi,exchange,/s/m.c,88,0,1,solve,6.000000,MPI_Allreduce\r\n"));
    assert_non_null(strstr(made_text, "\r\n0,mpi,exchange,/s/m.c,88,0,3,step,1.000000,MPI_Allreduce\r\n"));
    assert_non_null(strstr(made_text, ",mpi,exchange,/s/m.c,88,0,1,solve,1.000000,MPI_Barrier\r\n"));
    assert_non_null(strstr(made_text, ",mpi,,,0,0,3,step,1.000000,MPI_Recv\r\n"));
    out = made_out();
    view_text_waits(out, &made.profile, rows, made.tables.waits,
                    &(struct view_style){.columns = 120, .title = "", .below = 3});
    fclose(out);
    assert_non_null(strstr(made_text, "MPI_Allreduce of other ranks in exchange  m.c:88\n"));
    assert_non_null(strstr(made_text, "MPI_Recv of other ranks\n"));
}

/* The one finding of that rule, or NULL. */
static const struct finding *finding_of(const char *rule)
{
    static struct findings *findings;
    const struct finding *found = NULL;
    findings_free(findings);
    struct rows *rows = made_tables();
    findings = findings_gather(&made.profile, rows, made.tables.locks, made.tables.waits);
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->finding[i].rule, rule) == 0) {
            assert_null(found);
            found = &findings->finding[i];
        }
    return found;
}

/* Of ten seconds each rank works; `made_s` is what each makes others wait, in seconds. */
static uint32_t make_wait(const double made_s[RANKS], double blame_s)
{
    made.threads[0] = (struct profile_thread){.kind = 1, .end_ns = 1, .delivered = 8000, .recorded = 8000};
    made.profile.header.start_ns = made.profile.header.end_ns = made.profile.header.regions = 1;
    uint32_t solve = made_work(made_work(0, STEP_9, 2), SOLVE_8, 38);
    made.nodes[solve].metric.samples = 8000;
    made_add(solve, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Allreduce, CALL_7),
             (struct profile_sums){.rank_idle = blame_s * S, .rank_wall = blame_s / 3 * S});
    uint32_t call = made_add(0, PROFILE_NODE_MPI, MPI_CALL_Allreduce,
                             (struct profile_sums){.mpi_wait = 10 * S, .inverse_busy = 10 * S});
    made_add(call, PROFILE_NODE_RANKS, 0, (struct profile_sums){.rank_waited = blame_s * S});
    for (int i = 0; i < RANKS; i++) {
        ranks[i].made_wait = made_s[i] * S;
        ranks[i].rank_idle = (blame_s - made_s[i]) / (RANKS - 1) * S;
    }
    return solve;
}

WITH_JOB(the_rank_that_others_wait_for_is_a_finding_with_their_call)
{
    uint32_t solve = make_wait((double[]){0.2, 0.3, 8.2, 0.3}, 9);
    const struct finding *finding = finding_of("late-rank");
    assert_non_null(finding);
    assert_string_equal(finding->title, "rank 2 makes 3 ranks wait 8.20 s in MPI_Allreduce m.c:88");
    assert_has(finding->place, "solve  m.c:8  < step");
    assert_has(finding->evidence, "ranks of the same node waited 9.00 s in MPI while another was busy");
    assert_int_equal(finding->metric, METRIC_RANK_IDLENESS);
    assert_true(fabs(finding->seconds - 8.2) < 1e-9 && fabs(finding->gain_s - 8.2 / 3) < 1e-9);
    assert_null(finding_of("mpi-wait"));                             /* what is left of ten seconds is less than 5 % */
    struct merged_spread spread = {.node = made.nodes[solve].parent, /* of what is called there */
                                   .key = PROFILE_SPREAD_KEY(PROFILE_SPREAD_WORK, false, true),
                                   .spread = {.mean = 10 * S, .most = 14 * S, .ranks = RANKS, .most_rank = 2}};
    made.profile.spreads = &spread;
    made.profile.spread_count = 1;
    assert_has(finding_of("late-rank")->title, "m.c:88: its solve takes 1.4 times the mean");
    spread.spread.most_rank = 1; /* it is not its work */
    assert_string_equal(finding_of("late-rank")->title, "rank 2 makes 3 ranks wait 8.20 s in MPI_Allreduce m.c:88");
    made.profile.spread_count = 0;
}

WITH_JOB(several_late_ranks_are_named_and_only_ranks_of_their_node_wait_for_them)
{
    make_wait((double[]){4.5, 0, 4.3, 0.2}, 9);
    assert_has(finding_of("late-rank")->title, "ranks 0 and 2 make 2 ranks wait 8.80 s");
    strcpy(ranks[3].host, "node1");
    assert_has(finding_of("late-rank")->title, "ranks 0 and 2 make 1 rank wait 8.80 s");
}

/* Ranks share the cores that they are bound to, on one node. */
WITH_JOB(threads_without_a_core_are_those_of_all_ranks_that_share_the_cores)
{
    uint32_t solve = make_wait((double[]){0, 0, 0, 0}, 0);
    made_add(solve, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, (struct profile_sums){.no_core = 30 * S});
    made.threads[0].core_source = PROFILE_CORE_SCHEDSTAT;
    for (int i = 0; i < RANKS; i++) {
        ranks[i].threads_max = ranks[i].cores = 2;
        strcpy(ranks[i].binding, "0-1");
    }
    const struct finding *finding = finding_of("oversubscribed");
    assert_non_null(finding);
    assert_has(finding->title, "without a core: 8 threads of 4 ranks on 2 cores");
    assert_has(finding->advice, "fewer ranks or threads (at most 2 threads in all");
    strcpy(ranks[1].host, "node1");
    strcpy(ranks[2].binding, "2-3");
    assert_has(finding_of("oversubscribed")->title, "4 threads of 2 ranks on 2 cores");
    strcpy(ranks[3].host, "node2");
    assert_has(finding_of("cores-taken")->title, "2 threads of 1 rank and other processes on 2 cores");
    assert_null(finding_of("oversubscribed"));
}

WITH_JOB(ranks_that_are_late_in_turn_are_said_to_take_turns)
{
    make_wait((double[]){2.2, 2.5, 2, 2.3}, 9);
    const struct finding *finding = finding_of("late-rank");
    assert_string_equal(finding->title,
                        "ranks take turns: they keep each other waiting for 9.00 s in MPI_Allreduce m.c:88");
    assert_has(finding->advice, "No single rank is late");
    assert_true(fabs(finding->gain_s - 7. / 3) < 1e-9); /* the third waits so long, the others less */
}

WITH_JOB(a_rank_that_is_late_for_want_of_a_core_has_not_too_much_to_do)
{
    uint32_t solve = make_wait((double[]){0, 9, 0, 0}, 3);
    uint32_t no_core =
        made_add(solve, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, (struct profile_sums){.no_core = 3 * S});
    made_add(no_core, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Allreduce, CALL_7),
             (struct profile_sums){.rank_idle = 6 * S});
    const struct finding *finding = finding_of("late-rank");
    assert_string_equal(finding->title,
                        "rank 1 makes 3 ranks wait 9.00 s in MPI_Allreduce m.c:88, mostly while it has no core");
    assert_has(finding->advice, "cores of its own");
    ranks[0].rank_idle = ranks[2].rank_idle = ranks[3].rank_idle = 0.5 * S;
    assert_true(fabs(finding_of("late-rank")->gain_s - 1) < 1e-9);
}

/* It is below no code, and is none. */
WITH_JOB(a_rank_whose_threads_all_wait_has_not_too_much_to_do)
{
    make_wait((double[]){0, 9, 0, 0}, 3);
    uint32_t nobody = made_add(0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NOBODY, (struct profile_sums){.work = 0});
    made_add(nobody, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(MPI_CALL_Allreduce, CALL_7),
             (struct profile_sums){.rank_idle = 6 * S});
    const struct finding *finding = finding_of("late-rank");
    assert_string_equal(
        finding->title,
        "rank 1 makes 3 ranks wait 9.00 s in MPI_Allreduce m.c:88, mostly while it has no core or no working thread");
    assert_has(finding->evidence, "6.00 s of it while all threads of that rank waited");
    assert_has(finding->advice, "a core for each thread");
    assert_null(strstr(finding->place, "nobody"));
}

WITH_JOB(a_ranks_own_profile_says_what_others_wait_for_it)
{
    make_wait((double[]){0, 0, 0, 0}, 9);
    made.profile.header.ranks = RANKS;
    made.profile.rank_count = 0;
    made.profile.header.merged = 0;
    assert_null(finding_of("late-rank")); /* it waits as much for them */
    assert_has(finding_of("mpi-wait")->evidence, "9.00 s of it while another rank of the node was busy");
    assert_has(finding_of("mpi-wait")->advice, "Another rank arrives later");
    made.nodes[made.profile.node_count - 1].metric.rank_waited = 2 * S;
    assert_string_equal(finding_of("late-rank")->title, "this rank makes others wait 9.00 s in MPI_Allreduce m.c:88");
    assert_has(finding_of("mpi-wait")->advice, "all ranks were in MPI, so");
    made.profile.header.ranks = 2 * RANKS; /* on another node */
    assert_has(finding_of("mpi-wait")->advice, "Another rank arrives later");
}

/* On several nodes nobody sees who is late; sums tell who waits least. */
WITH_JOB(who_waits_least_in_a_call_is_named_where_it_is_not_seen_who_is_late)
{
    make_wait((double[]){0, 0, 0, 0}, 0);
    struct merged_spread spread = {
        .node = (uint32_t)made.profile.node_count - 2, /* the call */
        .key = PROFILE_SPREAD_KEY(PROFILE_SPREAD_MPI_WAIT, false, false),
        .spread = {.mean = 2.5 * S, .least = 0.2 * S, .most = 4 * S, .ranks = RANKS, .least_rank = 2}};
    made.profile.spreads = &spread;
    made.profile.spread_count = 1;
    made.profile.header.ranks = 2 * RANKS;
    assert_has(finding_of("mpi-wait")->evidence, "; rank 2 waits least there: 0.20 s, compared with a mean of 2.50 s");
    spread.spread.least = 1.5 * S;
    assert_null(strstr(finding_of("mpi-wait")->evidence, "waits least"));
    made.profile.header.ranks = RANKS; /* all were seen */
    spread.spread.least = 0.2 * S;
    assert_null(strstr(finding_of("mpi-wait")->evidence, "waits least"));
}

UNIT_MAIN(NULL, NULL)
