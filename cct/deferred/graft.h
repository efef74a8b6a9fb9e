/* Moves what was booked below a region's placeholder, once the region's context is known. */
#ifndef BLAME_CCT_DEFERRED_GRAFT_H
#define BLAME_CCT_DEFERRED_GRAFT_H

#include "cct/tree.h"

/* number of nodes that one callback moves, at most; the next callback continues */
#define GRAFT_STEPS 1024u

/* Moves everything below `from` (not `from` itself) below `into`, adding metrics where contexts meet, and
 * recycles `from`, which must be a placeholder. Subtracts its cost from *steps. Returns false if memory or
 * *steps ran out; another call then continues with the rest. [owner] */
bool tree_graft(struct tree *tree, uint32_t from, uint32_t into, uint64_t *steps);

#endif
