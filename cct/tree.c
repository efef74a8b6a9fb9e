#include "cct/tree.h"

#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "base/os.h"
#include "cct/arena.h"
#include "cct/profile_metrics.h"
#include "cct/profile_time.h"

_Static_assert(sizeof(struct profile_node) == PROFILE_UNIT_BYTES, "a node is as large as one unit of the file");
_Static_assert(sizeof(struct profile_metric) == 2 * PROFILE_UNIT_BYTES,
               "a metric record is as large as two units of the file");
_Static_assert(sizeof(struct profile_few_bins) == sizeof(struct profile_metric),
               "a context's first bins are as large as a metric record");

static uint32_t tree_hash_key(uint32_t parent, uint32_t kind, uint64_t key)
{
    uint64_t h = hash_number(key ^ ((uint64_t)kind << 40)) + parent;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ull;
    return (uint32_t)(h >> 32);
}

struct profile_node *tree_node(uint32_t node_idx)
{
    return arena_unit(node_idx);
}

/* Returns the address of a bucket. Segment 0 holds the first TREE_FIRST_SEGMENT buckets, segment s the next
 * TREE_FIRST_SEGMENT << (s - 1). */
static uint32_t *tree_bucket_at(const struct tree *tree, uint32_t bucket)
{
    if (bucket < TREE_FIRST_SEGMENT)
        return &tree->segments[0][bucket];
    uint32_t segment = (uint32_t)(32 - __builtin_clz(bucket / TREE_FIRST_SEGMENT));
    return &tree->segments[segment][bucket - (TREE_FIRST_SEGMENT << (segment - 1))];
}

static uint32_t tree_bucket_number(const struct tree *tree, uint32_t hash)
{
    uint32_t bucket = hash & (2 * tree->level_size - 1);
    return bucket < tree->buckets ? bucket : hash & (tree->level_size - 1);
}

static uint32_t tree_node_hash(const struct profile_node *node)
{
    return tree_hash_key(node->parent, node->kind, node->key);
}

/* Adds one bucket, as in linear hashing, and moves to it the nodes that now belong there. If there is no
 * memory, buckets just get longer, up to TREE_CHAIN_MOST nodes. */
static void split_tree_bucket(struct tree *tree)
{
    uint32_t added = tree->buckets;
    uint32_t segment = (uint32_t)(32 - __builtin_clz(added / TREE_FIRST_SEGMENT));
    if (segment >= TREE_SEGMENTS)
        return;
    if (!tree->segments[segment]) {
        tree->segments[segment] = os_map((size_t)(TREE_FIRST_SEGMENT << (segment - 1)) * sizeof(uint32_t));
        if (!tree->segments[segment])
            return;
    }
    tree->buckets++;
    uint32_t *from = tree_bucket_at(tree, added - tree->level_size), *to = tree_bucket_at(tree, added);
    while (*from) {
        struct profile_node *node = tree_node(*from);
        if (tree_bucket_number(tree, tree_node_hash(node)) != added) {
            from = &node->hash_next;
            continue;
        }
        uint32_t moved = *from;
        *from = node->hash_next;
        node->hash_next = *to;
        *to = moved;
    }
    if (tree->buckets == 2 * tree->level_size)
        tree->level_size *= 2;
}

static void tree_hash_insert(struct tree *tree, uint32_t node_idx)
{
    struct profile_node *node = tree_node(node_idx);
    uint32_t *bucket = tree_bucket_at(tree, tree_bucket_number(tree, tree_node_hash(node)));
    node->hash_next = *bucket;
    *bucket = node_idx;
    if (++tree->entries > tree->buckets)
        split_tree_bucket(tree);
}

static void tree_hash_remove(struct tree *tree, uint32_t node_idx)
{
    struct profile_node *node = tree_node(node_idx);
    uint32_t *link = tree_bucket_at(tree, tree_bucket_number(tree, tree_node_hash(node)));
    while (*link && *link != node_idx)
        link = &tree_node(*link)->hash_next;
    if (*link) {
        *link = node->hash_next;
        tree->entries--;
    }
}

/* Ensures that the current chunk has this many free units; takes a new chunk if necessary. Returns false if
 * there is none. */
static bool tree_have_chunk(struct tree *tree, uint32_t units)
{
    if (tree->chunk && tree->chunk->used + units <= tree->chunk->metric_unit)
        return true;
    uint32_t chunk_no;
    struct profile_chunk *chunk = arena_chunk(PROFILE_CHUNK_TREE, tree->number, &chunk_no);
    if (!chunk)
        return false;
    tree->chunk = chunk;
    tree->chunk_no = chunk_no;
    tree->chunks++;
    return true;
}

static uint32_t tree_new_node(struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key)
{
    uint32_t node_idx = tree->free_nodes, unit = 0;
    if (node_idx) {
        tree->free_nodes = tree_node(node_idx)->hash_next;
    } else {
        if (!tree_have_chunk(tree, 1))
            return 0;
        unit = tree->chunk->used;
        node_idx = tree->chunk_no * PROFILE_UNITS_PER_CHUNK + unit;
    }
    struct profile_node *node = tree_node(node_idx);
    struct profile_node *above = parent ? tree_node(parent) : NULL;
    *node = (struct profile_node){
        .key = key, .parent = parent, .pending = above ? above->pending : kind == PROFILE_NODE_REGION};
    /* readers of the file skip the node until its kind is stored */
    store_release(&node->kind, (uint8_t)kind);
    if (unit)
        store_release(&tree->chunk->used, unit + 1);
    if (above) {
        node->next_sibling = above->first_child;
        above->first_child = node_idx;
    }
    return node_idx;
}

bool tree_init(struct tree *tree, uint32_t number)
{
    memset(tree, 0, sizeof(*tree));
    tree->number = number;
    tree->buckets = tree->level_size = TREE_FIRST_SEGMENT;
    tree->segments[0] = os_map(TREE_FIRST_SEGMENT * sizeof(uint32_t));
    if (!tree->segments[0])
        return false;
    os_make_present(tree->segments[0], TREE_FIRST_SEGMENT * sizeof(uint32_t));
    tree->root = tree_new_node(tree, 0, PROFILE_NODE_ROOT, 0);
    tree->trie = tree->root ? tree_new_node(tree, 0, PROFILE_NODE_TRIE, 0) : 0;
    if (!tree->trie)
        os_unmap(tree->segments[0], TREE_FIRST_SEGMENT * sizeof(uint32_t));
    return tree->trie != 0;
}

static inline uint32_t tree_find_node(const struct tree *tree, uint32_t parent, enum profile_node_kind kind,
                                      uint64_t key)
{
    uint32_t bucket = tree_bucket_number(tree, tree_hash_key(parent, kind, key));
    for (uint32_t idx = *tree_bucket_at(tree, bucket); idx;) {
        struct profile_node *node = tree_node(idx);
        if (node->key == key && node->parent == parent && node->kind == kind)
            return idx;
        idx = node->hash_next;
    }
    return 0;
}

/* Returns true if the key's bucket can take another node. A bucket is full if there was no memory for more
 * buckets, or if the program deliberately produces colliding keys. */
static bool tree_bucket_has_room(struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key)
{
    uint32_t in_chain = 0;
    for (uint32_t idx = *tree_bucket_at(tree, tree_bucket_number(tree, tree_hash_key(parent, kind, key))); idx;
         idx = tree_node(idx)->hash_next)
        in_chain++;
    return in_chain < TREE_CHAIN_MOST;
}

uint32_t tree_find(const struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key)
{
    return tree_find_node(tree, parent, kind, key);
}

/* Returns true if call paths may get no new nodes below this parent. */
static bool tree_is_full(const struct tree *tree, const struct profile_node *parent)
{
    if (parent->pending && tree->free_nodes)
        return false;
    return arena_tree_chunks() >= TREE_CHUNKS_SHARED + (parent->pending ? TREE_CHUNKS_PENDING : 0);
}

static bool is_tree_full_node(uint32_t kind, uint64_t key)
{
    return kind == PROFILE_NODE_PSEUDO && key == PROFILE_PSEUDO_TREE_FULL;
}

static bool tree_is_call_kind(enum profile_node_kind kind, uint64_t key)
{
    return kind == PROFILE_NODE_FRAME || kind == PROFILE_NODE_SITE || is_tree_full_node(kind, key);
}

/* Returns the <tree full> node that replaces a call for which there is no node left; 0 if the tree is not
 * full or there is no memory. */
static __attribute__((noinline)) uint32_t tree_full_node(struct tree *tree, uint32_t parent,
                                                         enum profile_node_kind kind, uint64_t key)
{
    const struct profile_node *above = tree_node(parent);
    if (!tree_is_call_kind(kind, key) || !tree_is_full(tree, above))
        return 0;
    if (is_tree_full_node(above->kind, above->key))
        return parent;
    return is_tree_full_node(kind, key) ? 0 : tree_child(tree, parent, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TREE_FULL);
}

uint32_t tree_child(struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key)
{
    uint32_t found = tree_find_node(tree, parent, kind, key);
    if (!found && unlikely(tree->chunks >= TREE_CHUNKS_EACH))
        found = tree_full_node(tree, parent, kind, key);
    if (found)
        return found;
    uint32_t node_idx = tree_bucket_has_room(tree, parent, kind, key) ? tree_new_node(tree, parent, kind, key) : 0;
    if (node_idx)
        tree_hash_insert(tree, node_idx);
    return node_idx;
}

uint32_t tree_path(struct tree *tree, uint32_t base, const uint64_t *keys, size_t count)
{
    struct tree_last *last = &tree->last[base == tree->trie];
    uint32_t depth = 0, shared = last->base == base ? last->count : 0;
    const uint64_t *key = keys + count; /* one past the key of the next frame to look up */
    while (depth < shared && key > keys && last->keys[depth] == key[-1])
        depth++, key--;
    uint32_t node_idx = depth ? last->nodes[depth - 1] : base;
    for (; key > keys && node_idx; depth++) {
        node_idx = tree_child(tree, node_idx, PROFILE_NODE_FRAME, *--key);
        if (unlikely(!node_idx) || depth >= TREE_LAST_FRAMES)
            continue;
        last->base = base;
        last->keys[depth] = *key;
        last->nodes[depth] = node_idx;
        last->count = depth + 1; /* frames further inward belong to the previous path */
    }
    return node_idx;
}

uint32_t tree_placeholder(struct tree *tree, uint64_t key)
{
    return tree_new_node(tree, 0, PROFILE_NODE_REGION, key);
}

uint32_t tree_record(struct tree *tree)
{
    uint32_t unit_idx = tree->free_metrics;
    if (unit_idx) {
        tree->free_metrics = *(uint32_t *)arena_unit(unit_idx);
    } else {
        if (!tree_have_chunk(tree, 2))
            return 0;
        tree->chunk->metric_unit -= 2;
        unit_idx = tree->chunk_no * PROFILE_UNITS_PER_CHUNK + tree->chunk->metric_unit;
    }
    memset(arena_unit(unit_idx), 0, sizeof(struct profile_metric));
    return unit_idx;
}

struct profile_metric *tree_metric(struct tree *tree, uint32_t node_idx)
{
    struct profile_node *node = tree_node(node_idx);
    if (node->metric)
        return arena_unit(node->metric);
    uint32_t unit_idx = tree_record(tree);
    if (!unit_idx)
        return NULL;
    store_release(&node->metric, unit_idx);
    return arena_unit(unit_idx);
}

void tree_recycle_record(struct tree *tree, uint32_t unit_idx)
{
    *(uint32_t *)arena_unit(unit_idx) = tree->free_metrics;
    tree->free_metrics = unit_idx;
}

static void tree_recycle_node(struct tree *tree, uint32_t node_idx, uint32_t into)
{
    struct profile_node *node = tree_node(node_idx);
    store_release(&node->kind, (uint8_t)PROFILE_NODE_FREE);
    if (node->metric)
        tree_recycle_record(tree, node->metric);
    node->metric = 0;
    node->parent = node->first_child = node->next_sibling = 0;
    if (unlikely(node->marks & TREE_MARK_WRITTEN)) {
        tree_node(into)->marks |= TREE_MARK_WRITTEN;
        node->key = into;
        store_release(&node->kind, (uint8_t)PROFILE_NODE_MOVED);
        return;
    }
    node->hash_next = tree->free_nodes;
    tree->free_nodes = node_idx;
}

void tree_remove(struct tree *tree, uint32_t node_idx, uint32_t into)
{
    struct profile_node *node = tree_node(node_idx);
    if (node->parent) {
        uint32_t *link = &tree_node(node->parent)->first_child;
        while (*link != node_idx)
            link = &tree_node(*link)->next_sibling;
        *link = node->next_sibling;
        tree_hash_remove(tree, node_idx);
    }
    tree_recycle_node(tree, node_idx, into);
}

static uint32_t tree_repeat_trie_path(struct tree *tree, uint32_t context, uint32_t into, bool keep_sites)
{
    if (!tree->scratch && !(tree->scratch = os_map(TREE_PATH_MAX * sizeof(uint32_t))))
        return 0;
    uint32_t *down = tree->scratch;
    size_t count = 0;
    for (uint32_t idx = context; idx && count < TREE_PATH_MAX; idx = tree_node(idx)->parent) {
        if (tree_node(idx)->kind == PROFILE_NODE_TRIE)
            break;
        down[count++] = idx;
    }
    while (count > 0 && into) {
        struct profile_node *node = tree_node(down[--count]);
        bool as_frame = node->kind == PROFILE_NODE_SITE && !keep_sites;
        into = tree_child(tree, into, as_frame ? PROFILE_NODE_FRAME : (enum profile_node_kind)node->kind, node->key);
    }
    return into;
}

uint32_t tree_copy_trie_path(struct tree *tree, uint32_t context, uint32_t into)
{
    return tree_repeat_trie_path(tree, context, into, false);
}

uint32_t tree_adopt_trie_path(struct tree *tree, uint32_t context)
{
    return tree_repeat_trie_path(tree, context, tree->trie, true);
}
