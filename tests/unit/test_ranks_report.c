/* needs: tests/fuzz/fake_symbols.c */
/* What ranks of a job wait for each other: the law, and what reports say of it. */
#include <math.h>

#include "base/mpi_calls.h"
#include "report/rows/metric.h"
#include "report/files/csv.h"
#include "report/tables/conservation.h"
#include "report/views/text.h"
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
    assert_true(law->tolerance > 1.6 && law->tolerance < 2); /* 4 sqrt(9 s x 5 ms x (3 + 1)), and more for few samples */
    wait_for_solve(9, 0);
    assert_false(law_of_ranks()->ok);
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
    view_text_waits(out, &made.profile, rows, made.tables.waits, &(struct view_style){.columns = 120, .title = "", .below = 3});
    fclose(out);
    assert_non_null(strstr(made_text, "MPI_Allreduce of other ranks in exchange  m.c:88\n"));
    assert_non_null(strstr(made_text, "MPI_Recv of other ranks\n"));
}

UNIT_MAIN(NULL, NULL)
