/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/made_profile.h"

#include <math.h>

#include "command/tables/conservation.h"
#include "command/tables/other_runtimes.h"

#define BODY_8 PROFILE_KEY(1, 0x1000)

static int make(void **state)
{
    made_start(state);
    made.profile.header.threads_max = 4;
    made.profile.header.start_ns = 1000;
    made.profile.header.end_ns = 1000 + (uint64_t)S;
    return 0;
}

static const struct conservation_law *law_of(struct conservation_law *laws, size_t count, const char *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(laws[i].name, wanted) == 0)
            return &laws[i];
    return NULL;
}

UNIT_TEST_WITH(conservation_laws_compare_contexts_with_ledgers, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    made_work(0, BODY_8, 1);
    made.threads[0] = (struct profile_thread){.kind = 1,
                                              .begin_ns = 1000,
                                              .end_ns = 1000 + 2 * (uint64_t)S,
                                              .work = S,
                                              .idle = S,
                                              .delivered = 5,
                                              .recorded = 3,
                                              .dropped = {2}};
    made.threads[1] = (struct profile_thread){.kind = 2, .begin_ns = 5, .end_ns = 9, .timer_failed = 1};
    made.profile.thread_count = 2;
    size_t count = conservation_check(&made.profile, made_tables(), laws);
    assert_int_equal(count, 7);
    for (size_t i = 0; i < count; i++) {
        if (laws[i].exact)
            assert_true(laws[i].ok);
        if (strcmp(laws[i].name, "thread_time") == 0)
            assert_true(laws[i].left == 2 && laws[i].right == 2);
        if (strcmp(laws[i].name, "thread_idle") == 0)
            assert_true(laws[i].left == 3 && laws[i].right == 3);
    }
    made.threads[0].recorded = 4;
    made.threads[0].lock_wait = 1;
    made.profile.header.clock = 1;
    count = conservation_check(&made.profile, made.tables.rows, laws);
    assert_int_equal(count, 6); /* lifetimes are no matter of the CPU clock */
    assert_false(laws[0].ok);
    assert_false(laws[1].ok);
    assert_string_equal(laws[0].cause, "nothing");
    made.profile.header.snapshot = 1;
    conservation_check(&made.profile, made.tables.rows, laws);
    assert_string_equal(laws[0].cause, "copied while it ran");
}

/* Two threads on four cores: one runs for 2 s, the other for 1 s and sleeps for 1 s. */
UNIT_TEST_WITH(without_a_team_each_core_has_a_thread_or_is_idle, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    const uint64_t end_ns = 1000 + 2 * (uint64_t)S;
    made.profile.header.cores = 4;
    made.profile.header.rate = 200;
    made.profile.header.period_ns = 5000000;
    made_work(0, BODY_8, 3);
    made.profile.nodes[1].metric.core_idle = 5 * S;
    made.threads[0] = (struct profile_thread){.kind = 1, .begin_ns = 1000, .end_ns = end_ns, .work = 2 * S};
    made.threads[1] = (struct profile_thread){.kind = 1, .begin_ns = 1000, .end_ns = end_ns, .work = S, .blocked = S};
    made.profile.thread_count = 2;
    assert_null(law_of(laws, conservation_check(&made.profile, made_tables(), laws), "core_idleness"));
    made.profile.header.without_team = 1;
    const struct conservation_law *law =
        law_of(laws, conservation_check(&made.profile, made_tables(), laws), "core_idleness");
    assert_true(law->ok && law->left == 5 && fabs(law->right - 5) < 1e-9 && !law->exact);
    made.profile.nodes[1].metric.core_idle = 6.5 * S;
    conservation_check(&made.profile, made.tables.rows, laws);
    assert_true(!law->ok && fabs(law->residual - 1.5) < 1e-9);
    made.profile.nodes[1].metric.core_beyond = 1.5 * S; /* there were more threads than cores for a while */
    conservation_check(&made.profile, made.tables.rows, laws);
    assert_true(law->ok);
    made.profile.nodes[1].metric.core_idle = 4.5 * S;
    made.profile.nodes[1].metric.core_beyond = 0;
    made.profile.header.paused_ns = 125000000;
    conservation_check(&made.profile, made.tables.rows, laws);
    assert_true(law->ok && fabs(law->right - 4.5) < 1e-9);
    made.profile.nodes[1].metric.core_idle = 6 * S;
    conservation_check(&made.profile, made.tables.rows, laws);
    assert_true(!law->ok);
    assert_string_equal(law->cause, "sleeps that no layer reports");
    made.profile.header.threads_untracked = 1;
    assert_null(law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "core_idleness"));
}

/* Of four threads three can wait for one: 3 s beside 1 s of work, and not more, though another row has room. */
UNIT_TEST_WITH(no_context_has_more_idleness_than_its_time_allows, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    made_work(0, BODY_8, 1);
    uint32_t late =
        made_add(0, PROFILE_NODE_FRAME, BODY_8 + 16, (struct profile_sums){.work = S, .shared_idle = 3 * S});
    const struct conservation_law *law =
        law_of(laws, conservation_check(&made.profile, made_tables(), laws), "idleness_bound");
    assert_true(law->ok && law->exact && law->left == 3 && law->right == 3);
    made.profile.nodes[late].metric.shared_idle = 3.5 * S;
    conservation_check(&made.profile, made.tables.rows, laws);
    assert_true(!law->ok && law->left == 3.5 && law->right == 3);
    made.threads[0].kind = PROFILE_THREAD_HELPER; /* may wait, too */
    made.profile.thread_count = 1;
    conservation_check(&made.profile, made.tables.rows, laws);
    assert_true(law->ok);
    made.profile.thread_count = 0;
    made.profile.nodes[late].metric.own_elsewhere = 1; /* an older file */
    assert_null(law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "idleness_bound"));
}

/* Of four threads three can wait for the lock of one, whose time has parts with a core, without one and asleep. */
UNIT_TEST_WITH(no_context_has_more_lock_wait_than_its_time_allows, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    uint32_t body = made_work(0, BODY_8, 0.5);
    made_add(body, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_BLOCKED, (struct profile_sums){.blocked = 0.25 * S});
    assert_null(law_of(laws, conservation_check(&made.profile, made_tables(), laws), "lock_bound"));
    uint32_t lock = made_add(body, PROFILE_NODE_LOCK, 1, (struct profile_sums){.lock_wait = 2.25 * S});
    made.threads[0].lock_wait_counted = 2.25 * S;
    const struct conservation_law *law =
        law_of(laws, conservation_check(&made.profile, made_tables(), laws), "lock_bound");
    assert_true(law->ok && law->exact && law->left == 2.25 && law->right == 2.25);
    uint32_t no_core = made_add(body, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, (struct profile_sums){.no_core = S});
    made_add(no_core, PROFILE_NODE_LOCK, 1, (struct profile_sums){.lock_wait = 3 * S});
    made_add(body, PROFILE_NODE_LOCK, 2, (struct profile_sums){.lock_wait = 3 * S, .lock_wait_here = S});
    made.threads[0].lock_wait_counted = 8.25 * S;
    conservation_check(&made.profile, made_tables(), laws);
    assert_true(law->ok && law->exact && law->left == 8.25 && law->right == 8.25);
    made.profile.nodes[lock].metric.lock_wait = 3.25 * S; /* one second more than three threads can have waited */
    made.threads[0].lock_wait_counted = 9.25 * S;
    conservation_check(&made.profile, made_tables(), laws);
    assert_true(!law->ok && law->left == 9.25 && law->right == 8.25);
    made.threads[0].lock_wait_counted = 8.25 * S; /* that waited for a holder's later context */
    conservation_check(&made.profile, made_tables(), laws);
    assert_true(law->ok && law->tolerance == 1);
    made.threads[0].lock_wait_counted = 0; /* an older file */
    assert_null(law_of(laws, conservation_check(&made.profile, made_tables(), laws), "lock_bound"));
    made.profile.header.threads_max = 1; /* for whom should it wait? */
    law = law_of(laws, conservation_check(&made.profile, made_tables(), laws), "lock_bound");
    assert_true(!law->ok && law->left == 9.25 && law->right == 0);
    for (size_t i = 0; i < made.profile.node_count; i++) /* for a thread that is not measured */
        made.profile.nodes[i].key |= PROFILE_LOCK_KEY(PROFILE_LOCK_MUTEX, 0);
    assert_null(law_of(laws, conservation_check(&made.profile, made_tables(), laws), "lock_bound"));
}

/* A job's: most of it was a rank's with fewer threads. */
UNIT_TEST_WITH(time_before_the_start_has_its_ranks_idleness, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    made_work(0, BODY_8, 1);
    made.threads[0] = (struct profile_thread){.kind = 1, .work = S};
    made.profile.header.before_start_ns = 4 * (uint64_t)S;
    made.profile.header.before_no_core_ns = (uint64_t)S;
    made.profile.header.before_inverse_busy_ns = 2 * (uint64_t)S;
    size_t count = conservation_check(&made.profile, made_tables(), laws);
    const struct conservation_law *law = law_of(laws, count, "thread_idle");
    assert_true(law->ok && law->left == 4 * (1 + 2) - 1 - 4);
}

UNIT_TEST_WITH(bins_add_up_to_ledgers_and_to_contexts, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    double ns[2][PROFILE_TIME_STATES] = {
        {0.5 * S, 0, 3 * S}, {0.5 * S, [PROFILE_TIME_BLOCKED] = 0.25 * S, [PROFILE_TIME_STOPPED] = 0.25 * S}};
    struct timeline_lane lane = {.tree = 1, .ns = ns};
    struct timeline_cell cells[] = {{.value = {.own = 0.5e9f, .inverse_busy = 0.5e9f}},
                                    {.bin = 1, .value = {.own = 1e9f, .inverse_busy = 1e9f}}};
    made_add(0, PROFILE_NODE_FRAME, BODY_8,
             (struct profile_sums){.work = S, .blocked = 0.5 * S, .inverse_busy = 1.5 * S});
    made.threads[0] = (struct profile_thread){.kind = 1, .work = S, .idle = 3 * S, .blocked = 0.5 * S};
    made.profile.header.finished = 1;
    made.profile.timeline =
        (struct timeline){.bins = 2, .lane_bins = 2, .lanes = &lane, .lane_count = 1, .cells = cells, .cell_count = 2};
    size_t count = conservation_check(&made.profile, made_tables(), laws);
    const struct conservation_law *states = law_of(laws, count, "timeline_states"),
                                  *contexts = law_of(laws, count, "timeline_contexts");
    assert_true(states->ok && states->left == 4.5 && states->right == 4.5 && !states->exact &&
                fabs(states->tolerance - 4.5e-4) < 1e-12);
    assert_true(contexts->ok && contexts->left == 3 && contexts->right == 3);
    ns[0][PROFILE_TIME_WORK] -= 1e-3 * S; /* what is too little of one state is not made up for by another one */
    ns[0][PROFILE_TIME_IDLE] += 1e-3 * S;
    cells[1].value.lock_wait = 1e6f;
    made.threads[0].dropped_ns = 10 * S; /* nor does it explain anything */
    count = conservation_check(&made.profile, made.tables.rows, laws);
    assert_true(!states->ok && fabs(states->left - 0.999) < 1e-9 && states->right == 1);
    assert_true(!contexts->ok && fabs(contexts->left - 1e-3) < 1e-9 && contexts->right == 0);
    assert_string_equal(states->cause, LAW_UNEXPLAINED);
    made.profile.header.finished = 0; /* killed between the one and the other */
    made.profile.header.period_ns = 5000000;
    count = conservation_check(&made.profile, made.tables.rows, laws);
    assert_true(states->ok && contexts->ok);
    made.profile.tree = 1; /* the ledgers are of all threads */
    assert_null(law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "timeline_states"));
}

UNIT_TEST_WITH(a_sample_that_was_cut_off_may_be_booked_in_its_context_alone, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    made_add(0, PROFILE_NODE_FRAME, BODY_8, (struct profile_sums){.work = S, .inverse_busy = S});
    made.threads[0] = (struct profile_thread){.kind = 1, .work = S - 5000000, .dropped = {[PROFILE_DROP_CUT_OFF] = 1}};
    made.profile.header.period_ns = 5000000;
    made.profile.header.finished = 1;
    const struct conservation_law *busy =
        law_of(laws, conservation_check(&made.profile, made_tables(), laws), "busy_time");
    assert_true(busy->exact && !busy->ok);
    made.profile.header.finished = 0;
    busy = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "busy_time");
    assert_true(busy->ok && !busy->exact);
    made.threads[0].dropped[PROFILE_DROP_CUT_OFF] = 0;
    busy = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "busy_time");
    assert_true(busy->exact && !busy->ok);
}

UNIT_TEST_WITH(the_clock_and_the_samples_of_probed_time_are_compared, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    made.profile.thread_count = 2;
    made.profile.header.period_ns = 10000000;
    made.threads[0].probed_exact = 4 * S;
    made.threads[0].probed_sampled = 3.9 * S;
    made.threads[0].dropped[PROFILE_DROP_STOPPING] = 1;
    made.threads[1].probed_exact = 9 * S; /* it lost samples, nobody knows of what */
    made.threads[1].dropped[PROFILE_DROP_OVERLOAD] = 1;
    size_t count = conservation_check(&made.profile, made_tables(), laws);
    const struct conservation_law *law = law_of(laws, count, "probed");
    assert_non_null(law);
    assert_true(fabs(law->left - 3.9) < 1e-9 && law->right == 4 && !law->exact);
    assert_true(fabs(law->tolerance - 4 * sqrt(.01 * 4)) < 1e-12);
    made.profile.header.pauses = 1;
    assert_null(law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "probed"));
    made.profile.header.pauses = 0;
    made.threads[0].probed_exact = 0;
    assert_null(law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "probed"));
}

UNIT_TEST_WITH(time_without_a_core_is_compared_with_the_kernels_count, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    made.profile.thread_count = 2;
    made.profile.header.period_ns = 1000000;
    made.profile.header.rate = 1000;
    made.threads[0] = (struct profile_thread){.no_core = 3 * S,
                                              .idle_no_core = 1 * S,
                                              .no_core_ns = 4.2 * S,
                                              .on_core_ns = 1 * S,
                                              .core_source = PROFILE_CORE_SCHEDSTAT};
    made.threads[1] = (struct profile_thread){.no_core_ns = 9 * S, .on_core_ns = 1 * S}; /* its samples did not ask */
    const struct conservation_law *law =
        law_of(laws, conservation_check(&made.profile, made_tables(), laws), "no_core");
    assert_non_null(law);
    assert_true(fabs(law->left - 4) < 1e-9 && fabs(law->right - 4.2) < 1e-9 && law->ok && !law->exact);
    made.threads[0].no_core_ns = 4.5 * S;
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core");
    assert_false(law->ok);
    made.threads[0].no_core_dropped_ns = 0.5 * S; /* that was in a pause */
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core");
    assert_true(law->ok && fabs(law->right - 4) < 1e-9);
    made.threads[0].no_core_dropped_ns = 0;
    made.threads[0].dropped_ns = 0.1 * S; /* a lost sample is its own thread's, however many others there are */
    made.profile.header.threads_max = 1000;
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core");
    assert_int_equal(law->cause, LAW_UNEXPLAINED);
    made.threads[0].dropped_ns = 0.5 * S;
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core");
    assert_int_equal(law->cause, LAW_LOST);
    made.threads[0].dropped_ns = 0;
    made.threads[0].no_core += 2 * S; /* that no count of the kernel's has */
    made.threads[0].stolen = 2 * S;
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core");
    assert_true(fabs(law->left - 4) < 1e-9);
    made.threads[0].core_unasked = 400; /* samples that may have been without a core */
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core");
    assert_true(law->ok);
    made.threads[0].no_core_ns = made.threads[0].on_core_ns = 0; /* it was killed: nobody asked at its end */
    assert_null(law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core"));
    made.threads[0].on_core_ns = 1 * S;
    made.threads[0].core_source = PROFILE_CORE_NOT_TOLD;
    assert_null(law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core"));
}

UNIT_TEST_WITH(behind_a_tracers_stops_threads_lack_a_core_unseen, make, made_finish)
{
    static char text[] = "traced_by\0strace";
    struct conservation_law laws[CONSERVATION_LAWS];
    made.profile.thread_count = 1;
    made.profile.header.period_ns = 1000000;
    made.profile.header.rate = 1000;
    made.threads[0] = (struct profile_thread){.no_core = 1 * S,
                                              .no_core_ns = 3 * S,
                                              .on_core_ns = 1 * S,
                                              .blocked = 1.5 * S,
                                              .idle = 1 * S,
                                              .core_source = PROFILE_CORE_SCHEDSTAT};
    const struct conservation_law *law =
        law_of(laws, conservation_check(&made.profile, made_tables(), laws), "no_core");
    assert_false(law->ok);
    assert_string_equal(law->cause, LAW_UNEXPLAINED);
    made.profile.text = text;
    made.profile.text_bytes = sizeof(text);
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core");
    assert_true(law->ok);
    made.threads[0].no_core_ns = 5 * S; /* more than it slept */
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "no_core");
    assert_false(law->ok);
    assert_string_equal(law->cause, LAW_TRACED);
    made.profile.text = NULL;
    made.profile.text_bytes = 0;
}

/* Two threads of 20 s, of which one idles for 10 s beside the other: by the samples of both, off by `residual`. */
static const struct conservation_law *idle_law(struct conservation_law *laws, double residual, double lost,
                                               double no_core)
{
    made.profile.header.threads_max = 2;
    made.profile.header.period_ns = 1000000;
    made.profile.header.rate = 1000;
    made.profile.thread_count = 2;
    made.nodes[0].metric = (struct profile_sums){.shared_idle = (10 + residual) * S};
    for (int i = 0; i < 2; i++)
        made.threads[i] = (struct profile_thread){.kind = 1, .begin_ns = 1000, .end_ns = 1000 + 20 * (uint64_t)S};
    made.threads[1].idle = 10 * S;
    made.threads[1].dropped_ns = lost * S;
    made.threads[1].no_core_ns = no_core * S;
    return law_of(laws, conservation_check(&made.profile, made.tables.rows, laws), "shared_idle");
}

UNIT_TEST_WITH(a_law_that_is_off_says_what_explains_it, make, made_finish)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    made_tables();
    made.tables.rows->threads = 2;
    made.tables.rows->error = (struct error_terms){.period = 0.001, .lifetime = 40, .threads = 2, .cores = 2};
    const struct conservation_law *law = idle_law(laws, 0.5, 0, 0);
    assert_true(law->ok && !law->cause);
    assert_true(law->tolerance > 4 * sqrt(0.02) * 0.99 && law->tolerance < 4 * sqrt(0.02) * 1.05);
    law = idle_law(laws, 2, 0, 0);
    assert_false(law->ok);
    assert_string_equal(law->cause, LAW_UNEXPLAINED);
    assert_string_equal(idle_law(laws, 2, 0, 1.5)->cause, LAW_NO_CORE);
    assert_string_equal(idle_law(laws, 2, 0, 0.5)->cause, LAW_UNEXPLAINED);
    assert_string_equal(idle_law(laws, -2, 1.5, 9)->cause, LAW_LOST);
    made.threads[1].core_source = PROFILE_CORE_SCHEDSTAT;
    made.threads[1].on_core_ns = 1 * S;
    made.threads[1].dropped_ns = 0;
    law = law_of(laws, conservation_check(&made.profile, made.tables.rows, laws),
                 "no_core"); /* no sample saw any of it */
    assert_string_equal(law->cause, LAW_UNEXPLAINED);
}

UNIT_TEST_WITH(who_waits_for_code_of_another_runtime_is_no_time_of_it, make, made_finish)
{
    struct other_runtime found[OTHER_RUNTIMES_MOST];
    uint32_t other = made_work(0, PROFILE_KEY(2, 0x1000), 1);
    made_add(other, PROFILE_NODE_WAITERS, PROFILE_PLACE_KEY(1, BODY_8),
             (struct profile_sums){.work = 2 * S, .overhead = 2 * S});
    assert_int_equal(other_runtimes(&made.profile, found), 1);
    assert_true(fabs(found[0].seconds - 1) < 1e-9);
}

UNIT_MAIN(NULL, NULL)
