#include "cct/fold.h"

#include <math.h>
#include <stddef.h>

#include "base/os.h"

#define FULL (FOLD_SAMPLES * 3 / 4) /* so many that wait are too many */
#define CHILD_STEPS 16u /* that finding or making a node counts as */
#define JUST_ENDED 8u /* ends that may have come since the moment of a sample that is kept now */

/* A sample's handler may come in between. */
static struct folds *folds_of(struct tree *tree)
{
    struct folds *none = NULL;
    if (likely(tree->folds != NULL))
        return tree->folds;
    struct folds *fresh = os_map(sizeof(*fresh));
    if (fresh && !compare_exchange(&tree->folds, &none, fresh))
        os_unmap(fresh, sizeof(*fresh));
    return tree->folds;
}

void fold_begin(struct tree *tree, uint32_t phase)
{
    if (folds_of(tree))
        store_relaxed(&tree->folds->own[phase], tree->folds->own[phase] + 1);
    fold_phase_begin(phase);
}

void fold_end(struct tree *tree, uint32_t phase, struct fold_instance *instance)
{
    instance->tree = tree->number;
    if (tree->folds && tree->folds->own[phase])
        store_relaxed(&tree->folds->own[phase], tree->folds->own[phase] - 1);
    fold_phase_end(phase, instance);
}

void fold_forget(struct tree *tree)
{
    for (uint32_t phase = 0; tree->folds && phase < FOLD_PHASES; phase++)
        tree->folds->own[phase] = 0;
}

/* What a sample is chosen by where one stands for several. */
static float weight_of(const struct profile_time_value *value)
{
    float own = fabsf(value->own) + value->lock_wait;
    return own > 0 ? own : value->inverse_busy;
}

static void scale(struct profile_time_value *value, float by)
{
    value->own *= by;
    value->inverse_busy *= by;
    value->shared_idle *= by;
    value->lock_wait *= by;
}

/* One of the two stands for both. */
static void join(struct folds *folds, struct fold_sample *kept, const struct fold_sample *other)
{
    float own = weight_of(&kept->value), others = weight_of(&other->value), sum = own + others;
    folds->chance = folds->chance * 6364136223846793005ull + 1442695040888963407ull;
    if ((float)(folds->chance >> 40) * 0x1p-24f * sum >= own) {
        *kept = *other;
        own = others;
    }
    if (own > 0)
        scale(&kept->value, sum / own);
}

static void close_gaps(struct fold_ring *ring)
{
    uint32_t count = 0;
    ring->next = 0;
    for (uint32_t i = 0; i < ring->count; i++)
        if (ring->sample[i].node_idx)
            ring->sample[count++] = ring->sample[i];
    ring->count = count;
}

static void thin_out(struct folds *folds, struct fold_ring *ring, struct fold_phase *phase)
{
    uint32_t count = ring->count / 2;
    for (uint32_t i = 0; i < count; i++) {
        struct fold_sample kept = ring->sample[2 * i];
        join(folds, &kept, &ring->sample[2 * i + 1]);
        ring->sample[i] = kept;
    }
    if (ring->count % 2)
        ring->sample[count] = ring->sample[ring->count - 1];
    ring->held = ring->count = count + ring->count % 2;
    ring->stride *= 2;
    fetch_add_relaxed(&phase->record->thinned, count);
}

static void append(struct folds *folds, uint32_t number, struct fold_ring *ring, const struct fold_sample *sample)
{
    struct fold_phase *phase = &fold_phases[number];
    struct fold_sample *last = ring->count ? &ring->sample[ring->count - 1] : NULL;
    if (ring->in_last < ring->stride && last && last->node_idx) {
        join(folds, last, sample);
        ring->in_last++;
        fetch_add_relaxed(&phase->record->thinned, 1);
        return;
    }
    if (ring->count == FOLD_SAMPLES) {
        close_gaps(ring);
        if (ring->count > FULL)
            thin_out(folds, ring, phase);
    }
    ring->sample[ring->count++] = *sample;
    ring->held++;
    ring->in_last = 1;
}

static struct fold_ring *ring_of(struct folds *folds, uint32_t phase)
{
    struct fold_ring *ring = folds->ring[phase];
    if (likely(ring) && ring->held)
        return ring;
    if (!ring && !(ring = folds->ring[phase] = os_map(sizeof(*ring))))
        return NULL;
    ring->count = ring->next = 0;
    ring->unresolved = false;
    ring->stride = 1;
    uint64_t published = load_acquire(&fold_phases[phase].published);
    ring->seen = ring->retry = published < JUST_ENDED ? 0 : published - JUST_ENDED;
    return ring;
}

void fold_keep(struct tree *tree, uint32_t node_idx, uint64_t time_ns, struct profile_time_value value)
{
    uint32_t count = load_acquire(&fold_phase_count);
    for (uint32_t phase = 0; phase < count; phase++) {
        if (!load_relaxed(&fold_phases[phase].open))
            continue;
        struct folds *folds = folds_of(tree);
        struct fold_ring *ring = folds ? ring_of(folds, phase) : NULL;
        if (!ring) {
            fetch_add_relaxed(&fold_phases[phase].record->no_room, 1);
            continue;
        }
        struct fold_sample sample = {time_ns, node_idx, folds->own[phase] > 0, value};
        append(folds, phase, ring, &sample);
        tree_node(node_idx)->marks |= TREE_MARK_FOLDS;
        store_relaxed(&fold_phases[phase].sampled_ns, time_ns);
    }
}

void fold_moved(struct tree *tree, uint32_t from, uint32_t into)
{
    struct folds *folds = tree->folds;
    if (likely(!(tree_node(from)->marks & TREE_MARK_FOLDS)))
        return;
    for (uint32_t phase = 0; folds && phase < FOLD_PHASES; phase++) {
        struct fold_ring *ring = folds->ring[phase];
        for (uint32_t i = 0; ring && ring->held && i < ring->count; i++)
            if (ring->sample[i].node_idx == from)
                ring->sample[i].node_idx = into;
    }
    tree_node(into)->marks |= TREE_MARK_FOLDS;
}

static void spend(struct folds *folds, uint64_t steps)
{
    folds->steps -= steps < folds->steps ? steps : folds->steps;
}

/* Where a node is: in an instance of the phase (its node), in none of them (0), or below a region whose context is not known yet. */
#define UNRESOLVED UINT32_MAX

static uint32_t instance_above(struct folds *folds, uint32_t node_idx, uint32_t name)
{
    uint32_t below = 0;
    for (uint32_t at = node_idx; at;) {
        const struct profile_node *node = tree_node(at);
        spend(folds, 1);
        if (node->kind == PROFILE_NODE_REGION)
            return UNRESOLVED;
        if (node->kind == PROFILE_NODE_PHASE && node->key == name && below)
            return below;
        below = node->kind == PROFILE_NODE_INSTANCE ? at : 0;
        at = node->parent;
    }
    return 0;
}

/* The node's counterpart below the fold, without instances and locks; 0 without memory. */
static uint32_t context_in(struct tree *tree, uint32_t into, uint32_t node_idx, uint32_t instance_idx)
{
    uint32_t *down = tree->folds->down;
    size_t count = 0;
    for (uint32_t at = node_idx; at != instance_idx && count < TREE_PATH_MAX; at = tree_node(at)->parent)
        down[count++] = at;
    spend(tree->folds, count * CHILD_STEPS);
    while (count > 0 && into) {
        const struct profile_node *node = tree_node(down[--count]);
        if (node->kind != PROFILE_NODE_INSTANCE && node->kind != PROFILE_NODE_LOCK)
            into = tree_child(tree, into, (enum profile_node_kind)node->kind, node->key);
    }
    return into;
}

static void deposit(struct tree *tree, uint32_t number, const struct fold_sample *sample, uint32_t instance_idx,
                    const struct fold_instance *instance)
{
    struct profile_fold *record = fold_phases[number].record;
    bool outlier = instance->verdict == FOLD_OUTLIER;
    uint64_t after_ns = sample->time_ns > instance->begin_ns ? sample->time_ns - instance->begin_ns : 0;
    uint64_t length_ns = instance->end_ns - instance->begin_ns, bin = length_ns ? after_ns * PROFILE_TIME_BINS / length_ns : 0;
    uint32_t fold_idx = tree_child(tree, tree->trie, PROFILE_NODE_FOLD, PROFILE_FOLD_KEY(record->name, outlier));
    uint32_t context = context_in(tree, fold_idx, sample->node_idx, instance_idx);
    bin = bin < PROFILE_TIME_BINS ? bin : PROFILE_TIME_BINS - 1;
    if (context && fold_bins_add(tree, &tree->folds->bins, fold_idx, context, (uint32_t)bin, &sample->value))
        fetch_add_relaxed(&record->samples[outlier], 1);
    else
        fetch_add_relaxed(&record->no_room, 1);
}

static void let_go(struct fold_ring *ring, struct fold_sample *sample)
{
    sample->node_idx = 0;
    ring->held--;
}

/* False: it may be in this instance, and its region's context is not known. */
static bool take_one(struct tree *tree, uint32_t number, struct fold_ring *ring, struct fold_sample *sample,
                     const struct fold_instance *instance)
{
    struct fold_phase *phase = &fold_phases[number];
    uint32_t instance_idx = instance_above(tree->folds, sample->node_idx, phase->name);
    if (instance_idx == UNRESOLVED)
        return false;
    if (instance_idx && tree_node(instance_idx)->key != instance->number)
        return true;
    if (instance_idx && instance->verdict == FOLD_LEFT_OUT)
        fetch_add_relaxed(&phase->record->cut, 1);
    else if (instance_idx)
        deposit(tree, number, sample, instance_idx, instance);
    let_go(ring, sample);
    return true;
}

static bool may_be_in(const struct tree *tree, const struct fold_sample *sample, const struct fold_instance *instance)
{
    return sample->node_idx && sample->time_ns + FOLD_AWRY_NS >= instance->begin_ns &&
           sample->time_ns <= instance->end_ns + FOLD_AWRY_NS && (!sample->own || instance->tree == tree->number);
}

/* Returns false if the steps were used up: the next call goes on. */
static bool take_instance(struct tree *tree, uint32_t number, struct fold_ring *ring, const struct fold_instance *instance)
{
    for (; ring->next < ring->count && ring->held; ring->next++) {
        struct fold_sample *sample = &ring->sample[ring->next];
        if (!tree->folds->steps)
            return false;
        spend(tree->folds, 1);
        if (may_be_in(tree, sample, instance) && !take_one(tree, number, ring, sample, instance))
            ring->unresolved = true;
    }
    return true;
}

static void begin_instance(struct fold_ring *ring)
{
    ring->next = 0;
    ring->unresolved = false;
}

/* Those of which no instance is open any more, and whose end is not known by now. */
static void lose_overtaken(struct folds *folds, const struct fold_phase *phase, struct fold_ring *ring, uint64_t quiet_ns)
{
    for (uint32_t i = 0; i < ring->count && ring->held && folds->steps; i++) {
        struct fold_sample *sample = &ring->sample[i];
        if (!sample->node_idx || sample->time_ns + FOLD_AWRY_NS >= quiet_ns)
            continue;
        uint32_t instance_idx = instance_above(folds, sample->node_idx, phase->name);
        if (instance_idx == UNRESOLVED)
            continue;
        if (instance_idx)
            fetch_add_relaxed(&phase->record->overtaken, 1);
        let_go(ring, sample);
    }
}

/* Ends that are new, and those before them again if samples may have found their region since. */
static void take_ended(struct tree *tree, uint32_t number, struct fold_ring *ring)
{
    struct fold_phase *phase = &fold_phases[number];
    uint64_t quiet_ns = load_acquire(&phase->quiet_ns), published = load_acquire(&phase->published); /* F1: in this order */
    uint64_t ticket = ring->grafts == tree->grafts ? ring->seen : ring->retry, retry = UINT64_MAX;
    if (ticket == published)
        return;
    if (ring->grafts != tree->grafts || ticket + FOLD_ENDED < published)
        begin_instance(ring);
    if (ticket + FOLD_ENDED < published)
        ticket = published - FOLD_ENDED;
    for (; ticket < published; ticket++, begin_instance(ring)) {
        struct fold_instance instance;
        spend(tree->folds, 1);
        enum fold_read read = fold_phase_read(phase, ticket, &instance);
        if (read == FOLD_NOT_YET || (read == FOLD_READ && instance.verdict == FOLD_UNDECIDED))
            break;
        bool whole = read != FOLD_READ || take_instance(tree, number, ring, &instance);
        if (ring->unresolved && retry == UINT64_MAX)
            retry = ticket;
        if (!whole)
            break;
    }
    if (ring->grafts == tree->grafts && ring->retry < ring->seen)
        retry = ring->retry;
    ring->grafts = tree->grafts;
    ring->seen = ticket;
    ring->retry = retry < ticket ? retry : ticket;
    if (ticket == published)
        lose_overtaken(tree->folds, phase, ring, quiet_ns);
}

static void deposit_all(struct tree *tree, uint64_t steps)
{
    struct folds *folds = tree->folds;
    for (uint32_t phase = 0; folds && phase < FOLD_PHASES; phase++) {
        folds->steps = steps;
        if (folds->ring[phase] && folds->ring[phase]->held)
            take_ended(tree, phase, folds->ring[phase]);
    }
}

void fold_deposit(struct tree *tree)
{
    deposit_all(tree, FOLD_STEPS);
}

void fold_finish(struct tree *tree)
{
    if (!tree->folds)
        return;
    deposit_all(tree, UINT64_MAX);
    for (uint32_t phase = 0; phase < FOLD_PHASES; phase++) {
        struct fold_ring *ring = tree->folds->ring[phase];
        for (uint32_t i = 0; ring && i < ring->count; i++) {
            uint32_t node_idx = ring->sample[i].node_idx;
            if (node_idx && instance_above(tree->folds, node_idx, fold_phases[phase].name))
                fetch_add_relaxed(&fold_phases[phase].record->overtaken, 1);
        }
    }
}
