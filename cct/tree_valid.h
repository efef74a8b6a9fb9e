/* Checks whether a tree has the invariants that cct/README.md lists. Called by debug builds and tests. */
#ifndef BLAME_CCT_TREE_VALID_H
#define BLAME_CCT_TREE_VALID_H

#include <stdbool.h>

#include "cct/tree.h"

/* Returns true if the tree has all its invariants:
 * - A node without a parent is the root, the trie's root or a placeholder; every other node has a parent in use.
 * - A node is reached exactly once through the lists of children, below the parent that it names.
 * - A node with a parent is found by its parent, kind and key, which no other node has. No bucket is too long.
 * - Recycled nodes and records are in the tree's free lists. A node that was moved names a node.
 * - Records are in chunks of the tree, and their sums are neither negative nor NaN. The trie has no records.
 * - A node is pending if it is a placeholder or is below one.
 * - Dense bins belong to the TIME node that names them. Each node of the last paths is a child of the one before.
 * Visits each node of the tree several times, and the headers of all chunks of the file. The tree's writer must
 * not write meanwhile. The file must be open. [owner] */
bool tree_is_valid(const struct tree *tree);

#endif
