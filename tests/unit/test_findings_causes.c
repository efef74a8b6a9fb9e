/* needs: tests/fuzz/fake_symbols.c */
/* The programs of tests/programs/causes.c as what a profile has of them, in exact figures, on 2, 4 and 16
 * threads and as many cores: each has the finding that is right for it, at the right line, and no other. With
 * BLAME_CAUSES_TABLE=1 it prints what was found, for the table in tests/behaviour/causes.md. */
#include "tests/unit/findings_program.h"

#define WHOLE 4.0 /* seconds of a case; beside it WHOLE / 4 of balanced work */

static unsigned team; /* of the case that is made: 2, 4 or 16 */

struct cause {
    const char *name, *rule, *place, *words; /* as in causes.c */
    void (*make)(void);
};

static uint32_t region_of(void)
{
    return frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
}

static uint32_t task_of(void)
{
    return frame(frame(program.main_node, KEY(SOLVE)), KEY(TASK));
}

/* What samples knew of the loop or single beside which the idleness of a node came last. */
static void in_loop(uint32_t node, double pieces, bool dynamic)
{
    for (size_t i = 1; i < made.profile.node_count; i++) {
        struct merged_node *waiters = &made.nodes[i];
        struct profile_idle idle = {.shared_idle = waiters->metric.shared_idle};
        if (waiters->parent != node || waiters->kind != PROFILE_NODE_WAITERS)
            continue;
        idle.loops = idle.shared_idle;
        idle.scarcity = idle.shared_idle * team / pieces;
        idle.dynamic = dynamic ? idle.shared_idle : 0;
        memcpy(&waiters->metric, &idle, sizeof idle);
    }
}

static void in_single_of(uint32_t node)
{
    for (size_t i = 1; i < made.profile.node_count; i++)
        if (made.nodes[i].parent == node && made.nodes[i].kind == PROFILE_NODE_WAITERS) {
            struct profile_idle idle = {.shared_idle = made.nodes[i].metric.shared_idle};
            idle.single = idle.shared_idle;
            memcpy(&made.nodes[i].metric, &idle, sizeof idle);
        }
}

static void make_serial(void)
{
    run(frame(program.main_node, KEY(INIT)), WHOLE / 2, 1, 1, 0);
}

static void make_pieces(void)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    for (uint64_t i = 0; i < 60; i++)
        run(frame(solve, OTHER(i)), WHOLE / 60, 1, 1, 0);
}

static void make_blocked_serial(void)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    run(frame(init, FOREIGN_KEY(COSINE)), WHOLE / 2, 1, 1, 0);
}

static void make_start_up(void)
{
    made.profile.header.before_start_ns = (uint64_t)(WHOLE * S);
}

/* All threads for a while, then one of them, in a loop with so many iterations. */
static void make_loop(double together_s, double alone_s, double pieces, bool dynamic)
{
    uint32_t region = region_of();
    run(region, together_s, team, team, 0);
    run(region, alone_s, 1, team, PROFILE_PLACE_REGION_END);
    in_loop(region, pieces, dynamic);
}

static void make_unequal_2(void)
{
    make_loop(WHOLE / 2, WHOLE / 2, 48 * team, false);
}

static void make_unequal_4(void)
{
    make_loop(WHOLE / 4, WHOLE * 3 / 4, 48 * team, false);
}

static void make_unequal_8(void)
{
    make_loop(WHOLE / 8, WHOLE * 7 / 8, 48 * team, false);
}

/* The threads end one after the other. */
static void make_triangle(void)
{
    uint32_t region = region_of();
    for (unsigned busy = team; busy > 0; busy--)
        run(region, WHOLE / team, busy, team, PROFILE_PLACE_REGION_END);
    in_loop(region, 32 * team, false);
}

static void make_big_chunks(void)
{
    uint32_t region = region_of();
    run(region, WHOLE / 3, 2, team, team > 2 ? PROFILE_PLACE_REGION_END : 0);
    run(region, WHOLE / 3, 1, team, PROFILE_PLACE_REGION_END);
    in_loop(region, 32 * team, true);
}

static void make_by_number(void)
{
    uint32_t region = region_of();
    run(region, WHOLE / 6, team, team, 0);
    run(region, WHOLE * 5 / 6, 1, team, PROFILE_PLACE_REGION_END);
}

static void make_few_iterations(void)
{
    uint32_t region = region_of();
    run(region, WHOLE, team * 2 / 3, team, PROFILE_PLACE_REGION_END);
    in_loop(region, team * 2 / 3, false);
}

static void make_one_too_many(void)
{
    make_loop(WHOLE / 2, WHOLE / 2, team + 1, false);
}

static void make_few_sections(void)
{
    uint32_t region = region_of();
    run(region, WHOLE, team > 2 ? 2 : 1, team, PROFILE_PLACE_WORKSHARE);
    in_loop(region, 2, false);
    for (size_t i = 1; i < made.profile.node_count; i++)
        if (made.nodes[i].parent == region && made.nodes[i].kind == PROFILE_NODE_WAITERS) {
            struct profile_idle *idle = (struct profile_idle *)&made.nodes[i].metric;
            idle->sections = idle->loops;
        }
}

static void make_in_single(void)
{
    uint32_t region = region_of();
    run(region, WHOLE * 2 / 3, 1, team, PROFILE_PLACE_WORKSHARE);
    in_single_of(region);
    run(region, WHOLE / 3, team, team, 0);
}

static void make_in_masked(void)
{
    uint32_t region = region_of();
    run(frame(region, KEY(HEAVY)), WHOLE * 2 / 3, 1, team, PROFILE_PLACE_BARRIER);
    run(region, WHOLE / 3, team, team, 0);
}

/* All threads call the function later, from another place. */
static void make_in_masked_later_by_all(void)
{
    uint32_t region = region_of();
    run(frame(frame(region, KEY(INIT)), KEY(HEAVY)), WHOLE * 2 / 3, 1, team, PROFILE_PLACE_BARRIER);
    run(frame(region, KEY(HEAVY)), WHOLE / 3, team, team, 0);
}

/* Unequal shares of many functions, of which samples saw each only once. */
static void make_by_number_in_pieces(void)
{
    uint32_t region = region_of();
    for (uint64_t i = 0; i < (uint64_t)(WHOLE * 200); i++)
        run(frame(region, OTHER(i)), 1.0 / 200, 1, team, PROFILE_PLACE_REGION_END);
    run(region, WHOLE / 3, team, team, 0);
}

static void make_blocked(void)
{
    uint32_t region = region_of();
    uint32_t heavy = frame(region, KEY(HEAVY));
    run(frame(heavy, FOREIGN_KEY(COSINE)), WHOLE * 2 / 3, 1, team, PROFILE_PLACE_BARRIER);
    run(region, WHOLE / 3, team, team, 0);
}

static void make_cost(uint32_t below, int entry)
{
    run(add(below, PROFILE_NODE_RUNTIME, KEY(entry)), WHOLE * 2 / 3, team, team, 0);
    run(below, WHOLE / 3, team, team, 0);
}

static void make_tiny_chunks(void)
{
    make_cost(region_of(), DISPATCH);
}

static void make_tiny_chunks_in_function(void)
{
    make_cost(frame(region_of(), KEY(HEAVY)), DISPATCH);
}

static void make_slow_start(void)
{
    make_cost(frame(program.main_node, KEY(INIT)), FORK);
}

static void make_tiny_regions(void)
{
    made.profile.header.regions = 1000 * 1000;
    make_slow_start();
}

static void make_tiny_tasks(void)
{
    make_cost(task_of(), TASK_ALLOC);
}

static void make_barriers(void)
{
    make_cost(region_of(), BARRIER);
}

static void make_few_tasks(void)
{
    run(task_of(), WHOLE, team / 2, team, PROFILE_PLACE_WORKSHARE);
}

static void make_slow_creation(void)
{
    uint32_t region = region_of();
    run(task_of(), WHOLE / 40, 2, team, team > 2 ? PROFILE_PLACE_WORKSHARE : 0);
    run(region, WHOLE, 1, team, PROFILE_PLACE_WORKSHARE);
    in_single_of(region);
}

/* The tasks of one thread, which waits for each of them; it needs hardly any time itself. */
static void make_taskwait_for_each(void)
{
    uint32_t region = region_of();
    run(task_of(), WHOLE, 1, team, PROFILE_PLACE_WORKSHARE);
    run(region, WHOLE / 100, 1, team, PROFILE_PLACE_WORKSHARE);
    in_single_of(region);
}

static void make_long_last_task(void)
{
    uint32_t task = task_of();
    run(task, WHOLE / 5, team, team, 0);
    run(task, WHOLE * 4 / 5, 1, team, PROFILE_PLACE_WORKSHARE);
}

static void make_chain(void)
{
    run(task_of(), WHOLE, 1, team, PROFILE_PLACE_TASKWAIT);
}

/* One thread at a time holds it, all others wait, some of them while it is passed on. */
static void make_lock(uint32_t holder, int kind, double handoff_s)
{
    struct {
        uint32_t node;
        double seconds;
    } part[] = {{holder, WHOLE - handoff_s}, {add(holder, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_HANDOFF), handoff_s}};
    run(holder, WHOLE, 1, 1, 0);
    made.nodes[holder].metric.inverse_busy = WHOLE * S / team;
    for (int i = 0; i < 2; i++) {
        uint32_t lock = add(part[i].node, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(kind, 0x1230));
        double wait_ns = part[i].seconds * (team - 1) * S;
        made.nodes[lock].metric = (struct profile_sums){.samples = (uint64_t)(wait_ns / S * 200),
                                                        .lock_wait = wait_ns,
                                                        .lock_wait_here = wait_ns,
                                                        .inverse_busy = wait_ns / team};
    }
}

static void make_critical(void)
{
    make_lock(region_of(), PROFILE_LOCK_CRITICAL, WHOLE / 10);
}

static void make_locked(void)
{
    make_lock(region_of(), PROFILE_LOCK_LOCK, WHOLE * 3 / 4);
}

/* Threads had no core while the lock was passed to them. */
static void make_locked_beside_others(void)
{
    make_locked();
    made.threads[0].lock_wait = WHOLE * (team - 1) * S;
    made.threads[0].idle_no_core = WHOLE / 2 * (team - 1) * S;
}

static void make_held_long(void)
{
    make_lock(frame(region_of(), KEY(HEAVY)), PROFILE_LOCK_LOCK, 0);
}

/* The holder sleeps, which is no finding of its own. */
static void make_asleep_in_lock(void)
{
    uint32_t holder = frame(frame(region_of(), KEY(HEAVY)), FOREIGN_KEY(COSINE));
    make_lock(holder, PROFILE_LOCK_CRITICAL, 0);
    made.nodes[holder].metric.blocked = made.nodes[holder].metric.work;
    made.nodes[holder].metric.work = 0;
}

/* One thread takes the lock many times in a row, and then the next one, until the others wait for the last one. */
static void make_lock_in_a_row(void)
{
    uint32_t holder = frame(region_of(), KEY(HEAVY));
    make_lock(holder, PROFILE_LOCK_LOCK, 0);
    run(holder, WHOLE, 1, team, PROFILE_PLACE_REGION_END);
}

static void make_ordered(void)
{
    make_lock(region_of(), PROFILE_LOCK_ORDERED, 0);
}

/* A nested team of two below each thread: twice as many threads as cores. */
static void make_nested_full(void)
{
    uint32_t region = region_of();
    uint32_t nested = frame(frame(region, KEY(HEAVY)), KEY(REGION));
    made.profile.header.threads_max = 2 * team;
    run(region, WHOLE / 2, team, team, 0);
    run(nested, WHOLE / 2, 2 * team, 2 * team, 0);
}

/* Threads exist for nested teams that come and go; meanwhile all cores are busy, and never more threads. */
static void make_nested_fits(void)
{
    made.profile.header.threads_max = 2 * team;
    run(region_of(), WHOLE, team, team, 0);
}

static void make_nested_narrow(void)
{
    run(region_of(), WHOLE * 2 / 3, 1, 1, 0);
}

static void make_balanced(void)
{
    run(region_of(), WHOLE, team, team, 0);
}

static const struct cause causes[] = {
    {"serial", "serial", "init", "serial code", make_serial},
    {"pieces", "serial", "solve", "in small pieces", make_pieces},
    {"blocked serial", "serial", "init  p.c:31 (in cos", "serial code", make_blocked_serial},
    {"start-up", "start-up", "<before OpenMP start>", "before OpenMP", make_start_up},
    {"unequal 1:2", "imbalance", "solve [par", "dynamic", make_unequal_2},
    {"unequal 1:4", "imbalance", "solve [par", "dynamic", make_unequal_4},
    {"unequal 1:8", "imbalance", "solve [par", "dynamic", make_unequal_8},
    {"triangle", "imbalance", "solve [par", "dynamic", make_triangle},
    {"big chunks", "imbalance", "solve [par", "smaller chunks", make_big_chunks},
    {"by number", "imbalance", "solve [par", "if it has too few iterations", make_by_number},
    {"few iterations", "coarse", "solve [par", "too few iterations", make_few_iterations},
    {"one too many", "coarse", "solve [par", "too few iterations", make_one_too_many},
    {"few sections", "coarse", "solve [par", "sections", make_few_sections},
    {"in single", "coarse", "solve [par", "less in single", make_in_single},
    {"in masked", "coarse", "heavy", "less in single", make_in_masked},
    {"in masked, later by all", "coarse", "heavy", "less in single", make_in_masked_later_by_all},
    {"by number, in pieces", "imbalance", "", "equal shares", make_by_number_in_pieces},
    {"blocked in region", "coarse", "heavy  p.c:51 (in cos", "one thread works alone", make_blocked},
    {"tiny chunks", "fine", "solve [par", "larger chunks", make_tiny_chunks},
    {"tiny chunks, in function", "fine", "heavy", "small in solve [parallel p.c:40]", make_tiny_chunks_in_function},
    {"slow start", "fine", "init", "the same number of", make_slow_start},
    {"tiny regions", "fine", "init", "fewer regions", make_tiny_regions},
    {"tiny tasks", "fine", "solve [task", "larger tasks", make_tiny_tasks},
    {"barriers", "fine", "solve [par", "barriers", make_barriers},
    {"few tasks", "task-starved", "solve [task", "smaller tasks", make_few_tasks},
    {"slow creation", "task-starved", "solve [par", "several threads create tasks", make_slow_creation},
    {"taskwait for each", "task-starved", "solve [task", "fewer taskwaits", make_taskwait_for_each},
    {"long last task", "task-starved", "solve [task", "start long tasks first", make_long_last_task},
    {"chain", "task-starved", "solve [task", "dependences", make_chain},
    {"critical", "lock-bound", "solve [par", "Do less while holding the lock", make_critical},
    {"locked", "lock-bound", "solve [par", "Take it less often", make_locked},
    {"locked, no core", "lock-bound", "solve [par", "taken too often or held too long", make_locked_beside_others},
    {"held long", "lock-bound", "heavy", "Do less while holding the lock", make_held_long},
    {"asleep in lock", "lock-bound", "heavy  p.c:51 (in cos", "sleeps while it holds", make_asleep_in_lock},
    {"lock, in a row", "lock-bound", "heavy", "Do less while holding the lock", make_lock_in_a_row},
    {"ordered", "lock-bound", "solve [par", "remove ordered", make_ordered},
    {"nested, full", "oversubscribed", "", "busy threads at a time", make_nested_full},
    {"nested, narrow", "narrow", "solve [par", "more threads take part", make_nested_narrow},
    {"nested, fits", "-", "", "", make_nested_fits},
    {"balanced", "-", "", "", make_balanced},
};

static bool is_right(const struct cause *cause, const struct findings *findings)
{
    const struct finding *finding = findings->finding;
    if (strcmp(cause->rule, "-") == 0)
        return findings->count == 0;
    return findings->count == 1 && strcmp(finding->rule, cause->rule) == 0 &&
           strncmp(finding->place, cause->place, strlen(cause->place)) == 0 &&
           (strstr(finding->title, cause->words) || strstr(finding->advice, cause->words));
}

static size_t judge_team(unsigned threads)
{
    size_t wrong = 0;
    team = threads;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        make_program(threads, WHOLE / 4);
        causes[i].make();
        const struct finding *first = gather();
        bool right = is_right(&causes[i], program.findings);
        if (getenv("BLAME_CAUSES_TABLE"))
            printf("%s\t%s\t%s\n", causes[i].name, causes[i].rule, first ? first->rule : "-");
        else if (!right)
            print_error("%s on %u threads: %zu findings instead of %s at %s; the first is %s: %s: %s\n", causes[i].name,
                        threads, program.findings->count, causes[i].rule, causes[i].place, first ? first->rule : "",
                        first ? first->title : "", first ? first->place : "");
        wrong += !right;
        destroy(NULL);
    }
    return wrong;
}

UNIT_TEST(every_cause_has_its_finding_and_no_other)
{
    size_t wrong = judge_team(2) + judge_team(4) + judge_team(16);
    assert_int_equal(wrong, 0);
}

UNIT_TEST(whether_one_thread_of_too_many_is_alone_is_not_known)
{
    team = 16;
    for (unsigned threads = 64; threads <= 65; threads++) {
        size_t coarse = 0;
        make_program(team, WHOLE / 4);
        made.profile.header.threads_max = threads;
        make_in_masked();
        gather();
        for (size_t i = 0; i < program.findings->count; i++)
            coarse += strcmp(program.findings->finding[i].rule, "coarse") == 0;
        assert_int_equal(coarse, threads == 64);
        destroy(NULL);
    }
}

UNIT_MAIN(NULL, NULL)
