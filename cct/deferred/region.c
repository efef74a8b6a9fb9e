#include "cct/deferred/region.h"

#include <stddef.h>

#include "base/atomics.h"
#include "base/os.h"
#include "cct/deferred/graft.h"

#define SLAB_BYTES 16384
#define PATH_STEPS 64u /* cost of copying a region's path, in moved nodes */

uint32_t region_epoch;

static void refill_region_pool(struct region_pool *pool)
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

static inline struct region *begin_free_region(struct region_pool *pool, struct region *outer, uintptr_t codeptr)
{
    struct region *region = pool->free;
    pool->begun++;
    pool->free = region->next_free;
    region->below = pool->open;
    pool->open = region;
    region->outer = outer;
    region->codeptr = codeptr;
    region->epoch = region_epoch;
    region->from_root = false;
    region->workers = 0;
    store_relaxed(&region->context, 0);
    store_relaxed(&region->references, 1);
    store_relaxed(&region->instance, (region->instance + 1) & REGION_INSTANCE_MASK);
    store_release(&region->state, 0);
    return region;
}

static __attribute__((noinline)) struct region *begin_region_slowly(struct region_pool *pool, struct region *outer,
                                                                    uintptr_t codeptr)
{
    if (!pool->nameless)
        refill_region_pool(pool);
    if (pool->free)
        return begin_free_region(pool, outer, codeptr);
    pool->begun++;
    pool->nameless++;
    return NULL;
}

struct region *region_begin(struct region_pool *pool, struct region *outer, uintptr_t codeptr)
{
    if (unlikely(!pool->free))
        return begin_region_slowly(pool, outer, codeptr);
    return begin_free_region(pool, outer, codeptr);
}

void region_reference(struct region *region)
{
    fetch_add_relaxed(&region->references, 1);
    fetch_or_acq_rel(&region->state, REGION_SAMPLED);
}

void region_publish(struct region *region, uint32_t context)
{
    if (region->outer)
        region_reference(region->outer);      /* R3 */
    store_release(&region->context, context); /* guarantee R2, pairs with the load in resolved_region_base() */
}

bool region_needs_context(const struct region *region)
{
    return (load_acquire(&region->state) & REGION_SAMPLED) && !load_relaxed(&region->context);
}

void region_end(struct region *region)
{
    if (likely(load_acquire(&region->references) == 1 && !load_relaxed(&region->context))) {
        /* No thread has sampled the region, and by R1 no thread can still take a reference. This common case
         * avoids atomic read-modify-write instructions. */
        store_release(&region->state, REGION_ENDED);
        region->next_free = region->home->free;
        region->home->free = region;
        return;
    }
    fetch_or_acq_rel(&region->state, REGION_ENDED);
    region_release(region);
}

void region_note_end(const struct region *region, uint64_t now_ticks)
{
    struct region_pool *pool = region->home;
    struct region_end *end = &pool->ended[pool->ends % REGION_ENDS];
    /* S5: a thread that sees this store also sees the count that the previous end stored */
    store_release(&end->region, region);
    store_release(&end->instance, region->instance);
    store_release(&end->codeptr, region->codeptr);
    store_release(&end->ticks, now_ticks);
    store_release(&pool->ends, pool->ends + 1);
}

struct region_end region_end_of(const struct region *region, uint32_t instance)
{
    const struct region_pool *pool = region->home;
    uint32_t ends = pool ? load_acquire(&pool->ends) : 0;
    for (uint32_t back = 1; back < REGION_ENDS && back <= ends; back++) {
        const struct region_end *end = &pool->ended[(ends - back) % REGION_ENDS];
        struct region_end copy = {load_acquire(&end->region), load_acquire(&end->instance), load_acquire(&end->codeptr),
                                  load_acquire(&end->ticks)}; /* S5: the count is loaded after the entry */
        if (load_relaxed(&pool->ends) - ends + back >= REGION_ENDS)
            break;
        if (copy.region == region && copy.instance == instance)
            return copy;
    }
    return (struct region_end){.codeptr = region->codeptr};
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

/* Returns the region's context in this tree if the contexts of the region and of all outer regions are known;
 * otherwise 0. */
static uint32_t resolved_region_base(struct tree *tree, const struct region *region)
{
    uint32_t context = load_acquire(&region->context); /* R2 */
    if (!context)
        return 0;
    uint32_t outer = region->outer && !region->from_root ? resolved_region_base(tree, region->outer) : tree->root;
    return outer ? tree_copy_trie_path(tree, context, outer) : 0;
}

static uint32_t placeholder_node(struct placeholder *entry, struct tree *tree, uint64_t fork_key)
{
    if (!entry->base)
        entry->base = resolved_region_base(tree, entry->region);
    if (entry->base)
        return entry->base;
    if (!entry->node_idx)
        entry->node_idx = tree_placeholder(tree, fork_key);
    return entry->node_idx;
}

uint32_t placeholders_node(struct placeholders *placeholders, struct tree *tree, struct region *region,
                           uint64_t fork_key)
{
    for (uint32_t i = placeholders->count; i-- > 0;)
        if (placeholders->entries[i].region == region)
            return placeholder_node(&placeholders->entries[i], tree, fork_key);
    if (placeholders->count == PLACEHOLDERS_MAX)
        return 0;
    region_reference(region);
    placeholders->entries[placeholders->count] = (struct placeholder){region, 0, 0};
    return placeholder_node(&placeholders->entries[placeholders->count++], tree, fork_key);
}

/* Returns the node below which the region's contexts can be moved now. If all outer contexts are known, this
 * is the region's context in this tree, otherwise its path below the outer region's placeholder. Returns 0 if
 * there is no memory. */
static uint32_t placeholder_graft_target(struct placeholders *placeholders, struct tree *tree,
                                         struct placeholder *entry)
{
    if (!entry->base)
        entry->base = resolved_region_base(tree, entry->region);
    if (entry->base || !entry->region->outer)
        return entry->base; /* if this is 0 for lack of memory, a later call tries again */
    return tree_copy_trie_path(tree, load_relaxed(&entry->region->context),
                               placeholders_node(placeholders, tree, entry->region->outer, 0));
}

static bool placeholders_graft_one(struct placeholders *placeholders, struct tree *tree, uint32_t index,
                                   uint64_t *steps)
{
    struct placeholder *entry = &placeholders->entries[index];
    if (!load_acquire(&entry->region->context))
        return false;
    *steps -= PATH_STEPS < *steps ? PATH_STEPS : *steps;
    uint32_t into = placeholder_graft_target(placeholders, tree, entry);
    if (!into || (entry->node_idx && !tree_graft(tree, entry->node_idx, into, steps)))
        return false;
    struct region *region = entry->region;
    *entry = placeholders->entries[--placeholders->count];
    region_release(region);
    return true;
}

uint32_t placeholders_resolve(struct placeholders *placeholders, struct tree *tree, uint64_t steps)
{
    /* A graft may create a placeholder for the outer region and append it to the entries. The outer loop
     * repeats until nothing moves, so it also handles that placeholder. */
    for (bool moved = true; moved && placeholders->count && steps;) {
        moved = false;
        for (uint32_t i = placeholders->count; i-- > 0 && steps;)
            if (i < placeholders->count && placeholders_graft_one(placeholders, tree, i, &steps))
                moved = true;
    }
    return placeholders->count;
}
