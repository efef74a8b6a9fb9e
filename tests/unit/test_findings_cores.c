/* needs: tests/fuzz/fake_symbols.c */
#include "base/mpi_calls.h"
#include "tests/unit/findings_program.h"

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, make, destroy)

/* What the kernel counted while the program ran for 20 seconds: processors' time in ticks. */
static void machine_beside_host(int own_s, int busy_s, int idle_s, int throttled_s, int stolen_s)
{
    static char text[400];
    int used =
        snprintf(text, sizeof text,
                 "machine_begin%cthrottled_ns 7000000000\nown_cpu_ns 5000000000\ncpu  100 0 0 500 0 0 0 0%c", 0, 0);
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "machine_end%cthrottled_ns %d000000000\nown_cpu_ns %d000000000\nloadavg 9 9 9 9/9 "
                     "9\ncpu  %d 10 90 %d 0 0 0 %d%c",
                     0, 7 + throttled_s, 5 + own_s, busy_s * 100, 500 + idle_s * 100, stolen_s * 100, 0);
    made.profile.text = text;
    made.profile.text_bytes = (size_t)used;
}

static void machine_beside(int own_s, int busy_s, int idle_s, int throttled_s)
{
    machine_beside_host(own_s, busy_s, idle_s, throttled_s, 0);
}

static void machine(int busy_s, int idle_s, int throttled_s)
{
    machine_beside(0, busy_s, idle_s, throttled_s);
}

/* Of four threads, which worked for 10 s each, `no_core_s` more were spent without a core, in all. */
static uint32_t without_core(double no_core_s, unsigned cores)
{
    uint32_t node = add(program.main_node + 1, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    made.nodes[node].metric =
        (struct profile_sums){.samples = 2000, .no_core = no_core_s * S, .inverse_busy = no_core_s * S / THREADS};
    made.profile.header.cores = cores;
    made.profile.header.end_ns = (uint64_t)(20 * S);
    made.profile.header.start_ns = made.profile.header.end_ns - (uint64_t)((10 + no_core_s / THREADS) * S);
    made.threads[0] = (struct profile_thread){.kind = 1,
                                              .end_ns = 1,
                                              .delivered = 8000,
                                              .recorded = 8000,
                                              .core_source = PROFILE_CORE_SCHEDSTAT,
                                              .work = 40 * S,
                                              .no_core = no_core_s * S,
                                              .no_core_ns = no_core_s * S,
                                              .on_core_ns = 40 * S};
    return node;
}

/* In a region, threads waited for 6 s beside code with a core. The first thread worked for so much longer than each of
 * the others, in all. */
static void waits_beside(double busy, double no_core_s, double longer_s)
{
    without_core(no_core_s, 4);
    run(frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)), 6 / (THREADS - busy), busy, THREADS,
        PROFILE_PLACE_REGION_END);
    made.profile.thread_count = THREADS;
    for (int i = 1; i < THREADS; i++)
        made.threads[i] = (struct profile_thread){.kind = PROFILE_THREAD_WORKER, .end_ns = 1, .work = 10 * S};
    made.threads[0].work = (10 + longer_s) * S;
}

static void waits_in_region(double no_core_s, double longer_s)
{
    waits_beside(2, no_core_s, longer_s);
}

static bool has_rule(const char *rule)
{
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        if (strcmp(program.findings->finding[i].rule, rule) == 0)
            return true;
    return false;
}

WITH_PROFILE(waiting_that_missing_cores_explain_is_unequal_work_only_if_threads_worked_unequally)
{
    waits_in_region(20, 0);
    assert_false(has_rule("imbalance"));
    assert_int_equal(program.findings->finding[0].metric, METRIC_NO_CORE);
}

WITH_PROFILE(unequal_work_is_found_although_cores_were_missing)
{
    waits_in_region(20, 2);
    assert_true(has_rule("imbalance"));
}

/* With 10 samples a second, the longest of four equal threads is easily found at work for 12 s instead of 10. */
WITH_PROFILE(threads_that_samples_find_unequal_by_chance_did_not_work_unequally)
{
    waits_in_region(20, 2);
    made.profile.header.rate = 10;
    assert_false(has_rule("imbalance"));
}

/* As in regions in which the long share alternates between threads. */
WITH_PROFILE(waiting_that_equal_shares_do_not_explain_is_unequal_work)
{
    waits_beside(1.2, 20, 0);
    assert_true(has_rule("imbalance"));
}

WITH_PROFILE(serial_work_is_no_unequal_work)
{
    waits_in_region(20, 2);
    run(frame(program.main_node, KEY(INIT)), 2, 1, 1, 0);
    assert_false(has_rule("imbalance"));
}

WITH_PROFILE(serial_work_of_several_ranks_is_divided_among_their_initial_threads)
{
    waits_in_region(20, 2);
    made.threads[1] = made.threads[0];
    run(frame(program.main_node, KEY(INIT)), 4, 1, 1, 0);
    assert_false(has_rule("imbalance"));
}

WITH_PROFILE(work_of_threads_beside_the_team_is_no_serial_work)
{
    waits_in_region(20, 0);
    made.threads[THREADS - 1].kind = PROFILE_THREAD_OTHER;
    run(frame(program.main_node, KEY(INIT)), 10, 1, 1, 0);
    assert_false(has_rule("imbalance"));
}

WITH_PROFILE(waiting_that_missing_cores_do_not_explain_is_unequal_work)
{
    waits_in_region(1.9, 0);
    assert_true(has_rule("imbalance"));
}

WITH_PROFILE(threads_of_the_program_that_are_not_openmps_are_no_other_processes)
{
    without_core(20, 4);
    machine_beside(80, 100, 0, 0);
    gather();
    assert_int_equal(program.findings->count, 2);
    const struct finding *taken = found("cores-taken"), *unseen = found("unseen");
    assert_has(taken->title, "and 1.5 other runnable processes"); /* who had 20 s */
    assert_has(unseen->title, "40.00 s of processor time in threads that were not measured");
}

WITH_PROFILE(cores_that_others_had_are_said_in_one_sentence)
{
    without_core(20, 4);
    machine(100, 0, 0); /* 60 s of theirs beside 40 of the program's, which got two thirds of what it wanted */
    const struct finding *finding = only("cores-taken");
    assert_string_equal(finding->title, "20.00 s of thread time without a core: 4 threads of this program and 4.5 "
                                        "other runnable processes on 4 cores");
    assert_has(finding->advice, "Other processes used 3.0 of the cores");
    assert_null(strstr(finding->advice, "OMP_NUM_THREADS"));
    assert_about(finding->seconds, 20);
    char *text = summary();
    assert_has(text, "4 threads of this program and 4.5");
    assert_has(text, "no core       20.00 s  33.3 %");
}

/* Of 60 s that others had, the program had 2: it gave way to some, and not to 58 times as many. */
WITH_PROFILE(others_are_not_counted_where_they_do_not_share_fairly)
{
    without_core(20, 4);
    made.threads[0].on_core_ns = 2 * S;
    machine(62, 0, 0);
    assert_string_equal(only("cores-taken")->title,
                        "20.00 s of thread time without a core: 4 threads of this program and other "
                        "processes on 4 cores");
}

WITH_PROFILE(too_many_threads_of_its_own_are_said)
{
    without_core(40, 2);
    machine(40, 0, 0);
    const struct finding *finding = only("oversubscribed");
    assert_string_equal(finding->title, "40.00 s of thread time without a core: 4 threads of this program on 2 cores");
    assert_has(finding->advice, "Use at most 2 threads");
    assert_null(strstr(finding->advice, "Other processes"));
    assert_null(strstr(finding->advice, "spun"));
}

WITH_PROFILE(threads_of_no_team_have_no_number_that_a_variable_sets)
{
    without_core(40, 2);
    machine(40, 0, 0);
    made.profile.header.without_team = 1;
    const struct finding *finding = only("oversubscribed");
    assert_has(finding->advice, "Let at most 2 threads work at a time, or give");
    assert_null(strstr(finding->advice, "OMP_NUM_THREADS"));
}

WITH_PROFILE(spinning_threads_take_cores)
{
    without_core(40, 2);
    made.threads[0].on_core_ns = 55 * S;
    machine(55, 0, 0);
    assert_has(only("oversubscribed")->advice, "spun on cores for 15.00 s");
}

WITH_PROFILE(what_a_hypervisor_took_is_said)
{
    without_core(20, 4);
    made.threads[0].no_core_ns = 4 * S;
    made.threads[0].stolen = 16 * S;
    machine_beside_host(0, 40, 20, 0, 20); /* threads that were bound to one core would not have lost it so */
    const struct finding *finding = only("cores-taken");
    assert_string_equal(finding->title, "20.00 s of thread time without a core: 4 threads of this program on 4 cores; "
                                        "16.00 s were taken by the hypervisor");
    assert_has(finding->advice,
               "No process used the cores that were taken (/proc/stat counts 20.00 s of stolen processor time)");
    machine_beside_host(0, 40, 20, 0, 0);
    assert_has(only("cores-taken")->title, "taken by interrupts");
    made.threads[0].stolen = 2 * S;
    machine_beside_host(0, 40, 37, 0, 3);
    assert_has(only("binding")->title, "; 2.00 s were taken by the hypervisor");
    assert_null(strstr(only("binding")->advice, "No process had"));
}

WITH_PROFILE(a_quota_is_said)
{
    without_core(40, 4);
    machine(40, 0, 30);
    assert_has(only("quota")->advice, "quota was used up for 30.00 s");
}

WITH_PROFILE(threads_on_one_core_while_others_are_free_are_said)
{
    without_core(40, 4);
    machine(40, 40, 0);
    assert_has(only("binding")->advice,
               "Other cores were free for 40.00 s, but threads that are bound to the same cores share them");
    made.profile.thread_count = 4;
    for (int i = 0; i < 4; i++) /* more is lost on core 3, by one alone */
        made.threads[i].only_core = i == 1 ? 4 : 3;
    made.threads[0].no_core_ns = 15 * S;
    made.threads[1].no_core_ns = 25 * S;
    assert_has(only("binding")->advice, ", but threads 0, 2, 3 are bound to core 2 (see OMP_PROC_BIND");
    for (int i = 0; i < 4; i++)
        made.threads[i].only_core = 1;
    assert_has(only("binding")->advice, ", but threads 0, 1, 2 and 1 more are bound to core 0 (see ");
    made.threads[0].only_core = UINT64_MAX;
    made.threads[1].only_core = 2;
    made.threads[2].only_core = made.threads[3].only_core = 0;
    assert_has(only("binding")->advice, ", but threads that are bound to the same cores");
}

WITH_PROFILE(what_the_machine_does_not_tell_is_not_said)
{
    without_core(20, 4);
    const struct finding *finding = only("cores-taken");
    assert_string_equal(finding->title, "20.00 s of thread time without a core: 4 threads of this program and other "
                                        "processes on 4 cores");
    assert_has(finding->evidence, "it is unknown what else ran");
}

/* Nobody's code is slow where others wait for a thread without a core. */
WITH_PROFILE(idleness_beside_a_missing_core_is_no_finding_of_its_own)
{
    uint32_t node = without_core(20, 4);
    run(node, 6, 1, 4, PROFILE_PLACE_REGION_END);
    made.nodes[node].metric.overhead = 0;
    made.nodes[node].metric.no_core += 6 * S;
    made.profile.header.start_ns = 1;
    assert_has(only("cores-taken")->evidence, "other threads idled for 18.00 s");
}

WITH_PROFILE(a_serial_call_that_sleeps_is_blocked)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    fake_function(FOREIGN_KEY(COSINE), "__GI___libc_read", "", 0, 0);
    uint32_t call = frame(init, FOREIGN_KEY(COSINE));
    run(call, 5, 1, 1, 0);
    run(init, 1, 1, 1, 0);
    assert_has(only("serial")->title, "6.00 s of serial code");
    made.nodes[call].metric.work = 0;
    made.nodes[call].metric.blocked = 5 * S;
    const struct finding *finding = only("serial");
    assert_string_equal(finding->title, "5.00 s blocked in read");
    assert_has(finding->evidence, "3 of 4 threads had nothing to do while this ran");
    assert_has(finding->evidence, "(asleep for 83 % of the time)");
    assert_has(finding->place, "init");
}

/* Three threads wait while one reads, then all work; and the same while one computes. */
WITH_PROFILE(a_call_that_sleeps_in_a_region_is_what_others_wait_for)
{
    uint32_t region = add(program.main_node, PROFILE_NODE_FRAME, KEY(REGION));
    fake_function(FOREIGN_KEY(COSINE), "__GI___libc_read", "", 0, 0);
    uint32_t call = frame(frame(region, KEY(HEAVY)), FOREIGN_KEY(COSINE));
    run(call, 5, 1, THREADS, PROFILE_PLACE_BARRIER);
    run(region, 4, 1, THREADS, PROFILE_PLACE_BARRIER);
    run(region, 6, THREADS, THREADS, 0);
    assert_has(only("coarse")->title, "one thread works alone");
    made.nodes[call].metric.work = 0;
    made.nodes[call].metric.blocked = 5 * S;
    made.nodes[call].metric.blocked_idle = 15 * S;
    const struct finding *finding = only("coarse");
    assert_string_equal(finding->title, "blocked in read, and others wait");
    assert_has(finding->evidence, "56 % of it while the busy threads slept");
    assert_has(finding->advice, "needs no core");
    assert_has(finding->place, "heavy");
    made.nodes[call].metric.blocked_idle = 13 * S;
    assert_has(only("coarse")->title, "one thread works alone");
}

/* Three threads of four have nothing to do while the first waits for other ranks. */
WITH_PROFILE(waiting_for_other_ranks_is_a_finding_of_its_own_with_the_teams_idleness)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    uint32_t call = add(init, PROFILE_NODE_MPI, MPI_CALL_Allreduce);
    run(call, 5, 1, 1, 0);
    made.nodes[call].metric.overhead = 0;
    made.nodes[call].metric.mpi_wait = 5 * S;
    made.nodes[call].metric.mpi_calls = 2;
    made.nodes[call].metric.mpi_ranks = 8;
    made.nodes[call].metric.mpi_bytes = 2000;
    const struct finding *finding = only("mpi-wait");
    assert_string_equal(finding->title, "5.00 s of waiting for other ranks in MPI_Allreduce");
    assert_string_equal(finding->evidence, "the ranks waited, among 4 ranks, with 1000 bytes per call, and other "
                                           "threads idled meanwhile");
    assert_has(finding->advice, "arrives last");
    assert_has(finding->place, "init");
    assert_int_equal(finding->metric, METRIC_IDLENESS);
    assert_about(finding->seconds, 15);
    assert_about(finding->gain_s, 5);
}

/* Of the program's effort: also where much of the run is in no effort, as nobody was busy. */
WITH_PROFILE(the_same_seconds_are_the_same_per_cent_in_findings_and_above_them)
{
    without_core(20, 4);
    machine(100, 0, 0);
    run(frame(program.main_node, KEY(INIT)), 10, 1, 1, 0);
    made.profile.header.start_ns = 1;
    made.profile.header.end_ns = 1 + (uint64_t)(50 * S);
    gather();
    const struct finding *finding = program.findings->finding;
    const struct profile_sums *root = made.tables.rows->row[0].inclusive;
    assert_int_equal(program.findings->count, 3);
    assert_about(program.findings->whole_s, 100);
    assert_string_equal(finding[1].rule, "nobody-busy");
    assert_has(finding[1].evidence, "for 50 % of the run's 50.00 s;");
    assert_string_equal(finding[0].rule, "serial"); /* what the program does comes first */
    assert_about(finding[0].share, metric_absolute(made.tables.rows, root, METRIC_IDLENESS));
    assert_has(finding[0].evidence, "this is 37.5 % of the 80.00 thread-seconds that had a core");
    assert_string_equal(finding[2].rule, "cores-taken");
    assert_about(finding[2].share, metric_absolute(made.tables.rows, root, METRIC_NO_CORE));
    assert_has(finding[2].title, "20.00 s of thread time");
    char *text = summary();
    assert_has(text, "Of 100.00 thread-seconds measured (4 threads, 50.00 s):");
    assert_has(text, "idleness      30.00 s  30.0 %");
    assert_has(text, "no core       20.00 s  20.0 %");
}

/* Of 100 s, threads had a core for 40 s and idled beside such a thread for 3 s, which is 3 % of all. */
WITH_PROFILE(a_finding_is_judged_by_the_time_that_had_a_core)
{
    without_core(57, 4);
    run(frame(program.main_node, KEY(INIT)), 0.75, 1, 1, 0);
    gather();
    assert_int_equal(program.findings->count, 2);
    assert_about(program.findings->whole_s, 100);
    assert_about(program.findings->core_s, 43);
    assert_string_equal(program.findings->finding[0].rule, "serial");
    assert_about(program.findings->finding[0].share, 2.25);
}

WITH_PROFILE(missing_cores_come_after_what_the_program_does)
{
    without_core(57, 4);
    run(frame(program.main_node, KEY(INIT)), 3, 1, 1, 0);
    machine(100, 0, 0);
    gather();
    assert_int_equal(program.findings->count, 2);
    assert_string_equal(program.findings->finding[0].rule, "serial");
    assert_string_equal(program.findings->finding[1].rule, "cores-taken");
    assert_true(program.findings->finding[1].share > program.findings->finding[0].share);
}

WITH_PROFILE(threads_far_beyond_the_cores_come_first)
{
    without_core(1, 2);
    made.profile.header.threads_max = 96;
    run(frame(program.main_node, KEY(INIT)), 3, 1, 1, 0);
    gather();
    const struct finding *finding = program.findings->finding;
    assert_string_equal(finding->rule, "too-many-threads");
    assert_string_equal(finding->title, "96 threads on 2 cores");
    assert_has(finding->advice, "Use 2 threads (OMP_NUM_THREADS=2)");
    assert_about(finding->gain_s, 0);
    made.threads[0].blocked = 50 * S; /* threads that mostly sleep need no cores */
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        assert_string_not_equal(program.findings->finding[i].rule, "too-many-threads");
}

/* Of one thread alone; the lists of the summary have all that was idled together. */
WITH_PROFILE(what_idles_for_want_of_cores_is_in_the_summary)
{
    uint32_t node = without_core(20, 4);
    gather();
    assert_null(strstr(summary(), "waited for a core, other threads idled"));
    made.nodes[node].metric.inverse_busy = 20 * S;
    gather();
    const char *list =
        strstr(summary(), "\nWhile this waited for a core, other threads idled (share of the thread time):\n");
    assert_non_null(list);
    assert_has(list, " 60.00 s  <no core>  < ");
}

UNIT_MAIN(NULL, NULL)
