#include "cct/timeline/time.h"

#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "cct/arena.h"

/* ---- wider bins ---- */

#define VALUES (sizeof(struct profile_time_value) / sizeof(float))

/* The first word of lanes and dense bins, which is written by one store. */
struct head {
    uint8_t form, shift;
    uint16_t merged;
};
typedef uint32_t __attribute__((may_alias)) head_bits;

static void set_bins_head(void *record, struct head head)
{
    uint32_t bits;
    memcpy(&bits, &head, sizeof(bits));
    /* If the process is killed, a reader of the file still sees data that match the head. */
    release_fence();
    store_relaxed((head_bits *)record, bits);
    release_fence();
}

/* Merges pairs of neighbouring bins in place. If the process is killed meanwhile, a reader of the file can
 * complete the merge, except in a short interval at the start. */
static inline __attribute__((always_inline)) void merge_neighbour_bins(void *record, float *sums, uint32_t bins,
                                                                       uint32_t each)
{
    struct head head;
    memcpy(&head, record, sizeof(head));
    for (uint32_t i = 0; i < each; i++)
        sums[i] += sums[each + i];
    head.shift++;
    head.merged = 1;
    set_bins_head(record, head);
    while (head.merged < bins / 2) {
        float *to = sums + head.merged * each, *from = sums + 2 * head.merged * each;
        for (uint32_t i = 0; i < each; i++)
            to[i] = from[i] + from[each + i];
        head.merged++;
        set_bins_head(record, head);
    }
    memset(sums + bins / 2 * each, 0, bins / 2 * each * sizeof(*sums));
    head.merged = 0;
    set_bins_head(record, head);
}

void widen_lane(struct profile_lane *lane, uint32_t shift)
{
    while (lane->shift < shift)
        merge_neighbour_bins(lane, lane->ns[0], PROFILE_LANE_BINS, PROFILE_TIME_STATES);
}

void widen_bins(struct profile_bins *bins, uint32_t shift)
{
    while (bins->shift < shift)
        merge_neighbour_bins(bins, &bins->bin[0].own, PROFILE_TIME_BINS, VALUES);
}

void widen_few_bins(struct profile_few_bins *few, uint32_t shift)
{
    uint32_t count = 0, by = shift > few->shift ? shift - few->shift : 0;
    for (uint32_t i = 0; by && i < few->count; i++) {
        uint32_t bin = few->entry[i].bin >> by, at = 0;
        struct profile_time_value value = few->entry[i].value;
        while (at < count && few->entry[at].bin != bin)
            at++;
        if (at == count) {
            few->entry[count].bin = bin;
            few->entry[count++].value = value;
            continue;
        }
        struct profile_time_value *to = &few->entry[at].value;
        *to = (struct profile_time_value){to->own + value.own, to->inverse_busy + value.inverse_busy,
                                          to->shared_idle + value.shared_idle, to->lock_wait + value.lock_wait};
    }
    if (by) {
        few->count = (uint8_t)count;
        few->shift = (uint8_t)shift;
    }
}

/* ---- bins and lanes ---- */

#define LANE_UNITS  (sizeof(struct profile_lane) / PROFILE_UNIT_BYTES)
#define DENSE_UNITS (sizeof(struct profile_bins) / PROFILE_UNIT_BYTES)
/* dense bins are turned into a record of few bins if at most this many of them are in use */
#define FEW_LEFT 2u
#define MERGES   16u /* maximum number of levels in the tree that merge_bins_upward() climbs */

/* The four floats of a profile_time_value as one vector, the same values widened to doubles, and the bits of
 * those doubles. */
typedef float floats __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(32)));
typedef uint64_t bits __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) void time_value_add(struct times *times, struct profile_time_value *to,
                                                                 const struct profile_time_value *value)
{
    floats sum, more;
    memcpy(&sum, to, sizeof(sum));
    memcpy(&more, value, sizeof(more));
    doubles wide = __builtin_convertvector(sum, doubles) + __builtin_convertvector(more, doubles);
    wide = (doubles)(((bits)wide + time_chance(&times->dither)) & ~((1ull << TIME_CUT_BITS) - 1));
    sum = __builtin_convertvector(wide, floats);
    memcpy(to, &sum, sizeof(sum));
}

static void forget_cached_bins(struct times *times)
{
    memset(times->cached, 0, sizeof(times->cached));
}

static inline void add_to_dense_bins(struct times *times, struct profile_bins *bins, uint64_t after_ns,
                                     struct profile_time_value value)
{
    if (unlikely(after_ns >> bins->shift >= PROFILE_TIME_BINS)) {
        forget_cached_bins(times);
        widen_bins(bins, profile_time_shift(after_ns));
    }
    time_value_add(times, &bins->bin[after_ns >> bins->shift], &value);
}

/* Adds a value to a record of few bins. Returns false if the value belongs to a new bin and the record is
 * full. */
static inline bool add_to_few_bins(struct times *times, struct profile_few_bins *few, uint64_t after_ns,
                                   struct profile_time_value value)
{
    if (unlikely(after_ns >> few->shift >= PROFILE_TIME_BINS)) {
        forget_cached_bins(times);
        widen_few_bins(few, profile_time_shift(after_ns));
    }
    uint32_t bin = (uint32_t)(after_ns >> few->shift), i = few->count;
    while (i-- > 0) {
        if (few->entry[i].bin == bin) {
            time_value_add(times, &few->entry[i].value, &value);
            return true;
        }
    }
    if (few->count == PROFILE_FEW_BINS)
        return false;
    few->entry[few->count].bin = bin;
    few->entry[few->count].value = value;
    release_fence(); /* readers of the file must see the entry before the count that includes it */
    few->count++;
    return true;
}

static inline bool is_dense_bins(const void *record)
{
    return *(const uint8_t *)record == PROFILE_TIME_DENSE;
}

static void *time_record(uint32_t time_idx)
{
    uint32_t unit_idx = time_idx ? tree_node(time_idx)->metric : 0;
    return unit_idx ? arena_unit(unit_idx) : NULL;
}

/* Returns the index of the first of `units` zeroed units in a chunk of kind TIME; 0 if there is no room. */
static uint32_t time_units(struct tree *tree, uint32_t units)
{
    struct times *times = &tree->times;
    if (!times->chunk || times->chunk->used + units > PROFILE_UNITS_PER_CHUNK) {
        uint32_t chunk_no;
        struct profile_chunk *chunk = arena_chunk(PROFILE_CHUNK_TIME, tree->number, &chunk_no);
        if (!chunk)
            return 0;
        times->chunk = chunk;
        times->chunk_no = chunk_no;
    }
    uint32_t unit = times->chunk->used;
    store_release(&times->chunk->used, unit + units);
    return times->chunk_no * PROFILE_UNITS_PER_CHUNK + unit;
}

static struct profile_bins *dense_bins_at(const struct times *times, uint32_t place)
{
    return arena_unit(times->dense[place]);
}

static bool reclaim_dense_bins(struct tree *tree, uint32_t shift);

/* Returns the unit index of empty dense bins, which now belong to this TIME node; 0 if there is no room. */
static uint32_t take_dense_bins(struct tree *tree, uint32_t time_idx, uint32_t shift)
{
    struct times *times = &tree->times;
    if (times->used == times->made && times->made < TIME_DENSE) {
        uint32_t unit_idx = time_units(tree, DENSE_UNITS);
        times->dense[times->made] = unit_idx;
        times->made += unit_idx != 0;
    }
    if (times->used == times->made && (times->fixed || !reclaim_dense_bins(tree, shift)))
        return 0;
    struct profile_bins *bins = dense_bins_at(times, times->used);
    memset(bins, 0, sizeof(*bins));
    bins->form = PROFILE_TIME_DENSE;
    bins->shift = (uint8_t)shift;
    bins->node = time_idx;
    bins->place = times->used;
    return times->dense[times->used++];
}

/* Moves dense bins that no node uses any more to the free entries of dense[]. */
static void free_dense_bins(struct times *times, struct profile_bins *bins)
{
    uint32_t place = bins->place, last = --times->used, unit_idx = times->dense[place];
    times->dense[place] = times->dense[last];
    times->dense[last] = unit_idx;
    dense_bins_at(times, place)->place = place;
}

static struct profile_bins *dense_bins_of(struct tree *tree, uint32_t context)
{
    void *record = time_record(tree_find(tree, context, PROFILE_NODE_TIME, 0));
    return record && is_dense_bins(record) ? record : NULL;
}

/* Returns the dense bins of the context, or of the nearest context above it that has dense bins. */
static struct profile_bins *dense_bins_above(struct tree *tree, uint32_t context)
{
    struct profile_bins *bins = NULL;
    for (; context && !bins; context = tree_node(context)->parent, tree->times.climbed++)
        bins = dense_bins_of(tree, context);
    return bins ? bins : dense_bins_at(&tree->times, 0);
}

static void add_few_bins(struct times *times, struct profile_bins *to, const struct profile_few_bins *few)
{
    widen_bins(to, few->shift);
    for (uint32_t i = 0; i < few->count; i++)
        add_to_dense_bins(times, to, (uint64_t)few->entry[i].bin << few->shift, few->entry[i].value);
}

static void add_dense_bins(struct profile_bins *to, struct profile_bins *from)
{
    widen_bins(to, from->shift);
    widen_bins(from, to->shift);
    float *sum = &to->bin[0].own;
    const float *other = &from->bin[0].own;
    for (uint32_t i = 0; i < PROFILE_TIME_BINS * sizeof(to->bin[0]) / sizeof(*sum); i++)
        sum[i] += other[i];
}

/* Returns the unit index of an empty record of few bins; 0 if there is no memory. If `above` is true, later
 * values of the context go to a context above. */
static uint32_t new_few_bins(struct tree *tree, uint32_t shift, bool above)
{
    uint32_t unit_idx = tree_record(tree);
    if (unit_idx) {
        struct profile_few_bins *few = arena_unit(unit_idx);
        few->shift = (uint8_t)shift;
        few->above = above;
    }
    return unit_idx;
}

static void give_up_dense_bins(struct tree *tree, struct profile_bins *bins)
{
    store_release(&tree_node(bins->node)->metric, new_few_bins(tree, bins->shift, true));
}

static void merge_bins_into(struct tree *tree, struct profile_bins *bins, struct profile_bins *into)
{
    add_dense_bins(into, bins);
    give_up_dense_bins(tree, bins);
    free_dense_bins(&tree->times, bins);
}

static bool raise_bins_to(struct tree *tree, struct profile_bins *bins, uint32_t context)
{
    uint32_t time_idx = tree_child(tree, context, PROFILE_NODE_TIME, 0);
    if (!time_idx)
        return false;
    struct profile_node *node = tree_node(time_idx);
    uint32_t few_idx = node->metric, bins_idx = tree->times.dense[bins->place];
    give_up_dense_bins(tree, bins);
    bins->node = time_idx;
    store_release(&node->metric, bins_idx);
    if (!few_idx)
        return true;
    add_few_bins(&tree->times, bins, arena_unit(few_idx));
    tree_recycle_record(tree, few_idx);
    return true;
}

static uint32_t context_above_bins(const struct profile_bins *bins)
{
    return tree_node(tree_node(bins->node)->parent)->parent;
}

static bool is_time_value_used(const struct profile_time_value *value)
{
    return value->own != 0 || value->inverse_busy != 0 || value->shared_idle != 0 || value->lock_wait != 0;
}

static uint32_t bins_in_use(const struct profile_bins *bins, double *weight)
{
    uint32_t in_use = 0;
    *weight = 0;
    for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++) {
        const struct profile_time_value *value = &bins->bin[i];
        in_use += is_time_value_used(value);
        *weight += value->own + value->inverse_busy + value->shared_idle + value->lock_wait;
    }
    return in_use;
}

static bool is_light_bins(const struct profile_bins *bins, double mean)
{
    double weight;
    bins_in_use(bins, &weight);
    return weight <= mean;
}

/* Merges these bins into those of the context above, together with light bins of that context's other
 * children. (Siblings with bins are mostly instructions of one function.) If the context above has no dense
 * bins, these bins become its own. */
static bool merge_bins_upward(struct tree *tree, struct profile_bins *bins, double mean)
{
    struct times *times = &tree->times;
    for (uint32_t merges = 0; merges < MERGES; merges++) {
        uint32_t above = context_above_bins(bins), used = times->used;
        const struct profile_few_bins *few = above ? time_record(tree_find(tree, above, PROFILE_NODE_TIME, 0)) : NULL;
        struct profile_bins *into = above ? dense_bins_of(tree, above) : dense_bins_at(times, 0);
        if (!into && ((few && few->above) || !raise_bins_to(tree, bins, above)))
            break;
        for (uint32_t place = times->used; place-- > 1;) {
            struct profile_bins *other = dense_bins_at(times, place);
            if (other != into && other != bins && context_above_bins(other) == above && is_light_bins(other, mean))
                merge_bins_into(tree, other, into ? into : bins);
        }
        if (into)
            merge_bins_into(tree, bins, into);
        if (times->used < used)
            return true;
    }
    merge_bins_into(tree, bins, dense_bins_above(tree, context_above_bins(bins)));
    return true;
}

/* Turns dense bins, of which at most FEW_LEFT are in use, into a record of few bins. Returns false if there
 * is no memory. */
static bool thin_out_bins(struct tree *tree, struct profile_bins *bins)
{
    uint32_t unit_idx = new_few_bins(tree, bins->shift, false);
    if (!unit_idx)
        return false;
    struct profile_few_bins *few = arena_unit(unit_idx);
    for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++) {
        if (!is_time_value_used(&bins->bin[i]))
            continue;
        few->entry[few->count].bin = i;
        few->entry[few->count++].value = bins->bin[i];
    }
    store_release(&tree_node(bins->node)->metric, unit_idx);
    free_dense_bins(&tree->times, bins);
    return true;
}

/* Frees at least one entry of dense[], unless only the root has one. Bins of which few are in use (after
 * widening) are turned into records of few bins. If there are none, the lightest bins are merged upward. */
static bool reclaim_dense_bins(struct tree *tree, uint32_t shift)
{
    struct times *times = &tree->times;
    struct profile_bins *lightest = NULL;
    double least = 0, sum = 0;
    uint32_t used = times->used;
    forget_cached_bins(times);
    /* backward, because free_dense_bins() fills a freed slot with the last entry, which this loop has then
     * already examined */
    for (uint32_t place = used; place-- > 1;) {
        struct profile_bins *bins = dense_bins_at(times, place);
        double weight;
        widen_bins(bins, shift);
        if (bins_in_use(bins, &weight) <= FEW_LEFT && thin_out_bins(tree, bins))
            continue;
        sum += weight;
        if (!lightest || weight < least) {
            lightest = bins;
            least = weight;
        }
    }
    return times->used < used || (lightest && merge_bins_upward(tree, lightest, sum / used));
}

/* Turns a record of few bins into dense bins. Returns NULL if there is no room; the context's later values
 * then go to a context above. */
static struct profile_bins *make_bins_dense(struct tree *tree, uint32_t time_idx, struct profile_few_bins *few)
{
    struct profile_node *node = tree_node(time_idx);
    uint32_t few_idx = node->metric, bins_idx = take_dense_bins(tree, time_idx, few->shift);
    /* To make room, reclaim_dense_bins() has merged bins from below into this node. These bins already
     * include the few bins, whose record has been recycled. */
    if (node->metric != few_idx) {
        if (bins_idx)
            free_dense_bins(&tree->times, arena_unit(bins_idx));
        void *risen = time_record(time_idx);
        return risen && is_dense_bins(risen) ? risen : NULL;
    }
    if (!bins_idx) {
        few->above = !tree->times.fixed;
        return NULL;
    }
    struct profile_bins *bins = arena_unit(bins_idx);
    add_few_bins(&tree->times, bins, few);
    store_release(&node->metric, bins_idx);
    tree_recycle_record(tree, few_idx);
    return bins;
}

/* Adds a value at a TIME node. Returns the record that now contains the value. */
static void *add_at_time_node(struct tree *tree, uint32_t time_idx, uint64_t after_ns, struct profile_time_value value)
{
    struct times *times = &tree->times;
    struct profile_node *node = tree_node(time_idx);
    if (!node->metric)
        store_release(&node->metric, new_few_bins(tree, profile_time_shift(after_ns), false));
    void *record = time_record(time_idx);
    struct profile_bins *bins = record && is_dense_bins(record) ? record : NULL;
    if (record && !bins) {
        struct profile_few_bins *few = record;
        if (!few->above && add_to_few_bins(times, few, after_ns, value))
            return few;
        bins = few->above ? NULL : make_bins_dense(tree, time_idx, few);
    }
    if (!bins)
        bins = dense_bins_above(tree, node->parent);
    add_to_dense_bins(times, bins, after_ns, value);
    return bins;
}

static uint64_t time_ns_after_origin(const struct times *times, uint64_t at_ns)
{
    return at_ns > times->origin_ns ? at_ns - times->origin_ns : 0;
}

static void time_cache_bin(struct times *times, uint32_t node_idx, void *record, uint64_t after_ns)
{
    struct profile_few_bins *few = is_dense_bins(record) ? NULL : record;
    struct profile_bins *bins = record;
    uint32_t shift = few ? few->shift : bins->shift, bin = (uint32_t)(after_ns >> shift), i = 0;
    while (few && few->entry[i].bin != bin)
        i++;
    times->cached[node_idx % TIME_CACHED] = (struct time_cached){node_idx, (uint64_t)bin << shift, 1ull << shift,
                                                                 few ? &few->entry[i].value : &bins->bin[bin]};
}

static __attribute__((noinline)) void time_add_slowly(struct tree *tree, uint32_t node_idx, uint64_t at_ns,
                                                      struct profile_time_value value)
{
    struct times *times = &tree->times;
    if (!times->lane_ns && times->origin_ns)
        time_begin(tree, times->origin_ns);
    if (!times->lane_ns)
        return;
    uint64_t after_ns = time_ns_after_origin(times, at_ns);
    uint32_t time_idx = tree_child(tree, node_idx, PROFILE_NODE_TIME, 0);
    void *record = NULL;
    if (time_idx)
        record = add_at_time_node(tree, time_idx, after_ns, value);
    else
        add_to_dense_bins(times, record = dense_bins_above(tree, node_idx), after_ns, value);
    time_cache_bin(times, node_idx, record, after_ns);
}

void time_add(struct tree *tree, uint32_t node_idx, uint64_t at_ns, struct profile_time_value value)
{
    struct times *times = &tree->times;
    const struct time_cached *cached = &times->cached[node_idx % TIME_CACHED];
    if (likely(cached->node_idx == node_idx && at_ns - times->origin_ns - cached->from_ns < cached->width_ns))
        time_value_add(times, cached->bin, &value);
    else
        time_add_slowly(tree, node_idx, at_ns, value);
}

void time_begin(struct tree *tree, uint64_t origin_ns)
{
    struct times *times = &tree->times;
    times->origin_ns = origin_ns;
    uint32_t lane_idx = tree_child(tree, tree->root, PROFILE_NODE_LANE, 0);
    uint32_t time_idx = tree_child(tree, tree->root, PROFILE_NODE_TIME, 0);
    /* The root's bins are allocated before the lane, so a new thread touches only one page of the chunk. If
     * `used` is not 0, an earlier call made the root's bins but found no room for the lane. */
    uint32_t root_idx = times->used            ? times->dense[0]
                        : lane_idx && time_idx ? take_dense_bins(tree, time_idx, PROFILE_TIME_SHIFT)
                                               : 0;
    uint32_t unit_idx = root_idx && lane_idx ? time_units(tree, LANE_UNITS) : 0;
    if (!unit_idx)
        return;
    times->lane = arena_unit(unit_idx);
    times->lane_shift = PROFILE_TIME_SHIFT - PROFILE_TIME_FINER;
    times->lane->shift = (uint8_t)times->lane_shift;
    store_release(&tree_node(lane_idx)->metric, unit_idx);
    store_release(&tree_node(time_idx)->metric, root_idx);
    times->lane_ns = (uint64_t)PROFILE_LANE_BINS << times->lane_shift;
}

void time_add_state_slowly(struct tree *tree, uint64_t at_ns, enum profile_time_state state, double ns)
{
    struct times *times = &tree->times;
    if (!times->origin_ns)
        return;
    if (!times->lane_ns)
        time_begin(tree, times->origin_ns);
    if (!times->lane_ns) {
        fetch_add_relaxed(&arena_header()->timeline_lost_ns, (uint64_t)ns);
        return;
    }
    uint64_t after_ns = time_ns_after_origin(times, at_ns);
    uint32_t shift = profile_time_shift(after_ns) - PROFILE_TIME_FINER;
    if (shift > times->lane_shift) {
        widen_lane(times->lane, shift);
        times->lane_shift = shift;
        times->lane_ns = (uint64_t)PROFILE_LANE_BINS << shift;
    }
    time_add_float(&times->lane->ns[after_ns >> times->lane_shift][state], ns, &times->dither);
}

void time_take_state(struct tree *tree, uint64_t at_ns, enum profile_time_state state, double ns)
{
    struct times *times = &tree->times;
    uint64_t after_ns = at_ns - times->origin_ns;
    if (after_ns >= times->lane_ns)
        return;
    float *bin = &times->lane->ns[after_ns >> times->lane_shift][state];
    *bin = (double)*bin > ns ? (float)((double)*bin - ns) : 0;
}

/* Widens a record's bins to at least 2^shift ns. A value from a narrower bin then belongs to exactly one of
 * these bins. */
static void time_record_widen(void *record, uint32_t shift)
{
    if (record && is_dense_bins(record))
        widen_bins(record, shift);
    else if (record)
        widen_few_bins(record, shift);
}

void time_move(struct tree *tree, uint32_t from_idx, uint32_t to_idx)
{
    struct profile_node *from = tree_node(from_idx), *to = tree_node(to_idx);
    struct profile_few_bins *few = time_record(to_idx);
    /* if to_idx has no record or a smaller one, it first takes over the record of from_idx */
    if (!few || (is_dense_bins(time_record(from_idx)) && !is_dense_bins(few) && !few->above)) {
        uint32_t unit_idx = to->metric;
        to->metric = from->metric;
        from->metric = unit_idx;
        if (is_dense_bins(time_record(to_idx)))
            ((struct profile_bins *)time_record(to_idx))->node = to_idx;
    }
    if (!from->metric)
        return;
    void *record = time_record(from_idx);
    if (is_dense_bins(record)) {
        add_dense_bins(dense_bins_above(tree, to->parent), record);
        from->metric = 0;
        free_dense_bins(&tree->times, record);
        return;
    }
    few = record;
    time_record_widen(time_record(to_idx), few->shift);
    for (uint32_t i = 0; i < few->count; i++)
        add_at_time_node(tree, to_idx, (uint64_t)few->entry[i].bin << few->shift, few->entry[i].value);
    tree_recycle_record(tree, from->metric);
    from->metric = 0;
}

void time_fix(struct times *times, bool fixed)
{
    times->fixed = fixed;
    forget_cached_bins(times);
}
