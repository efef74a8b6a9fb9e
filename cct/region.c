#include "cct/region.h"

#include <stddef.h>

#include "base/atomics.h"
#include "base/os.h"

#define SLAB_BYTES 16384

uint32_t region_epoch;

static void refill(struct region_pool *pool)
{
    pool->free = exchange_acq_rel(&pool->returned, NULL);
    if (pool->free)
        return;
    struct region *slab = os_map(SLAB_BYTES);
    if (!slab)
        return;
    for (size_t i = 0; i < SLAB_BYTES / sizeof(*slab); i++) {
        slab[i].home = pool;
        slab[i].next_free = pool->free;
        pool->free = &slab[i];
    }
}

struct region *region_begin(struct region_pool *pool, struct region *outer, uintptr_t codeptr)
{
    pool->begun++;
    if (unlikely(!pool->free))
        refill(pool);
    struct region *region = pool->free;
    if (unlikely(!region))
        return NULL;
    pool->free = region->next_free;
    region->outer = outer;
    region->codeptr = codeptr;
    region->epoch = region_epoch;
    store_relaxed(&region->context, 0);
    store_relaxed(&region->references, 1);
    store_relaxed(&region->instance, region->instance + 1);
    store_release(&region->state, 0);
    return region;
}

void region_reference(struct region *region)
{
    fetch_add_relaxed(&region->references, 1);
    fetch_or_acq_rel(&region->state, REGION_SAMPLED);
}

void region_publish(struct region *region, uint32_t context)
{
    if (region->outer)
        region_reference(region->outer); /* R3 */
    store_release(&region->context, context); /* R2, pairs with placeholders_resolve() */
}

bool region_needs_context(const struct region *region)
{
    return (load_acquire(&region->state) & REGION_SAMPLED) && !load_relaxed(&region->context);
}

void region_end(struct region *region)
{
    if (likely(load_acquire(&region->references) == 1 && !load_relaxed(&region->context))) {
        /* Never sampled: by R1 nobody can come for it any more. No read-modify-write on the common path. */
        store_release(&region->state, REGION_ENDED);
        region->next_free = region->home->free;
        region->home->free = region;
        return;
    }
    fetch_or_acq_rel(&region->state, REGION_ENDED);
    region_release(region);
}

void region_release(struct region *region)
{
    while (region && fetch_add_acq_rel(&region->references, (uint32_t)-1) == 1) {
        struct region *outer = load_relaxed(&region->context) ? region->outer : NULL;
        struct region_pool *home = region->home;
        struct region *head = load_relaxed(&home->returned);
        do
            region->next_free = head;
        while (!compare_exchange(&home->returned, &head, region));
        region = outer;
    }
}

uint32_t placeholders_node(struct placeholders *placeholders, struct tree *tree, struct region *region,
                           uint64_t fork_key)
{
    for (uint32_t i = placeholders->count; i-- > 0;)
        if (placeholders->entries[i].region == region)
            return placeholders->entries[i].node_idx;
    if (placeholders->count == PLACEHOLDERS_MAX)
        return 0;
    uint32_t node_idx = tree_placeholder(tree, fork_key);
    if (!node_idx)
        return 0;
    region_reference(region);
    placeholders->entries[placeholders->count] = (struct placeholder){region, node_idx};
    placeholders->count++;
    return node_idx;
}

/* Below which node a resolved region's context starts in this tree. */
static uint32_t context_base(struct placeholders *placeholders, struct tree *tree, const struct region *region)
{
    if (!region->outer)
        return tree->root;
    return placeholders_node(placeholders, tree, region->outer, 0);
}

static bool graft_one(struct placeholders *placeholders, struct tree *tree, uint32_t index)
{
    struct placeholder entry = placeholders->entries[index];
    uint32_t context = load_acquire(&entry.region->context);
    if (!context)
        return false;
    uint32_t into = tree_copy_trie_path(tree, context, context_base(placeholders, tree, entry.region));
    if (!into || !tree_graft(tree, entry.node_idx, into))
        return false;
    placeholders->entries[index] = placeholders->entries[--placeholders->count];
    region_release(entry.region);
    return true;
}

uint32_t placeholders_resolve(struct placeholders *placeholders, struct tree *tree)
{
    /* Grafting may append the outer region's placeholder; going on until nothing moves takes that one too. */
    for (bool moved = true; moved && placeholders->count;) {
        moved = false;
        for (uint32_t i = placeholders->count; i-- > 0;)
            if (i < placeholders->count && graft_one(placeholders, tree, i))
                moved = true;
    }
    return placeholders->count;
}
