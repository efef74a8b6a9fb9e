/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/html_page.h"

#define MOST_BYTES 5000000
#define SECOND     UINT64_C(1000000000)

static struct profile_rank *ranks;
static struct profile_thread *threads;

/* Each rank works, waits in MPI and idles for shares of 10 s that differ from thread to thread. */
static void make_job(uint32_t rank_count, uint32_t threads_each)
{
    uint64_t random = 88172645463325252ull;
    ranks = calloc(rank_count, sizeof *ranks);
    threads = calloc((size_t)rank_count * threads_each, sizeof *threads);
    made.profile.header.merged = made.profile.header.ranks = rank_count;
    made.profile.ranks = ranks;
    made.profile.rank_count = rank_count;
    made.profile.threads = threads;
    made.profile.thread_count = (size_t)rank_count * threads_each;
    for (uint32_t i = 0; i < rank_count; i++) {
        ranks[i] = (struct profile_rank){.rank = i, .threads = threads_each, .threads_max = threads_each};
        ranks[i].end_ns = 10 * SECOND + unit_random(&random) % SECOND;
        snprintf(ranks[i].host, sizeof ranks[i].host, "node%03u", i / 16);
        snprintf(ranks[i].binding, sizeof ranks[i].binding, "0-7,64-71");
    }
    for (size_t i = 0; i < made.profile.thread_count; i++) {
        bool first = i % threads_each == 0;
        double mpi = first ? (double)(unit_random(&random) % 2000) / 1000 : 0;
        double idle = first ? 0.1 : 1 + (double)(unit_random(&random) % 1000) / 1000;
        threads[i] = (struct profile_thread){.kind = first ? PROFILE_THREAD_INITIAL : PROFILE_THREAD_WORKER,
                                             .rank_record = 1 + i / threads_each,
                                             .end_ns = 10 * SECOND,
                                             .work = (9.5 - mpi - idle) * S,
                                             .overhead = 0.2 * S,
                                             .lock_wait = 0.1 * S,
                                             .no_core = 0.1 * S,
                                             .blocked = 0.1 * S,
                                             .idle = idle * S,
                                             .mpi_wait = mpi * S};
        if (i / threads_each == rank_count / 3) /* one that is late */
            threads[i].work = 9.9 * S, threads[i].mpi_wait = threads[i].idle = 0;
    }
}

static int forget_job(void **state)
{
    free(ranks);
    free(threads);
    ranks = NULL;
    threads = NULL;
    return forget_page(state);
}

/* Two digits of base64. */
static int cell(const char *cells, size_t at)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    assert_true(2 * at + 1 < strlen(cells));
    return (int)(64 * (strchr(digit, cells[2 * at]) - digit) + (strchr(digit, cells[2 * at + 1]) - digit));
}

static const json_t *state_of(const char *key)
{
    size_t i;
    json_t *state;
    json_array_foreach(at(page.data, "ranks/states"), i,
                       state) if (strcmp(json_string_value(json_object_get(state, "key")), key) == 0) return state;
    return NULL;
}

static const char *cells_of(const char *key)
{
    return json_string_value(json_object_get(state_of(key), "cells"));
}

#define WITH_JOB(name) UNIT_TEST_WITH(name, made_start, forget_job)

WITH_JOB(a_program_has_no_map)
{
    make_page((struct html_options){.no_source = true});
    assert_true(json_is_null(at(page.data, "ranks")));
    assert_true(json_is_null(at(page.data, "spreads")));
    assert_int_equal(number("threads_left_out"), 0);
}

WITH_JOB(cells_are_shares_of_a_threads_own_time)
{
    make_job(3, 2);
    threads[0] = (struct profile_thread){.rank_record = 1, .work = 3 * S, .mpi_wait = 1 * S};
    threads[1] = (struct profile_thread){.rank_record = 1, .idle = 2 * S};
    made.profile.thread_count = 2;
    ranks[1].state = PROFILE_RANK_MISSING;
    strcpy(ranks[1].why, "it left no measurement");
    make_page((struct html_options){.no_source = true});
    assert_int_equal(number("ranks/count"), 3);
    assert_int_equal(number("ranks/map_threads"), 2);
    assert_int_equal(number("ranks/nodes"), 1);
    assert_int_equal(cell(cells_of("work"), 0), 3071); /* 3/4 of 4094 */
    assert_int_equal(cell(cells_of("mpi wait"), 0), 1024);
    assert_int_equal(cell(cells_of("idleness"), 1), 4094);
    for (size_t i = 2; i < 6; i++)
        assert_int_equal(cell(cells_of("work"), i), 4095); /* no such thread */
    assert_null(state_of("blocked"));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(state_of("work"), "us"), 0)), 3000000);
    assert_int_equal(number("ranks/counted/1"), 0);
    assert_string_equal(text_at(number("ranks/why/1")), "it left no measurement");
    assert_string_equal(text_at(number("ranks/state/1")), "missing");
    assert_string_equal(text_at(number("ranks/node/2")), "node000");
    assert_string_equal(text("threads/0/rank"), "0");
    assert_null(at(page.data, "run/job/ranks"));
    assert_true(json_is_null(at(page.data, "ranks/made_others_wait_us")));
}

WITH_JOB(ranks_of_one_thread_have_a_row)
{
    make_job(3, 1);
    make_page((struct html_options){.no_source = true});
    assert_int_equal(number("ranks/map_threads"), 1);
    assert_int_equal(strlen(cells_of("work")), 2 * 3);
}

WITH_JOB(whom_a_rank_makes_wait_is_told_where_it_is_known)
{
    make_job(2, 1);
    ranks[0].ranks_seen = 2;
    ranks[0].made_wait = 3 * S;
    ranks[0].rank_idle = 1 * S;
    make_page((struct html_options){.no_source = true});
    assert_int_equal(number("ranks/made_others_wait_us/0"), 3000000);
    assert_int_equal(number("ranks/rank_idleness_us/0"), 1000000);
    assert_true(json_is_null(json_array_get(at(page.data, "ranks/made_others_wait_us"), 1)));
}

WITH_JOB(ten_thousand_ranks_fit_into_five_megabytes)
{
    make_job(10000, 8);
    made_work(0, 10, 1);
    make_page((struct html_options){.no_source = true});
    print_message("%zu bytes\n", made_text_bytes);
    assert_true(made_text_bytes < MOST_BYTES);
    assert_int_equal(number("ranks/count"), 10000);
    assert_int_equal(number("ranks/each"), 1);
    assert_int_equal(strlen(cells_of("work")), 2 * 80000);
    assert_int_equal(count("threads"), HTML_THREADS);
    assert_int_equal(number("threads_left_out"), 80000 - HTML_THREADS);
}

WITH_JOB(more_ranks_share_columns_and_their_sums_stay)
{
    double work = 0;
    make_job(25000, 16);
    for (size_t i = 0; i < made.profile.thread_count; i++)
        work += threads[i].work;
    make_page((struct html_options){.no_source = true});
    assert_true(made_text_bytes < MOST_BYTES);
    assert_int_equal(number("ranks/each"), 4);
    assert_int_equal(number("ranks/count"), 6250);
    assert_int_equal(number("ranks/last/0"), 3);
    assert_int_equal(number("ranks/counted/0"), 4);
    int64_t sum = 0;
    for (size_t i = 0; i < 6250; i++)
        sum += json_integer_value(json_array_get(json_object_get(state_of("work"), "us"), i));
    assert_true(llabs(sum - (int64_t)(work / 1000)) < 6250);
}

static struct merged_spread spread_of(uint32_t node, bool callee, enum profile_spread_metric metric, double most_s)
{
    return (struct merged_spread){.node = node,
                                  .key = PROFILE_SPREAD_KEY(metric, false, callee),
                                  .spread = {.mean = most_s / 2 * S,
                                             .squares = 4 * S * S,
                                             .most = most_s * S,
                                             .ranks = 4,
                                             .most_rank = 3,
                                             .least_process = 1}};
}

WITH_JOB(rows_are_compared_over_the_ranks)
{
    struct merged_spread spreads[4];
    make_job(4, 2);
    made_work(0, 10, 8); /* what is called from one place, the root */
    for (uint32_t i = 0; i < 4; i++)
        spreads[i] = spread_of(0, i / 2, i % 2 ? PROFILE_SPREAD_WORK : PROFILE_SPREAD_TIME, i % 2 ? 4 : 6);
    made.profile.spreads = spreads;
    made.profile.spread_count = 4;
    make_page((struct html_options){.no_source = true, .least_percent = -1});
    assert_int_equal(number("spreads/of"), 4);
    assert_int_equal(count("spreads/row"), 2);
    assert_int_equal(number("spreads/row/1"), 1);
    assert_string_equal(text("spreads/metrics/1/key"), "work");
    assert_int_equal(number("spreads/metrics/1/ranks/1"), 4);
    assert_int_equal(number("spreads/metrics/1/mean/1"), 2000000);
    assert_int_equal(number("spreads/metrics/1/deviation/1"), 1000000);
    assert_int_equal(number("spreads/metrics/1/most/1"), 4000000);
    assert_string_equal(text_at(number("spreads/metrics/1/most_rank/1")), "3");
    assert_string_equal(text_at(number("spreads/metrics/1/least_rank/1")), "0.1");
    assert_int_equal(number("spreads/metrics/2/ranks/1"), 0);
}

UNIT_MAIN(NULL, NULL)
