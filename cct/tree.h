/* A calling context tree, written by one thread. The thread's handler and its callbacks never write at the
 * same time (guarantee T1: callbacks first raise the thread's in-tool flag, and the handler returns when it
 * sees the flag).
 *
 * Nodes are units of the arena. Children are found in one hash table per tree, keyed by (parent, kind, key).
 * The table grows by linear hashing, so no insertion rehashes the whole table. */
#ifndef BLAME_CCT_TREE_H
#define BLAME_CCT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_tree.h"

struct profile_chunk;
struct profile_lane;
struct profile_time_value;

/* Limits for programs whose call paths never repeat, so that they do not fill memory and disk. Each tree may
 * take TREE_CHUNKS_EACH chunks. Beyond these, all trees together may take TREE_CHUNKS_SHARED. Nodes below
 * regions' placeholders, which are moved later, may take TREE_CHUNKS_PENDING more. In a full tree a call path
 * ends at its innermost existing node, in a node PROFILE_PSEUDO_TREE_FULL, so sums stay complete. */
#define TREE_CHUNKS_EACH    32u   /* 1 MB */
#define TREE_CHUNKS_SHARED  4096u /* 128 MB */
#define TREE_CHUNKS_PENDING 1024u /* 32 MB */

#define TREE_PATH_MAX      4104u /* maximum of frames in a path (BLAME_DEPTH) and its marks */
#define TREE_SEGMENTS      20
#define TREE_FIRST_SEGMENT 1024u /* buckets; segment s > 0 holds as many as all segments before it */
#define TREE_LAST_FRAMES   256u  /* frames kept of the last path looked up, from the outermost inward */

/* Marks on a node by users of its index. */
/* the file's trace names the node: when recycled, it stays and says what it became (PROFILE_NODE_MOVED) */
#define TREE_MARK_WRITTEN 1u
/* the trace has samples of the node that are not yet written; `moved` announces its move */
#define TREE_MARK_WAITS 2u

#define TIME_DENSE  64u /* dense[0] is the root's */
#define TIME_CACHED 32u

/* State of cct/timeline/time.h. */
struct times {
    uint64_t origin_ns; /* 0: no bins are kept */
    uint64_t lane_ns;   /* reach of the lane's bins in ns since the origin; 0: no lane yet */
    struct profile_lane *lane;
    uint32_t lane_shift;
    bool fixed;       /* true while tree_graft() walks; no context's dense bins may be taken from it */
    uint32_t climbed; /* contexts searched upward for dense bins */
    uint64_t dither;
    struct profile_chunk *chunk; /* chunk that may have room for records */
    uint32_t chunk_no;
    uint32_t used, made;        /* records in dense[]: those in use come first, then free ones */
    uint32_t dense[TIME_DENSE]; /* units of the records */
    struct time_cached {
        uint32_t node_idx; /* a context; its time goes to `bin` in an interval after the origin */
        /* start and length of the interval; all entries are forgotten when bins are widened or given up */
        uint64_t from_ns, width_ns;
        struct profile_time_value *bin;
    } cached[TIME_CACHED];
};

/* The path that tree_path() looked up last: nodes[0] is base's child with keys[0], and so on inward. A node
 * keeps its parent, kind and key until it is recycled. Only tree_graft() recycles nodes, and it forgets the
 * path first. */
struct tree_last {
    uint32_t base, count;
    uint32_t nodes[TREE_LAST_FRAMES];
    uint64_t keys[TREE_LAST_FRAMES];
};

struct tree {
    uint32_t number;
    uint32_t root; /* PROFILE_NODE_ROOT */
    uint32_t trie; /* PROFILE_NODE_TRIE */
    uint32_t chunk_no;
    uint32_t chunks; /* number of chunks of kind TREE */
    struct profile_chunk *chunk;
    uint32_t free_nodes;   /* recycled nodes, linked by hash_next */
    uint32_t free_metrics; /* recycled metric records, linked by their first word */
    uint32_t buckets;      /* buckets in use */
    uint32_t level_size;   /* number of buckets at the start of the current doubling */
    uint32_t entries;
    uint32_t grafts; /* counts tree_graft(), which may have recycled nodes outside the roots */
    uint32_t *segments[TREE_SEGMENTS];
    /* Called, if set, before tree_graft() recycles a node: what belonged to `from` now belongs to `into`.
     * [owner] */
    void (*moved)(struct tree *tree, uint32_t from, uint32_t into);
    uint32_t *scratch;        /* TREE_PATH_MAX entries, to spare the program's stack */
    struct tree_last last[2]; /* [1]: below the trie */
    struct times times;
};

/* Prepares an empty tree with its two roots. Returns false if there is no memory. [owner] */
bool tree_init(struct tree *tree, uint32_t number);

/* Returns the child of `parent` with that kind and key, created if it does not exist; 0 if there is no
 * memory. In a full tree, a FRAME or SITE gives PROFILE_PSEUDO_TREE_FULL below `parent`, or `parent` itself
 * if it is one. O(1) expected, at most 128 steps; a longer chain counts as no room. Maps at most one chunk.
 * [handler] */
uint32_t tree_child(struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key);

/* Returns the existing child, or 0. [handler] */
uint32_t tree_find(struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key);

/* Returns the node at the end of a path of frames below `base`, with all missing nodes created; 0 if there is
 * no memory. The keys go from the innermost frame outward, as walks deliver them. The part shared with the
 * previous path is only compared. [handler] */
uint32_t tree_path(struct tree *tree, uint32_t base, const uint64_t *keys, size_t count);

/* Returns a node without a parent, which tree_child() does not find: a region's placeholder. [handler] */
uint32_t tree_placeholder(struct tree *tree, uint64_t key);

/* Returns the node's metric record, created with zeros if it does not exist; NULL if there is no memory.
 * [handler] */
struct profile_metric *tree_metric(struct tree *tree, uint32_t node_idx);

/* Returns the unit of a zeroed record of a metric's size that belongs to no node; 0 if there is no memory.
 * [handler] */
uint32_t tree_record(struct tree *tree);
void tree_recycle_record(struct tree *tree, uint32_t unit_idx); /* [handler] */

struct profile_node *tree_node(uint32_t node_idx); /* [handler] */

/* Removes a node without children. What belonged to it now belongs to `into`. [owner] */
void tree_remove(struct tree *tree, uint32_t node_idx, uint32_t into);

/* Copies a path of a trie below this tree's own trie; sites stay sites. Returns the node at its end, 0 if
 * memory ran out. [owner] */
uint32_t tree_adopt_trie_path(struct tree *tree, uint32_t context);

/* Copies a path of a trie, from below the trie's root down to `context`, below `into`; sites become frames.
 * Returns the node at its end, 0 if memory ran out or `into` is 0. `context` may belong to another thread's
 * tree: a trie's nodes never change once published. [handler] */
uint32_t tree_copy_trie_path(struct tree *tree, uint32_t context, uint32_t into);

#endif
