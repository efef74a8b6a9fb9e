/* What was below a region's placeholder, once the region's context is known. */
#ifndef BLAME_CCT_DEFERRED_GRAFT_H
#define BLAME_CCT_DEFERRED_GRAFT_H

#include "cct/tree.h"

#define GRAFT_STEPS 1024u /* nodes that one callback moves, or what costs as much: the next one goes on */

/* Moves everything below `from` (not `from` itself) below `into`, adding metrics where contexts meet, and
 * recycles `from`, which must be a placeholder. Returns false when memory ran out, or *steps, of which it takes what it does: what
 * has not been moved stays, and another call goes on with it. [owner] */
bool tree_graft(struct tree *tree, uint32_t from, uint32_t into, uint64_t *steps);

#endif
