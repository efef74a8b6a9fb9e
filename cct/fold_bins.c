#include "cct/fold_bins.h"

#include "cct/arena.h"
#include "cct/time.h"
#include "cct/tree.h"

static void add_value(struct fold_bins *bins, struct profile_time_value *to, const struct profile_time_value *value)
{
    float *sum = &to->own;
    const float *each = &value->own;
    for (uint32_t i = 0; i < sizeof(*to) / sizeof(*sum); i++)
        if (each[i] != 0)
            time_add_float(&sum[i], each[i], &bins->dither);
}

/* False: it has no room for another bin. */
static bool add_few(struct fold_bins *bins, struct profile_moments *few, uint32_t bin, const struct profile_time_value *value)
{
    uint32_t i = 0;
    while (i < few->count && few->moment[i].bin != bin)
        i++;
    if (i == PROFILE_MOMENTS)
        return false;
    if (i == few->count) {
        few->moment[i].bin = bin;
        few->moment[i].value = *value;
        release_fence(); /* readers of the file */
        few->count++;
        return true;
    }
    add_value(bins, &few->moment[i].value, value);
    return true;
}

/* All bins, with what the few have; NULL without memory. */
static struct profile_bins *make_dense(struct tree *tree, struct profile_node *node)
{
    struct profile_moments *few = node->metric ? arena_unit(node->metric) : NULL;
    uint32_t few_idx = node->metric, unit_idx = time_units(tree, sizeof(struct profile_bins) / PROFILE_UNIT_BYTES);
    if (!unit_idx)
        return NULL;
    struct profile_bins *dense = arena_unit(unit_idx);
    dense->form = PROFILE_TIME_DENSE;
    for (uint32_t i = 0; few && i < few->count; i++)
        dense->bin[few->moment[i].bin] = few->moment[i].value;
    store_release(&node->metric, unit_idx);
    if (few)
        tree_recycle_record(tree, few_idx);
    return dense;
}

/* always: it gets all bins. */
static bool add_at(struct tree *tree, struct fold_bins *bins, uint32_t time_idx, bool always, uint32_t bin, const struct profile_time_value *value)
{
    struct profile_node *node = tree_node(time_idx);
    if (!node->metric && !always)
        store_release(&node->metric, tree_record(tree));
    void *record = node->metric ? arena_unit(node->metric) : NULL;
    if (record && *(const uint8_t *)record == PROFILE_TIME_FEW && !always && add_few(bins, record, bin, value))
        return true;
    if (!record || *(const uint8_t *)record == PROFILE_TIME_FEW) {
        if (!always && bins->dense >= FOLD_DENSE)
            return false;
        if (!(record = make_dense(tree, node)))
            return false;
        bins->dense++;
    }
    add_value(bins, &((struct profile_bins *)record)->bin[bin], value);
    return true;
}

bool fold_bins_add(struct tree *tree, struct fold_bins *bins, uint32_t fold_idx, uint32_t context, uint32_t bin,
                   const struct profile_time_value *value)
{
    const struct profile_time_value squares = {value->own * value->own, value->inverse_busy * value->inverse_busy,
                                               value->shared_idle * value->shared_idle, value->lock_wait * value->lock_wait};
    bool added = false;
    for (uint32_t at = context; !added; at = tree_node(at)->parent) {
        uint32_t time_idx = tree_child(tree, at, PROFILE_NODE_TIME, 0);
        added = time_idx && add_at(tree, bins, time_idx, at == fold_idx, bin, value);
        if (at == fold_idx)
            break;
    }
    uint32_t squares_idx = added ? tree_child(tree, fold_idx, PROFILE_NODE_TIME, 1) : 0;
    if (squares_idx)
        add_at(tree, bins, squares_idx, true, bin, &squares);
    return added;
}
