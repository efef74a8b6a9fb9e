/* needs: tests/fuzz/fake_symbols.c */
/* Findings about reductions and atomic updates. */
#include "tests/unit/findings_program.h"

#define WITH_REDUCTIONS(name) UNIT_TEST_WITH(name, make, destroy)

static uint32_t runtime(uint32_t parent, int entry)
{
    return add(parent, PROFILE_NODE_RUNTIME, KEY(entry));
}

static void assert_title(const struct finding *finding, const char *begin)
{
    if (strncmp(finding->title, begin, strlen(begin)) != 0)
        fail_msg("the title does not begin with \"%s\": %s", begin, finding->title);
}

/* Returns whether gather() found one with this rule. */
static bool is_found(const char *rule)
{
    bool is = false;
    for (size_t i = 0; i < program.findings->count; i++)
        is |= strcmp(program.findings->finding[i].rule, rule) == 0;
    return is;
}

/* ---- reductions and atomic updates ---- */

enum { REDUCING_REGION = 70, REDUCING_LOOP, UPDATING, REDUCE };

/* A region whose threads work for some seconds in its directive's line, and in another one. combines: by atomic updates */
static uint32_t reduce(double directive_s, double loop_s, bool combines)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    struct symbol_frame *copies = fake_function(KEY(REDUCING_REGION), "solve [parallel p.c:21]", "/s/p.c", 21, 21);
    copies->construct = SYMBOL_PARALLEL;
    copies->updates = combines;
    fake_function(KEY(REDUCING_LOOP), "solve [parallel p.c:21]", "/s/p.c", 21, 23)->construct = SYMBOL_PARALLEL;
    uint32_t region = frame(solve, KEY(REDUCING_REGION));
    run(region, directive_s, THREADS, THREADS, 0);
    run(frame(solve, KEY(REDUCING_LOOP)), loop_s, THREADS, THREADS, 0);
    return region;
}

WITH_REDUCTIONS(copies_of_a_reduction_are_combined_in_the_line_of_its_directive)
{
    reduce(2, 1, true);
    const struct finding *finding = only("reduction");
    assert_title(finding, "threads make and combine private copies for 8.00 s");
    assert_has(finding->place, "solve [parallel p.c:21]  p.c:21");
    assert_bound(finding, 2);
}

/* The runtime says that there is a reduction; calls of it alone are too frequent. */
WITH_REDUCTIONS(a_call_of_the_runtime_tells_a_reduction)
{
    fake_function(KEY(REDUCE), "__kmpc_reduce", "", 0, 0);
    uint32_t region = reduce(2, 1, false);
    gather();
    assert_int_equal(program.findings->count, 0);
    run(runtime(region, REDUCE), 0.5, THREADS, THREADS, 0);
    assert_title(only("reduction"), "threads make and combine private copies for 10.00 s");
    run(runtime(region, REDUCE), 3, THREADS, THREADS, 0);
    assert_title(only("fine"), "barriers are too frequent");
}

/* GCC's code takes a lock of the runtime, which samples seldom see; other atomic updates are a finding of their own. */
WITH_REDUCTIONS(the_regions_code_tells_a_reduction)
{
    reduce(2, 1, false);
    struct symbol_frame *other = fake_function(KEY(UPDATING), "solve [parallel p.c:21]", "/s/p.c", 21, 25);
    other->construct = SYMBOL_PARALLEL;
    other->combines = true;
    uint32_t node = frame(frame(program.main_node, KEY(SOLVE)), KEY(UPDATING));
    run(node, 2, THREADS, THREADS, 0);
    only("reduction");
    other->updates = true;
    gather();
    assert_int_equal(program.findings->count, 2);
    assert_title(found("atomic"), "atomic updates: 13 % of the effort");
}

/* A macro that makes the directive and the loop leaves one line for both. */
WITH_REDUCTIONS(a_region_of_one_line_is_no_reduction)
{
    reduce(2, 0, true);
    assert_title(only("atomic"), "atomic updates: ");
}

static uint32_t update(uint32_t parent)
{
    fake_function(KEY(UPDATING), "count", "/s/p.c", 30, 31)->updates = true;
    uint32_t node = frame(parent, KEY(UPDATING));
    run(node, 2, THREADS, THREADS, 0);
    return node;
}

WITH_REDUCTIONS(atomic_updates_of_several_threads_are_named_with_their_region)
{
    update(frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)));
    const struct finding *finding = only("atomic");
    assert_title(finding, "atomic updates in solve [parallel p.c:40]: 17 % of the effort");
    assert_has(finding->place, "count  p.c:31");
    assert_bound(finding, 2);
}

WITH_REDUCTIONS(of_more_threads_than_can_be_told_apart_at_least_so_many_updated)
{
    static struct profile_thread threads[64 + 1];
    made.nodes[update(frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)))].threads = UINT64_MAX;
    threads[0] = made.threads[0];
    made.profile.threads = threads;
    made.profile.thread_count = 64;
    assert_has(only("atomic")->evidence, "found 64 threads");
    made.profile.thread_count++;
    assert_has(only("atomic")->evidence, "found at least 64 threads");
}

WITH_REDUCTIONS(atomic_updates_of_one_thread_are_no_finding)
{
    made.nodes[update(frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)))].threads = 1;
    gather();
    assert_int_equal(program.findings->count, 0);
}

WITH_REDUCTIONS(small_updates_and_copies_are_no_findings)
{
    reduce(0.05, 1, true);
    fake_function(KEY(UPDATING), "count", "/s/p.c", 30, 31)->updates = true;
    run(frame(frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)), KEY(UPDATING)), 0.05, THREADS, THREADS, 0);
    gather();
    assert_int_equal(program.findings->count, 0);
}

/* Of the calls in the directive's line, those that clear memory and those of the runtime. */
WITH_REDUCTIONS(calls_clear_and_combine_copies)
{
    enum { CLEAR = 80, END_REDUCE, END_ATOMIC };
    fake_function(FOREIGN_KEY(CLEAR), "__memset_avx2", "/s/memset.c", 5, 6);
    fake_function(KEY(END_REDUCE), "__kmpc_end_reduce", "", 0, 0);
    fake_function(KEY(END_ATOMIC), "GOMP_atomic_end", "", 0, 0);
    uint32_t region = reduce(2, 3, true);
    run(frame(region, FOREIGN_KEY(CLEAR)), 1, THREADS, THREADS, 0);
    run(frame(region, FOREIGN_KEY(COSINE)), 1, THREADS, THREADS, 0);
    run(runtime(region, END_REDUCE), 0.5, THREADS, THREADS, 0);
    uint32_t end = runtime(region, END_ATOMIC);
    run(end, 0.25, THREADS, THREADS, 0);
    made.nodes[end].metric.lock_wait_here = 1 * S;
    gather();
    const struct finding *finding = found("reduction");
    assert_title(finding, "threads make and combine private copies for 16.00 s");
    assert_has(finding->evidence, "; 25 % of this time is in the runtime");
    assert_has(finding->place, "solve [parallel p.c:21]  p.c:21"); /* the longest call's line, not the loop's */
}

/* A loop in another line than its region's directive, by a compiler that calls the runtime there. GCC's calls are also those
 * of other updates. */
WITH_REDUCTIONS(a_loops_line_is_a_directives_if_the_runtime_combines_copies_there)
{
    enum { FOR = 80 };
    reduce(0, 1, false);
    fake_function(KEY(FOR), "solve [parallel p.c:21]", "/s/p.c", 21, 25)->construct = SYMBOL_PARALLEL;
    fake_function(KEY(REDUCE), "__kmpc_reduce", "", 0, 0);
    uint32_t loop = frame(frame(program.main_node, KEY(SOLVE)), KEY(FOR));
    run(loop, 2, THREADS, THREADS, 0);
    run(runtime(loop, REDUCE), 0.5, THREADS, THREADS, 0);
    assert_title(only("reduction"), "threads make and combine private copies for 10.00 s");
    fake_function(KEY(REDUCE), "GOMP_atomic_start", "", 0, 0);
    gather();
    assert_false(is_found("reduction"));
}

WITH_REDUCTIONS(who_idles_beside_copies_and_lacks_cores_for_them_is_in_their_bound)
{
    enum { CLEAR = 80 };
    fake_function(FOREIGN_KEY(CLEAR), "__memset_avx2", "", 0, 0);
    uint32_t clear = frame(reduce(1, 1, true), FOREIGN_KEY(CLEAR));
    run(clear, 4, 1, THREADS, PROFILE_PLACE_BARRIER);
    const struct finding *finding = only("reduction");
    assert_has(finding->evidence, ", while other threads idled for 12.00 s");
    assert_bound(finding, 8.0 / THREADS + 12.0 / THREADS);
    assert_true(finding->gain_s > 8.0 / THREADS + 12.0 / THREADS + 0.001); /* the error of the seconds */
    uint32_t no_core = add(clear, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    made.nodes[no_core].metric.no_core = 8 * S;
    gather();
    assert_bound(found("reduction"), (8.0 + 8.0) / THREADS + 12.0 / THREADS);
}

WITH_REDUCTIONS(threads_that_wait_in_reductions_tell_one)
{
    uint32_t region = reduce(2, 1, false);
    run(region, 1, 1, THREADS, PROFILE_PLACE_REDUCTION);
    gather();
    assert_true(is_found("reduction"));
}

WITH_REDUCTIONS(updates_in_other_lines_or_regions_tell_none)
{
    enum { OTHER_DIRECTIVE = 80, OTHER_LINE };
    reduce(2, 1, false);
    struct symbol_frame *directive = fake_function(KEY(OTHER_DIRECTIVE), "other [parallel p.c:51]", "/s/p.c", 51, 51);
    directive->construct = SYMBOL_PARALLEL;
    struct symbol_frame *other = fake_function(KEY(OTHER_LINE), "other [parallel p.c:51]", "/s/p.c", 51, 53);
    other->construct = SYMBOL_PARALLEL;
    run(frame(program.main_node, KEY(OTHER_DIRECTIVE)), 2, THREADS, THREADS, 0);
    uint32_t line = frame(program.main_node, KEY(OTHER_LINE));
    run(line, 2, THREADS, THREADS, 0);
    directive->updates = true;
    assert_has(only("reduction")->place, "other [parallel p.c:51]");
    directive->updates = false;
    other->updates = true;
    gather();
    assert_false(is_found("reduction"));
    fake_function(KEY(UPDATING), "count", "/s/p.c", 30, 31)->combines = true; /* has an atomic update by the runtime */
    run(frame(line, KEY(UPDATING)), 2, THREADS, THREADS, 0);
    gather();
    assert_false(is_found("reduction"));
}

WITH_REDUCTIONS(updates_of_other_modules_are_no_finding)
{
    fake_function(FOREIGN_KEY(UPDATING), "count", "", 0, 0)->updates = true;
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
    run(frame(region, FOREIGN_KEY(UPDATING)), 2, THREADS, THREADS, 0);
    gather();
    assert_false(is_found("atomic"));
}

/* What waits for a core or for the memory that others take goes, too. The runtime had hardly any of the time on cores. */
WITH_REDUCTIONS(the_bound_of_updates_has_missing_cores_slowed_code_and_no_limit_of_the_runtimes)
{
    enum { BESIDE = 80 };
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)), node = update(region);
    fake_function(KEY(BESIDE), "count", "/s/p.c", 30, 33);
    run(frame(region, KEY(BESIDE)), 2, THREADS, THREADS, 0);
    gather();
    assert_bound(found("atomic"), (8.0 + 8.0 / 4) / THREADS);
    made.threads[0].on_core_ns = 1;
    made.profile.header.cores = 2;
    gather();
    assert_bound(found("atomic"), (8.0 + 8.0 / 4) / 2);
    uint32_t no_core = add(node, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    made.nodes[no_core].metric.no_core = 8 * S;
    made.profile.header.cores = THREADS;
    gather();
    assert_bound(found("atomic"), (8.0 + 8.0 / 4 + 8.0) / THREADS);
}

UNIT_MAIN(NULL, NULL)
