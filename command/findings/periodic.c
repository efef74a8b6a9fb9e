/* Finds phases of which every n-th execution takes longer, and the code that runs only in the long
 * executions. */
#include "cct/profile_tree.h"
#include "command/findings/rules.h"

#include <math.h>
#include <stdlib.h>

#include "command/findings/lattice.h"
#include "command/text/memory.h"

/* A function counts as special to the long steps if at least this share of its effort there is excess. */
#define SPECIAL 0.98

enum side { OTHER, LONG, SIDES };

/* Numbered executions (steps) of one phase, over all contexts. */
struct steps {
    uint32_t name; /* index of the phase's name in the profile, from 1 */
    uint64_t base; /* number of the execution that duration[0] stands for */
    /* sums in seconds, and numbers of calls, over all executions with the same number */
    double duration[LATTICE_MOST], calls[LATTICE_MOST];
    size_t count;
    struct lattice lattice;
};

/* One function of the program, with its callees, within the steps. */
struct part {
    struct profile_sums sum[SIDES];
    uint32_t row, depth; /* the row of the function with most effort in long steps, and its depth */
    double row_s;
    uint32_t seen; /* the node that was added last, so that recursion counts a node once */
};

struct parts {
    struct pair_map map;
    struct part *part;
    size_t count, room;
};

static bool is_step_of(const struct profile *profile, const struct merged_node *node, uint32_t name)
{
    return node->kind == PROFILE_NODE_INSTANCE && node->key != PROFILE_INSTANCE_REST &&
           profile->nodes[node->parent].key == name;
}

static void gather_steps(const struct profile *profile, struct steps *steps)
{
    steps->base = UINT64_MAX;
    for (size_t i = 0; i < profile->probe_count; i++) {
        const struct merged_node *node = &profile->nodes[profile->probes[i].node];
        if (is_step_of(profile, node, steps->name) && node->key < steps->base)
            steps->base = node->key;
    }
    for (size_t i = 0; i < profile->probe_count; i++) {
        const struct merged_probe *probe = &profile->probes[i];
        const struct merged_node *node = &profile->nodes[probe->node];
        uint64_t number = node->key - steps->base;
        if (!is_step_of(profile, node, steps->name) || number >= LATTICE_MOST)
            continue;
        steps->duration[number] += probe->probe.inclusive_ns * 1e-9;
        steps->calls[number] += (double)probe->probe.calls;
        if (number >= steps->count)
            steps->count = number + 1;
    }
}

static bool find_long_steps(struct steps *steps)
{
    double *mean = memory_array(steps->count + 1, sizeof *mean);
    for (size_t i = 0; i < steps->count; i++)
        mean[i] = steps->calls[i] > 0 ? steps->duration[i] / steps->calls[i] : NAN;
    bool found = lattice_find(mean, steps->count, &steps->lattice);
    free(mean);
    return found;
}

/* Returns the row of the step that contains a node, and whether the step is long (side). Returns ROW_NONE if
 * no step contains the node. */
static uint32_t find_step_row(const struct inquiry *inquiry, const struct steps *steps, uint32_t node, enum side *side)
{
    const struct profile *profile = inquiry->profile;
    while (node && !is_step_of(profile, &profile->nodes[node], steps->name))
        node = profile->nodes[node].parent;
    if (!node || profile->nodes[node].key - steps->base >= steps->count)
        return ROW_NONE;
    *side = lattice_has(&steps->lattice, profile->nodes[node].key - steps->base) ? LONG : OTHER;
    return inquiry->rows->node_row[node];
}

static void add_to_step_part(const struct inquiry *inquiry, struct parts *parts, uint32_t row, uint32_t node,
                             enum side side)
{
    const struct row *at = &inquiry->rows->row[row];
    uint32_t *slot = pair_map_slot(&parts->map, at->function, at->kind == ROW_PHASE);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&parts->part, &parts->room, parts->count, sizeof *parts->part);
        *slot = (uint32_t)parts->count++;
        parts->part[*slot] = (struct part){.row = row, .depth = at->depth};
    }
    struct part *part = &parts->part[*slot];
    double seconds = metric_value(inquiry->rows, at->inclusive, METRIC_EFFORT);
    if (part->seen == node)
        return;
    part->seen = node;
    profile_sums_add(&part->sum[side], &inquiry->profile->nodes[node].metric);
    if (side == LONG && seconds > part->row_s) {
        part->row_s = seconds;
        part->row = row;
        part->depth = at->depth;
    }
}

/* Gathers the functions within the steps. The first part is the whole step. */
static void gather_step_parts(const struct inquiry *inquiry, const struct steps *steps, struct parts *parts)
{
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = 1; i < rows->node_count; i++) {
        enum side side;
        const struct merged_node *node = &inquiry->profile->nodes[i];
        uint32_t row = rows->node_row[i];
        if (node->kind == PROFILE_NODE_WAITERS || row == ROW_NONE)
            continue;
        uint32_t step = find_step_row(inquiry, steps, i, &side);
        if (step == ROW_NONE)
            continue;
        if (!parts->count)
            add_to_step_part(inquiry, parts, step, i, side);
        else if (parts->part[0].seen != i) {
            parts->part[0].seen = i;
            profile_sums_add(&parts->part[0].sum[side], &node->metric);
        }
        for (; row != step && row != 0; row = rows->row[row].parent)
            if (rows->row[row].kind != ROW_STATEMENT && rows->row[row].kind != ROW_PSEUDO && !rows->row[row].foreign)
                add_to_step_part(inquiry, parts, row, i, side);
    }
}

/* Returns how many more thread-seconds of a metric the long steps have than as many other steps. */
static double excess_of_long_steps(const struct inquiry *inquiry, const struct steps *steps, const struct part *part,
                                   enum metric metric)
{
    const struct lattice *lattice = &steps->lattice;
    double others = metric_value(inquiry->rows, &part->sum[OTHER], metric);
    return metric_value(inquiry->rows, &part->sum[LONG], metric) -
           others * (double)lattice->points / (double)lattice->others;
}

/* Returns whether a function hardly runs in the other steps. */
static bool is_special_to_long_steps(const struct inquiry *inquiry, const struct steps *steps, const struct part *part)
{
    return excess_of_long_steps(inquiry, steps, part, METRIC_EFFORT) >=
           SPECIAL * metric_value(inquiry->rows, &part->sum[LONG], METRIC_EFFORT);
}

/* Returns the function with most of the excess: the outermost function that hardly runs in the other steps,
 * or else the innermost function. Returns NULL if no function has most of it. */
static const struct part *find_long_part(const struct inquiry *inquiry, const struct steps *steps,
                                         const struct parts *parts)
{
    const struct part *special = NULL, *innermost = NULL;
    double most = MOSTLY * excess_of_long_steps(inquiry, steps, &parts->part[0], METRIC_EFFORT);
    for (size_t i = 1; i < parts->count; i++) {
        const struct part *part = &parts->part[i];
        if (excess_of_long_steps(inquiry, steps, part, METRIC_EFFORT) < most)
            continue;
        if (is_special_to_long_steps(inquiry, steps, part) && (!special || part->depth < special->depth))
            special = part;
        if (!innermost || part->depth > innermost->depth)
            innermost = part;
    }
    return special ? special : innermost;
}

static const char *ending_of(size_t number)
{
    if (number % 100 / 10 == 1)
        return "th";
    return number % 10 == 1 ? "st" : number % 10 == 2 ? "nd" : number % 10 == 3 ? "rd" : "th";
}

static const char *period_advice(const struct inquiry *inquiry, const struct steps *steps, const struct part *whole)
{
    double idle = excess_of_long_steps(inquiry, steps, whole, METRIC_IDLENESS);
    if (idle >= MOSTLY * excess_of_long_steps(inquiry, steps, whole, METRIC_EFFORT))
        return "The other threads idle meanwhile. Let them take part, run this work beside the next steps (in a "
               "task, or a thread of its own), or do it less often.";
    return "Do this work less often, or make it shorter. --view phases shows the time of each step.";
}

static void put_period(struct inquiry *inquiry, const struct steps *steps, const struct parts *parts, double seconds)
{
    const struct lattice *lattice = &steps->lattice;
    const struct part *culprit = find_long_part(inquiry, steps, parts);
    const char *mean = inquiry->profile->header.merged ? " on average over the ranks" : "";
    char phase[NAME_BYTES], share[100] = "";
    shorten_name(phase, inquiry->profile->names[steps->name - 1].text);
    if (culprit)
        snprintf(share, sizeof share, "; %.40s %% of that in the named code",
                 DECIMAL(fmin(100, 100 * excess_of_long_steps(inquiry, steps, culprit, METRIC_EFFORT) / seconds), 0));
    struct finding finding = {.rule = "periodic",
                              .row = culprit ? culprit->row : parts->part[0].row,
                              .metric = METRIC_EFFORT,
                              .seconds = seconds,
                              .sampled = true};
    struct relief relief = {.wall_s = fmax(0, (lattice->seconds - lattice->usual) * (double)lattice->points),
                            .dropped_s = seconds,
                            .moved_s = INFINITY};
    finding.title =
        format_printable("every %zu%s %s takes %s times as long%s", lattice->every, ending_of(lattice->every), phase,
                         DECIMAL(lattice->seconds / lattice->usual, 1), mean);
    uint64_t number = steps->base + lattice->first;
    finding.evidence = format_printable(
        "%s [%llu], [%llu], [%llu] and so on: %zu of these %zu are long, and so are %zu of the %zu "
        "others; these take %s s on average, and the others %s s; their excess is this "
        "effort%s",
        phase, (unsigned long long)number, (unsigned long long)number + lattice->every,
        (unsigned long long)number + 2 * lattice->every, lattice->hits, lattice->points, lattice->strays,
        lattice->others, DECIMAL(lattice->seconds, 4), DECIMAL(lattice->usual, 4), share);
    finding.advice = format_printable("%s", period_advice(inquiry, steps, &parts->part[0]));
    put_bounded_finding(inquiry, &finding, &relief);
}

static void judge_steps(struct inquiry *inquiry, const struct steps *steps)
{
    struct parts parts = {0};
    gather_step_parts(inquiry, steps, &parts);
    double seconds = parts.count ? excess_of_long_steps(inquiry, steps, &parts.part[0], METRIC_EFFORT) : 0;
    double gain_s = (steps->lattice.seconds - steps->lattice.usual) * (double)steps->lattice.points;
    if (finding_is_enough(inquiry, seconds) && gain_s >= LEAST_GAIN_S)
        put_period(inquiry, steps, &parts, seconds);
    pair_map_free(&parts.map);
    free(parts.part);
}

void find_periods(struct inquiry *inquiry)
{
    struct steps *steps = memory_array(1, sizeof *steps);
    for (uint32_t name = 1; name <= inquiry->profile->name_count; name++) {
        if (!(inquiry->profile->names[name - 1].flags & PROFILE_NAME_DYNAMIC))
            continue;
        *steps = (struct steps){.name = name};
        gather_steps(inquiry->profile, steps);
        if (find_long_steps(steps))
            judge_steps(inquiry, steps);
    }
    free(steps);
}
