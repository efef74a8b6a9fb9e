/* A job of four ranks with one thread each, for tests of findings: main > heavy, and the rest of the time in MPI_Allreduce. */
#ifndef BLAME_TESTS_UNIT_JOB_PROGRAM_H
#define BLAME_TESTS_UNIT_JOB_PROGRAM_H

#include "base/mpi_calls.h"
#include "tests/unit/findings_program.h"

#define RANKS 4

static struct profile_rank ranks[RANKS];
static uint32_t main_node, heavy, call;

static void make_rank(uint32_t i, double seconds, double work_s)
{
    double wait_s = seconds - work_s;
    uint64_t samples = 200 * (uint64_t)seconds;
    ranks[i] = (struct profile_rank){.rank = i, .threads = 1, .threads_max = 1, .mpi_wait = wait_s * S};
    made.threads[i] = (struct profile_thread){.kind = PROFILE_THREAD_INITIAL,
                                              .rank_record = i + 1,
                                              .begin_ns = 1,
                                              .end_ns = made.profile.header.end_ns,
                                              .delivered = samples,
                                              .recorded = samples,
                                              .work = work_s * S,
                                              .mpi_wait = wait_s * S};
    run(heavy, work_s, 1, 1, 0);
    made.nodes[call].metric.mpi_wait += wait_s * S;
    made.nodes[call].metric.inverse_busy += wait_s * S;
    made.nodes[call].metric.samples += 200 * (uint64_t)wait_s;
}

static void make_ranks(double seconds, const double work_s[RANKS])
{
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
                                                  .end_ns = 1 + (uint64_t)(seconds * S)};
    made.profile.ranks = ranks;
    made.profile.rank_count = made.profile.thread_count = RANKS;
    main_node = frame(0, KEY(MAIN));
    heavy = frame(main_node, KEY(HEAVY));
    call = add(main_node, PROFILE_NODE_MPI, MPI_CALL_Allreduce);
    for (uint32_t i = 0; i < RANKS; i++)
        make_rank(i, seconds, work_s[i]);
}

static const struct finding *find(const char *rule)
{
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        if (strcmp(program.findings->finding[i].rule, rule) == 0)
            return &program.findings->finding[i];
    return NULL;
}

#endif
