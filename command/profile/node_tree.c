#include "command/profile/node_tree.h"

#include "cct/profile_tree.h"
#include "command/text/memory.h"

static uint32_t node_tree_append(struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key)
{
    struct profile *profile = tree->profile;
    memory_grow(&profile->nodes, &tree->capacity, profile->node_count, sizeof *profile->nodes);
    profile->nodes[profile->node_count] = (struct merged_node){.key = key, .parent = parent, .kind = kind};
    return (uint32_t)profile->node_count++;
}

static uint32_t node_tree_tag(uint32_t parent, uint8_t kind, uint64_t key)
{
    return index_map_hash(key, (uint64_t)parent << 8 | kind);
}

void node_tree_start(struct node_tree *tree, struct profile *profile)
{
    *tree = (struct node_tree){.profile = profile};
    node_tree_append(tree, 0, PROFILE_NODE_ROOT, 0);
}

void node_tree_resume(struct node_tree *tree, struct profile *profile)
{
    *tree = (struct node_tree){.profile = profile, .capacity = profile->node_count};
    for (uint32_t i = 1; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        uint32_t tag = node_tree_tag(node->parent, node->kind, node->key);
        index_map_reserve(&tree->children);
        struct index_entry *entry = index_map_first(&tree->children, tag);
        while (entry->tag)
            entry = index_map_next(&tree->children, entry);
        index_map_put(&tree->children, entry, tag, i);
    }
}

/* Returns the index entry of the child with this kind and key, or the empty entry where the child belongs. */
static struct index_entry *node_tree_entry(const struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key,
                                           uint32_t tag)
{
    struct index_entry *entry = index_map_first(&tree->children, tag);
    for (; entry->tag; entry = index_map_next(&tree->children, entry)) {
        const struct merged_node *node = &tree->profile->nodes[entry->index];
        if (node->key == key && node->parent == parent && node->kind == kind)
            break;
    }
    return entry;
}

uint32_t node_tree_child(struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key)
{
    index_map_reserve(&tree->children);
    uint32_t tag = node_tree_tag(parent, kind, key);
    struct index_entry *entry = node_tree_entry(tree, parent, kind, key, tag);
    if (entry->tag)
        return entry->index;
    uint32_t index = node_tree_append(tree, parent, kind, key);
    index_map_put(&tree->children, entry, tag, index);
    return index;
}

uint32_t node_tree_find(const struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key)
{
    const struct index_entry *entry =
        tree->children.capacity ? node_tree_entry(tree, parent, kind, key, node_tree_tag(parent, kind, key)) : NULL;
    return entry && entry->tag ? entry->index : 0;
}

void node_tree_expect(const struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key)
{
    if (tree->children.capacity)
        __builtin_prefetch(&tree->children.slots[node_tree_tag(parent, kind, key) & (tree->children.capacity - 1)]);
}

void node_tree_expect_node(const struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key)
{
    const struct index_map *map = &tree->children;
    const struct index_entry *entry =
        map->capacity ? &map->slots[node_tree_tag(parent, kind, key) & (map->capacity - 1)] : NULL;
    if (!entry || !entry->tag)
        return;
    const struct merged_node *node = &tree->profile->nodes[entry->index];
    __builtin_prefetch(node, 1);
    __builtin_prefetch(&node->metric.shared_idle, 1);
}

void node_tree_end(struct node_tree *tree)
{
    index_map_free(&tree->children);
}
