/* Moves the nodes below a region's placeholder to the region's context, as soon as that context is known. */
#ifndef BLAME_CCT_DEFERRED_GRAFT_H
#define BLAME_CCT_DEFERRED_GRAFT_H

#include "cct/tree.h"

/* maximum number of nodes that one callback moves; the next callback continues */
#define GRAFT_STEPS 1024u

/* Moves everything below the placeholder `from` to below `into` and recycles `from`. Where both have a node,
 * their metrics are added. Subtracts the cost, in moved nodes, from *steps. Returns false if memory or *steps
 * ran out; a repeated call continues. [owner] */
bool tree_graft(struct tree *tree, uint32_t from, uint32_t into, uint64_t *steps);

/* Returns true if tree_graft() can move the contents of `from` below `into`: `from` is a placeholder, all nodes
 * below it are pending, none of them is a root, and `into` is a context below the root (not the trie's) or
 * below another placeholder. The lists of children must be valid (tree_is_valid). Visits all nodes below
 * `from` and above `into`. Called by debug builds and tests. [owner] */
bool graft_is_valid(const struct tree *tree, uint32_t from, uint32_t into);

#endif
