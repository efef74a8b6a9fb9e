/* A tree of merged nodes that still grows. Finds children by kind and key. Used to merge the trees of threads
 * and the profiles of ranks. */
#ifndef BLAME_COMMAND_PROFILE_NODE_TREE_H
#define BLAME_COMMAND_PROFILE_NODE_TREE_H

#include "command/profile/index_map.h"
#include "command/profile/profile.h"

struct node_tree {
    struct profile *profile; /* profile that owns the nodes */
    size_t capacity;
    struct index_map children; /* index of the nodes by parent, kind and key */
};

/* Starts a tree with only a root, node 0. */
void node_tree_start(struct node_tree *tree, struct profile *profile);

/* Prepares an existing tree for more nodes. */
void node_tree_resume(struct node_tree *tree, struct profile *profile);

/* Returns the child of this kind and key, and creates it if there is none. The call may move the profile's
 * nodes in memory. */
uint32_t node_tree_child(struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key);

/* Returns the child of this kind and key; 0 if there is none. */
uint32_t node_tree_find(const struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key);

/* Have the processor load what node_tree_child() will look at: the index first, and the node when the index has arrived. */
void node_tree_expect(const struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key);
void node_tree_expect_node(const struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key);

/* Frees the index. The profile keeps the nodes. */
void node_tree_end(struct node_tree *tree);

#endif
