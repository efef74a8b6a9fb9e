#include "tests/unit/unit.h"

#include <math.h>

#include "command/tables/efficiency.h"
#include "command/views/text.h"

#define S   1e9
#define SEC UINT64_C(1000000000)

static struct profile_rank ranks[3];
static struct profile_thread threads[6];
static struct profile_module layer = {.path = "/opt/lib/libblame-mpi.so"};
static struct profile job;

static struct profile_thread thread_of(uint64_t record, uint32_t kind, double work_s, double mpi_wait_s)
{
    return (struct profile_thread){.kind = kind,
                                   .rank_record = record,
                                   .begin_ns = 5 * SEC,
                                   .end_ns = 15 * SEC,
                                   .work = work_s * S,
                                   .mpi_wait = mpi_wait_s * S};
}

/* Two ranks of two threads, measured for 10 s; rank 1 waits for rank 0. */
static int make_job(void **state)
{
    (void)state;
    memset(ranks, 0, sizeof ranks);
    for (uint32_t i = 0; i < 3; i++)
        ranks[i] = (struct profile_rank){.rank = i, .threads_max = 2, .mpi_wait = i == 1 ? 6 * S : 1 * S};
    threads[0] = thread_of(1, PROFILE_THREAD_INITIAL, 9, 1);
    threads[1] = thread_of(1, PROFILE_THREAD_WORKER, 5, 0);
    threads[2] = thread_of(2, PROFILE_THREAD_INITIAL, 4, 6);
    threads[3] = thread_of(2, PROFILE_THREAD_WORKER, 4, 0);
    job = (struct profile){.header = {.merged = 2, .threads_max = 2, .cores = 2},
                           .ranks = ranks,
                           .rank_count = 2,
                           .threads = threads,
                           .thread_count = 4,
                           .modules = &layer};
    return 0;
}

static void assert_efficiency(double is, double should)
{
    assert_true(fabs(is - should) < 1e-12);
}

UNIT_TEST_WITH(efficiencies_are_those_computed_by_hand, make_job, NULL)
{
    struct efficiencies made = efficiencies_of(&job);
    assert_null(made.why);
    assert_null(made.why_balance);
    assert_int_equal(made.processes, 2);
    assert_int_equal(made.threads, 4);
    assert_efficiency(made.runtime_s, 10);
    assert_efficiency(made.of[EFFICIENCY_PARALLEL], (9 + 5 + 4 + 4) / 4.0 / 10);
    assert_efficiency(made.of[EFFICIENCY_LOAD_BALANCE], (9 + 5 + 4 + 4) / 4.0 / 9);
    assert_efficiency(made.of[EFFICIENCY_COMMUNICATION], 9 / 10.0);
    assert_efficiency(made.of[EFFICIENCY_MPI], (9 + 4) / 2.0 / 10);
    assert_efficiency(made.of[EFFICIENCY_MPI_LOAD_BALANCE], (9 + 4) / 2.0 / 9);
    assert_efficiency(made.of[EFFICIENCY_MPI_COMMUNICATION], 9 / 10.0);
    assert_efficiency(made.of[EFFICIENCY_OPENMP], 5.5 / 6.5);
    assert_efficiency(made.of[EFFICIENCY_OPENMP_LOAD_BALANCE], 5.5 / 6.5);
    assert_efficiency(made.of[EFFICIENCY_OPENMP_COMMUNICATION], 1);
    assert_true(isnan(made.of[EFFICIENCY_MPI_SERIALISATION]) && isnan(made.of[EFFICIENCY_MPI_TRANSFER]));
}

/* POP's useful time is all outside both runtimes, whether it has a core or not. */
UNIT_TEST_WITH(time_without_a_core_is_useful_and_said, make_job, NULL)
{
    threads[1].no_core = 1 * S;
    threads[3].blocked = 2 * S;
    struct efficiencies made = efficiencies_of(&job);
    assert_efficiency(made.of[EFFICIENCY_PARALLEL], 25 / 4.0 / 10);
    assert_efficiency(made.no_core, 1 / 25.0);
    assert_efficiency(made.blocked, 2 / 25.0);
}

/* The longest rank's time counts for all, threads that were never there as if they did nothing. */
UNIT_TEST_WITH(ranks_may_be_unequal, make_job, NULL)
{
    threads[2].end_ns = threads[3].end_ns = 13 * SEC;
    ranks[1].threads_max = 4;
    struct efficiencies made = efficiencies_of(&job);
    assert_efficiency(made.of[EFFICIENCY_PARALLEL], 22 / 6.0 / 10);
    assert_efficiency(made.of[EFFICIENCY_MPI], (9 + 2) / 2.0 / 10);
    assert_null(made.why_balance);
}

UNIT_TEST_WITH(a_missing_rank_does_not_count_and_a_helper_thread_neither, make_job, NULL)
{
    job.rank_count = 3;
    ranks[2].state = PROFILE_RANK_MISSING;
    threads[4] = thread_of(1, PROFILE_THREAD_HELPER, 10, 0);
    job.thread_count = 5;
    struct efficiencies made = efficiencies_of(&job);
    assert_int_equal(made.processes, 2);
    assert_efficiency(made.of[EFFICIENCY_PARALLEL], 0.55);
}

UNIT_TEST_WITH(nobody_was_seen_waiting_behind_the_layer, make_job, NULL)
{
    threads[0].mpi_wait = threads[2].mpi_wait = ranks[0].mpi_wait = ranks[1].mpi_wait = 0;
    assert_non_null(efficiencies_of(&job).why);
    job.module_count = 1;
    struct efficiencies made = efficiencies_of(&job);
    assert_null(made.why);
    assert_efficiency(made.of[EFFICIENCY_MPI], 1);
}

UNIT_TEST_WITH(what_cannot_be_told_is_no_number, make_job, NULL)
{
    ranks[1].rank = 0;
    ranks[1].process = 1;
    struct efficiencies made = efficiencies_of(&job);
    assert_non_null(made.why);
    for (int i = 0; i < EFFICIENCIES; i++)
        assert_true(isnan(made.of[i]));
    make_job(NULL);
    job.header.clock = 1;
    assert_non_null(efficiencies_of(&job).why);
    make_job(NULL);
    job.text = (char *)"sample\0cycles@1000\0";
    job.text_bytes = sizeof "sample\0cycles@1000";
    assert_non_null(efficiencies_of(&job).why);
    make_job(NULL);
    job.thread_count = 0;
    assert_non_null(efficiencies_of(&job).why);
}

/* Of threads that came one after the other none has its rank's whole share. */
UNIT_TEST_WITH(with_threads_that_come_and_go_only_the_balance_over_threads_is_untold, make_job, NULL)
{
    threads[4] = thread_of(2, PROFILE_THREAD_WORKER, 1, 0);
    job.thread_count = 5;
    struct efficiencies made = efficiencies_of(&job);
    assert_null(made.why);
    assert_non_null(made.why_balance);
    assert_efficiency(made.of[EFFICIENCY_PARALLEL], 23 / 4.0 / 10);
    assert_efficiency(made.of[EFFICIENCY_MPI_LOAD_BALANCE], 6.5 / 9);
    assert_efficiency(made.of[EFFICIENCY_OPENMP], 5.75 / 6.5);
    const enum efficiency untold[] = {EFFICIENCY_LOAD_BALANCE, EFFICIENCY_COMMUNICATION, EFFICIENCY_OPENMP_LOAD_BALANCE,
                                      EFFICIENCY_OPENMP_COMMUNICATION};
    for (size_t i = 0; i < sizeof untold / sizeof *untold; i++)
        assert_true(isnan(made.of[untold[i]]));
}

UNIT_TEST_WITH(the_view_has_products_and_says_what_is_untold, make_job, NULL)
{
    char *text = NULL;
    size_t bytes;
    struct view_style style = {.columns = 100};
    FILE *out = open_memstream(&text, &bytes);
    view_text_efficiencies(out, &job, &style);
    fclose(out);
    assert_non_null(strstr(text, "for 10.00 s, 2 ranks and 4 threads"));
    assert_non_null(strstr(text, "  parallel                    55.0            61.1            90.0\n"));
    assert_non_null(strstr(text, "  inside ranks (OpenMP)       84.6            84.6           100.0\n"));
    free(text);
    job.header.clock = 1;
    out = open_memstream(&text, &bytes);
    view_text_efficiencies(out, &job, &style);
    fclose(out);
    assert_non_null(strstr(text, "are unknown"));
    assert_null(strstr(text, "0.0"));
    free(text);
}

UNIT_MAIN(NULL, NULL)
