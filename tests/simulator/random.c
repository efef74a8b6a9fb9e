/* Chance: durations, and whole scenarios, which are made small again when one fails. */
#include "tests/simulator/scenario.h"

#include <stdlib.h>
#include <string.h>

uint64_t random_next(uint64_t *state)
{
    uint64_t word = *state += 0x9e3779b97f4a7c15ull;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    return word ^ (word >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return bound ? random_next(state) % bound : 0;
}

uint64_t random_duration(uint64_t *state, const struct duration *duration)
{
    return duration->mean_ns - duration->spread_ns + random_below(state, 2 * duration->spread_ns + 1);
}

/* What may stand where: OpenMP's rules, and no lock inside another, so that nobody waits for ever. */
struct place {
    bool region, sharing, locked, task;
    uint32_t depth;
};

struct writer {
    uint64_t chance;
    char *text;
    size_t used, room;
    uint32_t ops;
};

static void add(struct writer *writer, const char *text)
{
    size_t length = strlen(text);
    if (writer->used + length + 1 >= writer->room)
        return;
    memcpy(writer->text + writer->used, text, length + 1);
    writer->used += length;
}

/* Of times with a spread, or of such that keep time with the clock. */
static void add_work(struct writer *writer)
{
    char text[160] = "work";
    uint64_t count = 1 + random_below(&writer->chance, 4), in_step = random_below(&writer->chance, 2);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t us = 100u << random_below(&writer->chance, 8);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %luus~%luus", (unsigned long)us,
                 (unsigned long)(in_step ? 0 : us));
    }
    add(writer, text);
    add(writer, "\n");
}

static void add_body(struct writer *writer, struct place place);

static void add_block(struct writer *writer, const char *head, struct place place)
{
    add(writer, head);
    add(writer, " {\n");
    place.depth++;
    add_body(writer, place);
    add(writer, "}\n");
}

static void add_inside_region(struct writer *writer, struct place place)
{
    struct place inside = place;
    static const char *const locks[] = {"critical a", "critical b", "lock c", "nest d"};
    char text[32];
    switch (random_below(&writer->chance, 8)) {
    case 0:
        if (!place.locked && !place.sharing && !place.task)
            add(writer, "barrier\n");
        return;
    case 1:
    case 2:
        inside.sharing = true;
        snprintf(text, sizeof(text), "%s %lu", random_below(&writer->chance, 2) ? "static" : "dynamic",
                 (unsigned long)(1 + random_below(&writer->chance, 8)));
        if (!place.locked && !place.sharing && !place.task)
            add_block(writer, text, inside);
        return;
    case 3:
        inside.sharing = true;
        if (!place.locked && !place.sharing && !place.task)
            add_block(writer, "single", inside);
        return;
    case 4:
        inside.locked = true;
        if (!place.locked)
            add_block(writer, locks[random_below(&writer->chance, 4)], inside);
        return;
    case 5:
    case 6:
        inside.task = true;
        if (!place.locked)
            add_block(writer, "task", inside);
        return;
    default:
        if (!place.locked)
            add(writer, "taskwait\n");
    }
}

static void add_op(struct writer *writer, struct place place)
{
    struct place inside = place;
    char text[32];
    uint64_t number = random_below(&writer->chance, 8);
    writer->ops++;
    if (place.depth > 4 || writer->ops > 24 || number < 3) {
        add_work(writer);
        return;
    }
    snprintf(text, sizeof(text), number == 3 ? "repeat %lu" : "parallel %lu",
             (unsigned long)(1 + random_below(&writer->chance, 4)));
    bool call = number == 4 && random_below(&writer->chance, 2);
    if (number == 3) {
        add_block(writer, text, place);
    } else if (call) {
        snprintf(text, sizeof(text), "call f%u", writer->ops);
        add_block(writer, text, place);
    } else if (place.region && number > 4) {
        add_inside_region(writer, place);
    } else if (!place.locked && !place.task) {
        inside.region = true;
        inside.sharing = false;
        add_block(writer, text, inside);
    }
}

static void add_body(struct writer *writer, struct place place)
{
    for (uint64_t left = 1 + random_below(&writer->chance, 4); left > 0; left--)
        add_op(writer, place);
}

static bool has_locks(const struct scenario *scenario)
{
    return scenario_has(scenario, OP_CRITICAL) || scenario_has(scenario, OP_LOCK) || scenario_has(scenario, OP_NEST);
}

struct scenario *scenario_random(uint64_t seed)
{
    static char text[65536];
    char error[256], name[32];
    struct writer writer = {.chance = seed, .text = text, .room = sizeof(text)};
    snprintf(name, sizeof(name), "random-%lu", (unsigned long)seed);
    add(&writer, "wake 20us~20us fork 5us~5us main {\n");
    for (int i = 0; i < 4; i++)
        add_op(&writer, (struct place){.depth = 0});
    add_work(&writer);
    add(&writer, "}\n");
    struct scenario *scenario = scenario_parse(name, text, error, sizeof(error));
    if (seed % 2 == 0 &&
        !has_locks(scenario)) { /* who releases a lock for the last time cannot be told later what it cost */
        scenario->cores = 2 + (uint32_t)(seed / 2 % 2);
        scenario->slice_ns = 3000000;
    }
    return scenario;
}

static struct op *copy_ops(const struct op *op, uint32_t target, uint32_t way)
{
    if (!op)
        return NULL;
    if (op->id == target && way == 0) /* without it */
        return copy_ops(op->next, target, way);
    struct op *copy = memcpy(malloc(sizeof(*op)), op, sizeof(*op));
    copy->body = copy_ops(op->body, target, way);
    copy->next = copy_ops(op->next, target, way);
    if (op->id != target)
        return copy;
    if (way == 1) { /* less often, fewer threads */
        copy->number = (op->number + 1) / 2;
        copy->duration_count = (op->duration_count + 1) / 2;
    } else if (copy->body && op->kind != OP_PARALLEL && op->kind != OP_TASK && op->kind != OP_CALL) {
        struct op *last = copy->body; /* what is in it alone */
        while (last->next)
            last = last->next;
        last->next = copy->next;
        return copy->body;
    }
    return copy;
}

static uint32_t size_of(const struct op *op)
{
    return op ? 1 + op->number + op->duration_count + size_of(op->body) + size_of(op->next) : 0;
}

struct scenario *scenario_shrunk(const struct scenario *scenario, uint32_t number)
{
    for (; number < 3 * scenario->ops; number++) {
        struct scenario *copy = memcpy(malloc(sizeof(*copy)), scenario, sizeof(*copy));
        copy->main = copy_ops(scenario->main, number / 3, number % 3);
        if (size_of(copy->main) < size_of(scenario->main))
            return copy;
    }
    return NULL;
}
