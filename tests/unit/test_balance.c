/* needs: tests/fuzz/profile_builder.c */
#include "tests/unit/unit.h"

#include <math.h>

#include "base/mpi_calls.h"
#include "command/profile/balance.h"
#include "command/profile/balance_job.h"
#include "command/profile/job.h"
#include "command/profile/read.h"
#include "command/profile/write.h"
#include "tests/fuzz/profile_builder.h"

#define MOST_RANKS 80
#define S          1e9

enum { MAIN = 0x200, ASSEMBLE = 0x300, SOLVE = 0x310, REDUCE = 0x320 };

static char path[MOST_RANKS + 1][64];
static const char *paths[MOST_RANKS];

static int make_paths(void **state)
{
    (void)state;
    for (int i = 0; i <= MOST_RANKS; i++)
        snprintf(path[i], sizeof path[i], "/tmp/blame-test-balance-%d-rank-%06d.blame", (int)getpid(), i);
    for (int i = 0; i < MOST_RANKS; i++)
        paths[i] = path[i];
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (int i = 0; i <= MOST_RANKS; i++)
        unlink(path[i]);
    return 0;
}

/* A rank's figures, in seconds: while something ran in assemble and solve, waiting in one MPI_Allreduce, and what of it ranks of the node are
 * blamed for. Nodes have two ranks each. */
struct made {
    double assemble, solve, wait, told;
    double work;                          /* in assemble; 0: as long as it takes */
    uint32_t communicator, process, seen; /* 0: all ranks */
};

#define RANK(takes, solves, waits, ...) {.assemble = takes, .solve = solves, .wait = waits, __VA_ARGS__}

static void write_rank(uint32_t rank, uint32_t ranks, struct made made)
{
    struct profile_builder builder;
    char host[16];
    builder_start(&builder);
    struct profile_header *header = builder_header(&builder);
    header->finished = header->in_job = 1;
    header->rank = rank;
    header->ranks = ranks;
    header->process = made.process;
    header->ranks_seen = made.seen;
    header->threads_max = header->cores = 2;
    snprintf(host, sizeof host, "node%u", rank / 2);
    builder_text(&builder, "host", host);
    builder_text(&builder, "job_identity", "one");
    struct profile_module module = {.vaddr_high = 0x100000, .build_id_bytes = 20, .build_id = {1}, .path = "/tmp/app"};
    builder_module(&builder, &module);
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t main = builder_node(&builder, 1, root, PROFILE_NODE_FRAME, PROFILE_KEY(1, MAIN));
    uint32_t assemble = builder_node(&builder, 1, main, PROFILE_NODE_FRAME, PROFILE_KEY(1, ASSEMBLE));
    uint32_t solve = builder_node(&builder, 1, main, PROFILE_NODE_FRAME, PROFILE_KEY(1, SOLVE));
    uint32_t line = builder_node(&builder, 1, main, PROFILE_NODE_FRAME, PROFILE_KEY(1, REDUCE));
    builder_metric(&builder, 1, assemble,
                   &(struct profile_metric){.work = (made.work > 0 ? made.work : made.assemble) * S,
                                            .inverse_busy = made.assemble * S});
    builder_metric(&builder, 1, solve,
                   &(struct profile_metric){.work = made.solve * S, .inverse_busy = made.solve * S});
    if (made.wait > 0) {
        uint32_t call = builder_node(&builder, 1, line, PROFILE_NODE_MPI, MPI_CALL_Allreduce);
        builder_metric(&builder, 1, call,
                       &(struct profile_metric){.work = made.wait * S,
                                                .inverse_busy = made.wait * S,
                                                .waits = 10,
                                                .overhead = 10.0 * (made.communicator ? made.communicator : ranks)});
        if (made.told > 0)
            builder_record(&builder, 1, builder_node(&builder, 1, call, PROFILE_NODE_RANKS, 0),
                           &(struct profile_ranks){.waited = made.told * S});
    }
    assert_true(builder_write(&builder, path[rank]));
    builder_free(&builder);
}

static struct profile *job_of(const struct made *made, uint32_t files, uint32_t ranks)
{
    char *why;
    for (uint32_t i = 0; i < files; i++)
        write_rank(i, ranks, made[i]);
    struct profile *job = job_read(paths, files, "one", &why);
    assert_non_null(job);
    size_t nodes = job->node_count, modules = job->module_count;
    job_add_balance(job, paths, files, "one");
    assert_true(job->node_count == nodes && job->module_count == modules);
    return job;
}

/* Of the node that it is below, by its key; vaddr 0: any. NULL: there is none. */
static const struct profile_balance *find(const struct profile *job, enum profile_balance_key key, uint64_t vaddr)
{
    for (size_t i = 0; i < job->balance_count; i++)
        if (job->balances[i].key == key &&
            (!vaddr || PROFILE_KEY_VADDR(job->nodes[job->balances[i].node].key) == vaddr))
            return &job->balances[i].balance;
    return NULL;
}

static double charged(const struct profile *job, enum profile_balance_key key, uint64_t vaddr)
{
    const struct profile_balance *balance = find(job, key, vaddr);
    return balance ? balance->charged / S : 0;
}

static bool is_about(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* What is charged is what was waited beyond the least, whichever way it is added up. */
static void assert_adds_up(const struct profile *job, double all)
{
    double calls = 0, ranks = 0, places = 0;
    for (size_t i = 0; i < job->balance_count; i++)
        *(job->balances[i].key == PROFILE_BALANCE_CALL ? &calls : &places) += job->balances[i].balance.charged / S;
    for (size_t i = 0; i < job->rank_count; i++)
        ranks += job->ranks[i].charged / S;
    assert_true(is_about(calls, all) && is_about(ranks, all) && is_about(places, all));
}

static struct profile *job_that_adds_up(const struct made *made, uint32_t files, uint32_t ranks, double all)
{
    struct profile *job = job_of(made, files, ranks);
    assert_adds_up(job, all);
    return job;
}

UNIT_TEST_WITH(a_late_rank_is_charged_what_all_others_wait_and_so_is_its_code, make_paths, remove_files)
{
    const struct made made[] = {RANK(4, 4, 10.5), RANK(4, 4, 10.5), RANK(4, 4, 10.5), RANK(14, 4, 0.5)};
    struct profile *job = job_that_adds_up(made, 4, 4, 30);
    const struct profile_balance *call = find(job, PROFILE_BALANCE_CALL, 0), *code;
    assert_true(call->most_rank == 3 && is_about(call->most, 30 * S) && is_about(call->common, 2 * S));
    assert_true(is_about(job->ranks[3].charged, 30 * S) && job->ranks[0].charged == 0);
    code = find(job, PROFILE_BALANCE_CONTEXT, ASSEMBLE);
    assert_true(is_about(code->charged, 30 * S) && code->most_rank == 3 && code->most == code->charged);
    assert_true(code->time == 14 * S && is_about(code->mean, 6.5 * S));
    assert_null(find(job, PROFILE_BALANCE_CONTEXT, SOLVE));
    profile_free(job);
}

/* 5 s in which two wait for two, and 5 s in which three wait for one. */
UNIT_TEST_WITH(of_two_late_ranks_each_is_charged_as_long_as_it_is_waited_for, make_paths, remove_files)
{
    const struct made made[] = {RANK(4, 4, 10), RANK(4, 4, 10), RANK(4, 9, 5), RANK(14, 4, 0)};
    struct profile *job = job_that_adds_up(made, 4, 4, 25);
    assert_true(is_about(job->ranks[2].charged, 5 * S) && is_about(job->ranks[3].charged, 20 * S));
    assert_true(is_about(charged(job, PROFILE_BALANCE_CONTEXT, ASSEMBLE), 20));
    assert_true(is_about(charged(job, PROFILE_BALANCE_CONTEXT, SOLVE), 5));
    assert_int_equal(find(job, PROFILE_BALANCE_CONTEXT, SOLVE)->most_rank, 2);
    profile_free(job);
}

/* Rank 1 is on the node of the late one, which is blamed for it already. */
UNIT_TEST_WITH(what_ranks_of_the_node_are_blamed_for_is_not_charged_again, make_paths, remove_files)
{
    const struct made made[] = {RANK(14, 4, 0), RANK(4, 4, 10, .told = 10, .seen = 2), RANK(4, 4, 10, .seen = 2),
                                RANK(4, 4, 10, .told = 4, .seen = 2)};
    struct profile *job = job_that_adds_up(made, 4, 4, 16);
    assert_true(is_about(job->ranks[0].charged, 16 * S) && job->ranks[1].charged == 0);
    profile_free(job);
}

UNIT_TEST_WITH(ranks_that_wait_as_long_as_each_other_are_not_charged, make_paths, remove_files)
{
    const struct made made[] = {RANK(4, 4, 5), RANK(4, 4, 5), RANK(4, 4, 5), RANK(4, 4, 5)};
    struct profile *job = job_that_adds_up(made, 4, 4, 0);
    assert_true(is_about(find(job, PROFILE_BALANCE_CALL, 0)->common, 20 * S));
    profile_free(job);
}

/* Its two threads work no longer than those of others, but one after the other. */
UNIT_TEST_WITH(a_late_thread_of_a_late_rank_is_what_the_rank_is_charged_for, make_paths, remove_files)
{
    const struct made made[] = {RANK(4, 4, 4, .work = 8), RANK(4, 4, 4, .work = 8), RANK(8, 4, 0, .work = 8)};
    struct profile *job = job_that_adds_up(made, 3, 3, 8);
    assert_true(is_about(charged(job, PROFILE_BALANCE_CONTEXT, ASSEMBLE), 8));
    profile_free(job);
}

/* Longer in one context, shorter in another, together no longer: it is the former that it is late by. */
UNIT_TEST_WITH(what_a_rank_is_shorter_in_does_not_hide_what_it_is_late_by, make_paths, remove_files)
{
    const struct made made[] = {RANK(4, 8, 6), RANK(4, 8, 6), RANK(10, 2, 0)};
    struct profile *job = job_that_adds_up(made, 3, 3, 12);
    assert_true(is_about(charged(job, PROFILE_BALANCE_CONTEXT, ASSEMBLE), 12));
    profile_free(job);
}

UNIT_TEST_WITH(where_no_context_is_longer_the_charge_has_a_row_of_its_own, make_paths, remove_files)
{
    const struct made made[] = {RANK(4, 4, 6), RANK(4, 4, 6), RANK(4, 4, 0)};
    struct profile *job = job_that_adds_up(made, 3, 3, 12);
    assert_true(is_about(charged(job, PROFILE_BALANCE_NO_CONTEXT, 0), 12));
    assert_int_equal(find(job, PROFILE_BALANCE_NO_CONTEXT, 0)->most_rank, 2);
    profile_free(job);
}

UNIT_TEST_WITH(a_missing_rank_is_not_charged_and_the_others_are, make_paths, remove_files)
{
    const struct made made[] = {RANK(4, 4, 6), RANK(4, 4, 6), RANK(10, 4, 0)};
    struct profile *job = job_that_adds_up(made, 3, 4, 12);
    assert_int_equal(job->rank_count, 4);
    assert_true(is_about(job->ranks[2].charged, 12 * S) && job->ranks[3].charged == 0);
    profile_free(job);
}

/* 70 late ranks of 80: the contexts of 64 are compared. */
UNIT_TEST_WITH(ranks_beyond_the_latest_are_charged_without_their_contexts, make_paths, remove_files)
{
    struct made made[MOST_RANKS];
    for (int i = 0; i < MOST_RANKS; i++)
        made[i] = i < 10 ? (struct made)RANK(4, 4, 8) : (struct made)RANK(12, 4, 0);
    struct profile *job = job_that_adds_up(made, MOST_RANKS, MOST_RANKS, 80);
    assert_true(is_about(charged(job, PROFILE_BALANCE_MORE_RANKS, 0), 80.0 * (70 - BALANCE_RANKS) / 70));
    profile_free(job);
}

static void assert_nothing(const struct made *made, uint32_t files, uint32_t ranks)
{
    struct profile *job = job_of(made, files, ranks);
    assert_int_equal(job->balance_count, 0);
    for (size_t i = 0; i < job->rank_count; i++)
        assert_true(job->ranks[i].charged == 0);
    profile_free(job);
}

UNIT_TEST_WITH(where_ranks_cannot_be_compared_nothing_is_charged, make_paths, remove_files)
{
    const struct made small[] = {RANK(4, 4, 6, .communicator = 2), RANK(10, 4, 0), RANK(4, 4, 6, .communicator = 2),
                                 RANK(10, 4, 0)};
    const struct made seen[] = {RANK(4, 4, 6, .told = 1, .seen = 2), RANK(10, 4, 0, .seen = 2)};
    const struct made second[] = {RANK(4, 4, 6), RANK(10, 4, 0, .process = 1)};
    const struct made alone[] = {RANK(4, 4, 6)};
    assert_nothing(small, 4, 4);
    assert_nothing(seen, 2, 2);
    assert_nothing(second, 2, 2);
    assert_nothing(alone, 1, 2);
}

UNIT_TEST_WITH(the_jobs_file_keeps_it, make_paths, remove_files)
{
    const struct made made[] = {RANK(4, 4, 10), RANK(4, 4, 10), RANK(4, 9, 5), RANK(14, 4, 0)};
    char error[512];
    struct profile *job = job_of(made, 4, 4);
    assert_int_equal(profile_write(job, path[MOST_RANKS]), 0);
    struct profile *again = profile_read(path[MOST_RANKS], error, sizeof error);
    assert_int_equal(again->balance_count, job->balance_count);
    assert_memory_equal(again->balances, job->balances, job->balance_count * sizeof *job->balances);
    assert_true(again->ranks[3].charged == job->ranks[3].charged);
    profile_free(again);
    job->balances[0].balance.charged = -1;
    assert_int_equal(profile_write(job, path[MOST_RANKS]), 0);
    assert_null(profile_read(path[MOST_RANKS], error, sizeof error));
    assert_non_null(strstr(error, "damaged: the waiting time charged"));
    profile_free(job);
}

UNIT_MAIN(NULL, NULL)
