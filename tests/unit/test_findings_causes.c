/* needs: tests/fuzz/fake_symbols.c */
/* The programs of tests/programs/causes.c as what a profile has of them, in exact figures, on 2, 4 and 16
 * threads and as many cores: each has the finding that is right for it, at the right line, and no other. With
 * BLAME_CAUSES_TABLE=1 it prints what was found, for the table in docs/findings.md. */
#include "tests/unit/findings_program.h"

#define WHOLE 4.0 /* seconds of a case; beside it WHOLE / 4 of balanced work */

static unsigned team; /* of the case that is made: 2, 4 or 16 */

struct cause {
    const char *name, *rule, *place, *words; /* as in causes.c */
    void (*make)(struct made *made);
};

static uint32_t region_of(struct made *made)
{
    return add(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(SOLVE)), PROFILE_NODE_FRAME,
               KEY(REGION));
}

static uint32_t task_of(struct made *made)
{
    return add(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(SOLVE)), PROFILE_NODE_FRAME,
               KEY(TASK));
}

/* What samples knew of the loop or single beside which the idleness of a node came last. */
static void in_loop(struct made *made, uint32_t node, double pieces, bool dynamic)
{
    for (size_t i = 1; i < made->profile.node_count; i++) {
        struct merged_node *waiters = &made->nodes[i];
        struct profile_idle idle = {.shared_idle = waiters->metric.shared_idle};
        if (waiters->parent != node || waiters->kind != PROFILE_NODE_WAITERS)
            continue;
        idle.loops = idle.shared_idle;
        idle.scarcity = idle.shared_idle * team / pieces;
        idle.dynamic = dynamic ? idle.shared_idle : 0;
        memcpy(&waiters->metric, &idle, sizeof idle);
    }
}

static void in_single_of(struct made *made, uint32_t node)
{
    for (size_t i = 1; i < made->profile.node_count; i++)
        if (made->nodes[i].parent == node && made->nodes[i].kind == PROFILE_NODE_WAITERS) {
            struct profile_idle idle = {.shared_idle = made->nodes[i].metric.shared_idle};
            idle.single = idle.shared_idle;
            memcpy(&made->nodes[i].metric, &idle, sizeof idle);
        }
}

static void make_serial(struct made *made)
{
    run(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT)), WHOLE / 2, 1, 1, 0);
}

static void make_pieces(struct made *made)
{
    uint32_t solve = add(made, made->main_node, PROFILE_NODE_FRAME, KEY(SOLVE));
    for (uint64_t i = 0; i < 60; i++)
        run(made, add(made, solve, PROFILE_NODE_FRAME, OTHER(i)), WHOLE / 60, 1, 1, 0);
}

static void make_blocked_serial(struct made *made)
{
    uint32_t init = add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT));
    run(made, add(made, init, PROFILE_NODE_FRAME, FOREIGN_KEY(COSINE)), WHOLE / 2, 1, 1, 0);
}

static void make_start_up(struct made *made)
{
    made->profile.header.before_start_ns = (uint64_t)(WHOLE * S);
}

/* All threads for a while, then one of them, in a loop with so many iterations. */
static void make_loop(struct made *made, double together_s, double alone_s, double pieces, bool dynamic)
{
    uint32_t region = region_of(made);
    run(made, region, together_s, team, team, 0);
    run(made, region, alone_s, 1, team, PROFILE_PLACE_REGION_END);
    in_loop(made, region, pieces, dynamic);
}

static void make_unequal_2(struct made *made)
{
    make_loop(made, WHOLE / 2, WHOLE / 2, 48 * team, false);
}

static void make_unequal_4(struct made *made)
{
    make_loop(made, WHOLE / 4, WHOLE * 3 / 4, 48 * team, false);
}

static void make_unequal_8(struct made *made)
{
    make_loop(made, WHOLE / 8, WHOLE * 7 / 8, 48 * team, false);
}

/* The threads end one after the other. */
static void make_triangle(struct made *made)
{
    uint32_t region = region_of(made);
    for (unsigned busy = team; busy > 0; busy--)
        run(made, region, WHOLE / team, busy, team, PROFILE_PLACE_REGION_END);
    in_loop(made, region, 32 * team, false);
}

static void make_big_chunks(struct made *made)
{
    uint32_t region = region_of(made);
    run(made, region, WHOLE / 3, 2, team, team > 2 ? PROFILE_PLACE_REGION_END : 0);
    run(made, region, WHOLE / 3, 1, team, PROFILE_PLACE_REGION_END);
    in_loop(made, region, 32 * team, true);
}

static void make_by_number(struct made *made)
{
    uint32_t region = region_of(made);
    run(made, region, WHOLE / 6, team, team, 0);
    run(made, region, WHOLE * 5 / 6, 1, team, PROFILE_PLACE_REGION_END);
}

static void make_few_iterations(struct made *made)
{
    uint32_t region = region_of(made);
    run(made, region, WHOLE, team * 2 / 3, team, PROFILE_PLACE_REGION_END);
    in_loop(made, region, team * 2 / 3, false);
}

static void make_one_too_many(struct made *made)
{
    make_loop(made, WHOLE / 2, WHOLE / 2, team + 1, false);
}

static void make_few_sections(struct made *made)
{
    uint32_t region = region_of(made);
    run(made, region, WHOLE, team > 2 ? 2 : 1, team, PROFILE_PLACE_WORKSHARE);
    in_loop(made, region, 2, false);
}

static void make_in_single(struct made *made)
{
    uint32_t region = region_of(made);
    run(made, region, WHOLE * 2 / 3, 1, team, PROFILE_PLACE_WORKSHARE);
    in_single_of(made, region);
    run(made, region, WHOLE / 3, team, team, 0);
}

static void make_in_masked(struct made *made)
{
    uint32_t region = region_of(made);
    run(made, add(made, region, PROFILE_NODE_FRAME, KEY(HEAVY)), WHOLE * 2 / 3, 1, team,
        PROFILE_PLACE_BARRIER);
    run(made, region, WHOLE / 3, team, team, 0);
}

static void make_blocked(struct made *made)
{
    uint32_t region = region_of(made);
    uint32_t heavy = add(made, region, PROFILE_NODE_FRAME, KEY(HEAVY));
    run(made, add(made, heavy, PROFILE_NODE_FRAME, FOREIGN_KEY(COSINE)), WHOLE * 2 / 3, 1, team,
        PROFILE_PLACE_BARRIER);
    run(made, region, WHOLE / 3, team, team, 0);
}

static void make_cost(struct made *made, uint32_t below, int entry)
{
    run(made, add(made, below, PROFILE_NODE_RUNTIME, KEY(entry)), WHOLE * 2 / 3, team, team, 0);
    run(made, below, WHOLE / 3, team, team, 0);
}

static void make_tiny_chunks(struct made *made)
{
    make_cost(made, region_of(made), DISPATCH);
}

static void make_tiny_regions(struct made *made)
{
    make_cost(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT)), FORK);
}

static void make_tiny_tasks(struct made *made)
{
    make_cost(made, task_of(made), TASK_ALLOC);
}

static void make_barriers(struct made *made)
{
    make_cost(made, region_of(made), BARRIER);
}

static void make_few_tasks(struct made *made)
{
    run(made, task_of(made), WHOLE, team / 2, team, PROFILE_PLACE_WORKSHARE);
}

static void make_slow_creation(struct made *made)
{
    uint32_t region = region_of(made);
    run(made, task_of(made), WHOLE / 40, 2, team, team > 2 ? PROFILE_PLACE_WORKSHARE : 0);
    run(made, region, WHOLE, 1, team, PROFILE_PLACE_WORKSHARE);
    in_single_of(made, region);
}

static void make_long_last_task(struct made *made)
{
    uint32_t task = task_of(made);
    run(made, task, WHOLE / 5, team, team, 0);
    run(made, task, WHOLE * 4 / 5, 1, team, PROFILE_PLACE_WORKSHARE);
}

static void make_chain(struct made *made)
{
    run(made, task_of(made), WHOLE, 1, team, PROFILE_PLACE_TASKWAIT);
}

/* One thread at a time holds it, all others wait, some of them while it is passed on. */
static void make_lock(struct made *made, uint32_t holder, int kind, double handoff_s)
{
    struct {
        uint32_t node;
        double seconds;
    } part[] = {{holder, WHOLE - handoff_s},
                {add(made, holder, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_HANDOFF), handoff_s}};
    run(made, holder, WHOLE, 1, 1, 0);
    made->nodes[holder].metric.inverse_busy = WHOLE * S / team;
    for (int i = 0; i < 2; i++) {
        uint32_t lock = add(made, part[i].node, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(kind, 0x1230));
        double wait_ns = part[i].seconds * (team - 1) * S;
        made->nodes[lock].metric = (struct profile_metric){.samples = (uint64_t)(wait_ns / S * 200),
                                                           .lock_wait = wait_ns,
                                                           .lock_wait_here = wait_ns,
                                                           .inverse_busy = wait_ns / team};
    }
}

static void make_critical(struct made *made)
{
    make_lock(made, region_of(made), PROFILE_LOCK_CRITICAL, WHOLE / 10);
}

static void make_locked(struct made *made)
{
    make_lock(made, region_of(made), PROFILE_LOCK_LOCK, WHOLE * 3 / 4);
}

static void make_held_long(struct made *made)
{
    make_lock(made, add(made, region_of(made), PROFILE_NODE_FRAME, KEY(HEAVY)), PROFILE_LOCK_LOCK, 0);
}

static void make_ordered(struct made *made)
{
    make_lock(made, region_of(made), PROFILE_LOCK_ORDERED, 0);
}

/* A nested team of two below each thread: twice as many threads as cores. */
static void make_nested_full(struct made *made)
{
    uint32_t region = region_of(made);
    uint32_t nested =
        add(made, add(made, region, PROFILE_NODE_FRAME, KEY(HEAVY)), PROFILE_NODE_FRAME, KEY(REGION));
    made->profile.header.threads_max = 2 * team;
    run(made, region, WHOLE / 2, team, team, 0);
    run(made, nested, WHOLE / 2, 2 * team, 2 * team, 0);
}

/* Threads exist for nested teams that come and go; meanwhile all cores are busy, and never more threads. */
static void make_nested_fits(struct made *made)
{
    made->profile.header.threads_max = 2 * team;
    run(made, region_of(made), WHOLE, team, team, 0);
}

static void make_nested_narrow(struct made *made)
{
    run(made, region_of(made), WHOLE * 2 / 3, 1, 1, 0);
}

static void make_balanced(struct made *made)
{
    run(made, region_of(made), WHOLE, team, team, 0);
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
    {"by number", "imbalance", "solve [par", "equal shares", make_by_number},
    {"few iterations", "coarse", "solve [par", "too few iterations", make_few_iterations},
    {"one too many", "coarse", "solve [par", "too few iterations", make_one_too_many},
    {"few sections", "coarse", "solve [par", "too few", make_few_sections},
    {"in single", "coarse", "solve [par", "less in single", make_in_single},
    {"in masked", "coarse", "heavy", "less in single", make_in_masked},
    {"blocked in region", "coarse", "heavy  p.c:51 (in cos", "one thread works alone", make_blocked},
    {"tiny chunks", "fine", "solve [par", "larger chunks", make_tiny_chunks},
    {"tiny regions", "fine", "init", "fewer regions", make_tiny_regions},
    {"tiny tasks", "fine", "solve [task", "larger tasks", make_tiny_tasks},
    {"barriers", "fine", "solve [par", "barriers", make_barriers},
    {"few tasks", "task-starved", "solve [task", "smaller tasks", make_few_tasks},
    {"slow creation", "task-starved", "solve [par", "by more than one thread", make_slow_creation},
    {"long last task", "task-starved", "solve [task", "long tasks first", make_long_last_task},
    {"chain", "task-starved", "solve [task", "dependences", make_chain},
    {"critical", "lock-bound", "solve [par", "Do less while holding it", make_critical},
    {"locked", "lock-bound", "solve [par", "take it less often", make_locked},
    {"held long", "lock-bound", "heavy", "Do less while holding it", make_held_long},
    {"ordered", "lock-bound", "solve [par", "waiting for", make_ordered},
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
        struct made *made;
        make_program((void **)&made, threads, WHOLE / 4);
        causes[i].make(made);
        gather(made);
        const struct finding *first = made->findings->count ? made->findings->finding : NULL;
        bool right = is_right(&causes[i], made->findings);
        if (getenv("BLAME_CAUSES_TABLE"))
            printf("%s\t%s\t%s\n", causes[i].name, causes[i].rule, first ? first->rule : "-");
        else if (!right)
            print_error("%s on %u threads: %zu findings instead of %s at %s; the first is %s: %s: %s\n",
                        causes[i].name, threads, made->findings->count, causes[i].rule, causes[i].place,
                        first ? first->rule : "", first ? first->title : "", first ? first->place : "");
        wrong += !right;
        destroy((void **)&made);
    }
    return wrong;
}

static void every_cause_has_its_finding_and_no_other(void **state)
{
    (void)state;
    size_t wrong = judge_team(2) + judge_team(4) + judge_team(16);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cause_has_its_finding_and_no_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
