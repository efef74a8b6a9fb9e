/* What was below a region's placeholder, once the region's context is known. */
#ifndef BLAME_CCT_GRAFT_H
#define BLAME_CCT_GRAFT_H

#include "cct/tree.h"

/* Moves everything below `from` (not `from` itself) below `into`, adding metrics where contexts meet, and
 * recycles `from`, which must be a placeholder. Returns false when memory ran out: what could not be moved
 * stays. [owner] */
bool tree_graft(struct tree *tree, uint32_t from, uint32_t into);

#endif
