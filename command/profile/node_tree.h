/* A merged tree as it grows: the child of a node by kind and key. What threads' trees and ranks' profiles are merged with. */
#ifndef BLAME_COMMAND_PROFILE_NODE_TREE_H
#define BLAME_COMMAND_PROFILE_NODE_TREE_H

#include "command/profile/index_map.h"
#include "command/profile/profile.h"

struct node_tree {
    struct profile *profile; /* whose nodes they are */
    size_t capacity;
    struct index_map children; /* nodes by key, parent and kind */
};

/* An empty tree but for the root, node 0. */
void node_tree_start(struct node_tree *tree, struct profile *profile);

/* A tree that is made already. */
void node_tree_resume(struct node_tree *tree, struct profile *profile);

/* The child of that kind and key, made if it is not there; later calls may move the nodes. */
uint32_t node_tree_child(struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key);

/* The same, 0: it is not there. */
uint32_t node_tree_find(const struct node_tree *tree, uint32_t parent, uint8_t kind, uint64_t key);

/* The nodes stay the profile's. */
void node_tree_end(struct node_tree *tree);

#endif
