/* As in merge.c, nothing in the file is followed before it is checked: a node's place in a fold is found once, from its parent's. */
#include "report/profile/fold_read.h"

#include <math.h>
#include <stdlib.h>

#include "report/profile/fold.h"
#include "report/profile/node_tree.h"
#include "report/profile/timeline_read.h"
#include "report/text/memory.h"

#define FOLD_RECORDS   (PROFILE_CHUNK_BYTES / PROFILE_FOLD_BYTES - 1)
#define KEY_OF_SQUARES 1u

enum { PLACE_UNKNOWN = 0, PLACE_IN_PROGRESS = 1, PLACE_SKIP = 2, PLACE_FOLDED = 3 };

static const char damaged[] = "damaged: a bin of a folded phase is not what can be measured";

/* Where a node is: in which fold, and which node it is there. */
struct fold_place {
    uint32_t state; /* PLACE_FOLDED + the fold's index */
    uint32_t node;
};

struct reading {
    const struct profile_chunks *chunks;
    struct profile *profile;
    struct fold_place *place; /* by node_idx */
    uint32_t *stack;
    size_t stack_count, stack_room;
    struct profile *shells; /* by fold: what its nodes are gathered in */
    struct node_tree *trees;
};

static bool counts_sane(const struct profile_fold *counts)
{
    bool sane = true;
    for (int i = 0; i < 2; i++)
        sane = sane && profile_number_sane(counts->duration_ns[i]) && counts->duration_ns[i] >= 0;
    return sane;
}

/* Two folds for each record of a name that is known. */
static const char *read_records(struct reading *reading)
{
    struct profile *profile = reading->profile;
    for (uint32_t n = 0; n < reading->chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(reading->chunks, n);
        if (chunk->kind != PROFILE_CHUNK_FOLD)
            continue;
        const struct profile_fold *from = (const struct profile_fold *)(const void *)chunk + 1;
        for (uint32_t i = 0; i < chunk->used && i < FOLD_RECORDS; i++, from++) {
            if (from->name == 0 || from->name > profile->name_count || profile_fold_of(profile, from->name, false))
                continue;
            if (!counts_sane(from))
                return "damaged: the duration of a folded phase is not a number that can be measured";
            profile->folds = memory_check(reallocarray(profile->folds, profile->fold_count + 2, sizeof *profile->folds));
            for (int outliers = 0; outliers < 2; outliers++)
                profile->folds[profile->fold_count++] = (struct merged_fold){.counts = *from, .outliers = outliers};
        }
    }
    return NULL;
}

static struct fold_place place_fold(struct reading *reading, const struct profile_node *node)
{
    const struct profile_node *above = profile_node_at(reading->chunks, node->parent);
    const struct merged_fold *folds = reading->profile->folds;
    size_t i = 0, count = reading->profile->fold_count;
    while (i < count && PROFILE_FOLD_KEY(folds[i].counts.name, folds[i].outliers) != node->key)
        i++;
    bool there = above && above->kind == PROFILE_NODE_TRIE && i < count;
    return (struct fold_place){there ? PLACE_FOLDED + (uint32_t)i : PLACE_SKIP, 0};
}

static struct fold_place place_one(struct reading *reading, const struct profile_node *node, struct fold_place parent)
{
    switch (node->kind) {
    case PROFILE_NODE_FOLD:
        return place_fold(reading, node);
    case PROFILE_NODE_FRAME:
    case PROFILE_NODE_HOLDER:
    case PROFILE_NODE_RUNTIME:
    case PROFILE_NODE_MPI:
    case PROFILE_NODE_PSEUDO:
    case PROFILE_NODE_PHASE:
    case PROFILE_NODE_EVENT:
    case PROFILE_NODE_PARAMETER:
        if (parent.state < PLACE_FOLDED || (node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_BLOCKED))
            return parent;
        parent.node = node_tree_child(&reading->trees[parent.state - PLACE_FOLDED], parent.node, node->kind, node->key);
        return parent;
    default:
        return (struct fold_place){PLACE_SKIP, 0};
    }
}

static struct fold_place find_place(struct reading *reading, uint32_t node_idx)
{
    struct fold_place place = {PLACE_SKIP, 0};
    for (uint32_t at = node_idx;;) {
        const struct profile_node *node = profile_node_at(reading->chunks, at);
        if (!node)
            break;
        if (reading->place[at].state != PLACE_UNKNOWN) {
            if (reading->place[at].state != PLACE_IN_PROGRESS)
                place = reading->place[at];
            break;
        }
        memory_grow(&reading->stack, &reading->stack_room, reading->stack_count, sizeof *reading->stack);
        reading->stack[reading->stack_count++] = at;
        reading->place[at].state = PLACE_IN_PROGRESS;
        if (node->parent == 0 || node->kind == PROFILE_NODE_FOLD)
            break;
        at = node->parent;
    }
    while (reading->stack_count) {
        uint32_t at = reading->stack[--reading->stack_count];
        place = reading->place[at] = place_one(reading, profile_node_at(reading->chunks, at), place);
    }
    return place;
}

typedef const char *visit_function(struct reading *reading, const struct profile_node *node, struct fold_place place);

/* All TIME nodes that hang in a fold. */
static const char *visit(struct reading *reading, visit_function *function)
{
    const char *wrong = NULL;
    for (uint32_t n = 0; n < reading->chunks->count && !wrong; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(reading->chunks, n);
        if (!profile_chunk_wanted(reading->chunks, chunk))
            continue;
        for (uint32_t unit = 1; unit < chunk->used && unit < PROFILE_UNITS_PER_CHUNK && !wrong; unit++) {
            const struct profile_node *node = (const struct profile_node *)chunk + unit;
            struct fold_place place = {PLACE_SKIP, 0};
            if (node->kind == PROFILE_NODE_TIME && node->metric)
                place = find_place(reading, node->parent);
            if (place.state >= PLACE_FOLDED)
                wrong = function(reading, node, place);
        }
    }
    return wrong;
}

static const char *place_only(struct reading *reading, const struct profile_node *node, struct fold_place place)
{
    (void)reading, (void)node, (void)place;
    return NULL;
}

static bool number_sane(float number, bool less_than_0, bool squares)
{
    return isfinite(number) && (number >= 0 || less_than_0) && (squares || profile_number_sane((double)number));
}

static bool add_value(struct profile_time_value *to, const struct profile_time_value *from, bool squares)
{
    if (!number_sane(from->own, !squares, squares) || !number_sane(from->inverse_busy, false, squares) ||
        !number_sane(from->shared_idle, !squares, squares) || !number_sane(from->lock_wait, false, squares))
        return false;
    to->own += from->own;
    to->inverse_busy += from->inverse_busy;
    to->shared_idle += from->shared_idle;
    to->lock_wait += from->lock_wait;
    return true;
}

static const char *add_bins(struct reading *reading, const struct profile_node *node, struct fold_place place)
{
    struct merged_fold *fold = &reading->profile->folds[place.state - PLACE_FOLDED];
    bool squares = node->key == KEY_OF_SQUARES;
    struct profile_time_value *to = squares ? fold->squares : fold->bins[place.node];
    const struct profile_moments *few = (const void *)profile_metric_at(reading->chunks, node->metric);
    const struct profile_bins *all = few ? NULL : profile_time_at(reading->chunks, node->metric, sizeof *all);
    if ((few && (few->form != PROFILE_TIME_FEW || few->count > PROFILE_MOMENTS)) || (all && all->form != PROFILE_TIME_DENSE))
        return damaged;
    for (uint32_t i = 0; few && i < few->count; i++)
        if (few->moment[i].bin >= PROFILE_TIME_BINS || !add_value(&to[few->moment[i].bin], &few->moment[i].value, squares))
            return damaged;
    for (uint32_t i = 0; all && i < PROFILE_TIME_BINS; i++)
        if (!add_value(&to[i], &all->bin[i], squares))
            return damaged;
    return NULL;
}

/* First the nodes, then room for their bins, then these. */
static const char *read_bins(struct reading *reading)
{
    struct profile *profile = reading->profile;
    for (size_t i = 0; i < profile->fold_count; i++)
        node_tree_start(&reading->trees[i], &reading->shells[i]);
    visit(reading, place_only);
    for (size_t i = 0; i < profile->fold_count; i++) {
        struct merged_fold *fold = &profile->folds[i];
        node_tree_end(&reading->trees[i]);
        fold->nodes = reading->shells[i].nodes;
        fold->node_count = reading->shells[i].node_count;
        fold->bins = memory_array(fold->node_count, sizeof *fold->bins);
    }
    const char *wrong = visit(reading, add_bins);
    for (size_t i = 0; i < profile->fold_count; i++)
        fold_sum_bins(&profile->folds[i]);
    return wrong;
}

const char *profile_read_folds(const struct profile_chunks *chunks, struct profile *profile)
{
    struct reading reading = {.chunks = chunks, .profile = profile};
    const char *wrong = read_records(&reading);
    if (wrong || profile->fold_count == 0)
        return wrong;
    reading.place = memory_array((size_t)chunks->count * PROFILE_UNITS_PER_CHUNK + 1, sizeof *reading.place);
    reading.shells = memory_array(profile->fold_count, sizeof *reading.shells);
    reading.trees = memory_array(profile->fold_count, sizeof *reading.trees);
    wrong = read_bins(&reading);
    free(reading.place);
    free(reading.stack);
    free(reading.shells);
    free(reading.trees);
    return wrong;
}
