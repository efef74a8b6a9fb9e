/* Processes that come to a job's segment and leave it, again and again: X2. */
#include "ompt_tool/ranks/ranks_lines.h"

#include "base/atomics.h"
#include "tests/memory/scenarios.h"

#define PROCESSES 4
#define ROUNDS    4
#define SEGMENTS  (PROCESSES * ROUNDS + 1)

static struct ranks_segment *segments[SEGMENTS];

static GHOST struct {
    unsigned named; /* the segment that has the name */
    bool came[SEGMENTS], removed[SEGMENTS], there[SEGMENTS][PROCESSES];
} ghost;

static void begin(void)
{
    for (unsigned i = 0; i < SEGMENTS; i++)
        segments[i] = model_map(sizeof(struct ranks_segment) + PROCESSES * sizeof(struct ranks_line));
}

static void rest(void)
{
    static const uint64_t most[] = {1, 30, 300, 3000};
    for (uint64_t steps = model_random(most[model_random(4)]); steps; steps--)
        model_pause();
}

static void leave(unsigned number)
{
    if (!ranks_lines_leave(segments[number]))
        return;
    model_check(number == ghost.named, "the name of segment %u is removed, which is that of %u", number, ghost.named);
    for (unsigned i = 0; i < PROCESSES; i++)
        model_check(!ghost.there[number][i], "process %u is there, and who comes later will not find it", i);
    ghost.removed[number] = true;
    ghost.named++;
}

/* False: it is closed. */
static bool come_and_leave(unsigned process)
{
    unsigned number = ghost.named;
    struct ranks_segment *segment = segments[number];
    pid_t pid = (pid_t)(1 + process);
    model_pause();
    uint32_t line = ranks_lines_claim(segment, pid);
    model_check(line < PROCESSES, "process %u has line %u", process, line);
    if (ranks_lines_are_closed(segment)) {
        ranks_lines_give_back(segment, line);
        leave(number);
        return false;
    }
    ghost.there[number][process] = ghost.came[number] = true;
    store_relaxed(&segment->line[line].rank, process);
    store_relaxed(&segment->line[line].disappeared, 0);
    ranks_lines_show(segment, line, pid);
    rest();
    model_check(load_relaxed(&segment->line[line].rank) == process, "process %u shares line %u", process, line);
    ghost.there[number][process] = false;
    store_seq_cst(&segment->line[line].disappeared, model_now()); /* as ranks_disappear() */
    leave(number);
    return true;
}

static void live(unsigned process)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        rest();
        while (!come_and_leave(process))
            rest();
    }
}

static void first(void)
{
    live(0);
}

static void second(void)
{
    live(1);
}

static void third(void)
{
    live(2);
}

static void fourth(void)
{
    live(3);
}

static void end_left(void)
{
    for (unsigned i = 0; i < SEGMENTS; i++)
        model_check(ghost.came[i] == ghost.removed[i], "segment %u: %s, its name %s", i,
                    ghost.came[i] ? "somebody came" : "nobody came", ghost.removed[i] ? "was removed" : "is left");
}

const struct scenario scenario_ranks_lines = {"ranks-lines", "X2", begin, {first, second, third, fourth}, end_left, 0};
