/* A calling context tree, written by one thread. The thread's handler and its callbacks never write at the
 * same time (guarantee T1: a callback first raises the thread's in-tool flag, and the handler returns when it
 * sees the flag).
 *
 * Nodes are units of the arena. A hash table for each tree finds a child by (parent, kind, key). The table
 * grows by linear hashing, so no insertion rehashes the whole table. */
#ifndef BLAME_CCT_TREE_H
#define BLAME_CCT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_tree.h"

struct profile_chunk;
struct profile_lane;
struct profile_time_value;

/* Limits that keep programs whose call paths never repeat from filling memory and disk. Each tree may take
 * TREE_CHUNKS_EACH chunks. After that, a tree may grow only while all trees together have fewer than
 * TREE_CHUNKS_SHARED chunks. For nodes below placeholders, which are moved later, this limit is higher by
 * TREE_CHUNKS_PENDING. In a full tree, a call path ends with a node PROFILE_PSEUDO_TREE_FULL below its
 * innermost existing node, so the sums stay complete. */
#define TREE_CHUNKS_EACH    32u   /* 1 MB */
#define TREE_CHUNKS_SHARED  4096u /* 128 MB */
#define TREE_CHUNKS_PENDING 1024u /* 32 MB */

/* maximum number of nodes in a path: BLAME_DEPTH frames, and the phases, events and parameters */
#define TREE_PATH_MAX 4104u
#define TREE_SEGMENTS 20
/* number of buckets in segment 0; each further segment has as many as all segments before it */
#define TREE_FIRST_SEGMENT 1024u
/* maximum number of nodes in one bucket; tree_child() adds no node to a bucket that is full */
#define TREE_CHAIN_MOST 128u
/* number of frames that tree_last remembers, counted from the outermost frame */
#define TREE_LAST_FRAMES 256u

/* Flags in profile_node.marks, set by the tracer. */
/* the trace names the node, so the node becomes PROFILE_NODE_MOVED when it is recycled */
#define TREE_MARK_WRITTEN 1u
/* the tracer holds samples of the node that are not yet written, so `moved` is called when the node moves */
#define TREE_MARK_WAITS 2u

/* maximum number of contexts in a tree with dense bins; dense[0] belongs to the root */
#define TIME_DENSE  64u
#define TIME_CACHED 32u

/* A tree's bins of time, used by the functions of cct/timeline/time.h. */
struct times {
    uint64_t origin_ns; /* start of the first bin, on CLOCK_MONOTONIC; 0: the tree has no bins */
    uint64_t lane_ns;   /* end of the lane's last bin, in ns after origin_ns; 0: there is no lane yet */
    struct profile_lane *lane;
    uint32_t lane_shift;
    bool fixed; /* true during tree_graft(), when no context may lose its dense bins */
    /* number of contexts visited in searches for dense bins; tree_graft() counts them as part of its cost */
    uint32_t climbed;
    uint64_t dither;
    struct profile_chunk *chunk; /* chunk of kind TIME to which new records are added; NULL: none yet */
    uint32_t chunk_no;
    /* number of entries of dense[] that contexts use, and number of all entries; those in use come first */
    uint32_t used, made;
    uint32_t dense[TIME_DENSE]; /* unit indices of the dense bins */
    struct time_cached {
        uint32_t node_idx; /* a context whose time in the interval below goes to `bin` */
        /* start of the interval in ns after origin_ns, and its length; the entry becomes invalid when bins
         * are widened or given up */
        uint64_t from_ns, width_ns;
        struct profile_time_value *bin;
    } cached[TIME_CACHED];
};

/* The last path that tree_path() looked up: nodes[0] is the child of `base` with keys[0], nodes[1] a child of
 * nodes[0], and so on. The entries stay valid until nodes are recycled. Only tree_graft() recycles nodes, and
 * it clears `count` first. */
struct tree_last {
    uint32_t base, count;
    uint32_t nodes[TREE_LAST_FRAMES];
    uint64_t keys[TREE_LAST_FRAMES];
};

struct tree {
    uint32_t number;
    uint32_t root; /* index of the PROFILE_NODE_ROOT */
    uint32_t trie; /* index of the PROFILE_NODE_TRIE */
    uint32_t chunk_no;
    uint32_t chunks; /* number of chunks of kind TREE */
    struct profile_chunk *chunk;
    uint32_t free_nodes;   /* list of recycled nodes, linked by hash_next */
    uint32_t free_metrics; /* list of recycled metric records, linked by their first word */
    uint32_t buckets;      /* number of buckets in use */
    uint32_t level_size;   /* number of buckets when the current doubling of the table began */
    uint32_t entries;
    /* number of calls of tree_graft(); each may have recycled nodes below placeholders */
    uint32_t grafts;
    uint32_t *segments[TREE_SEGMENTS];
    /* Called by tree_graft(), if not NULL, before it recycles `from`, whose contents are now in `into`.
     * [owner] */
    void (*moved)(struct tree *tree, uint32_t from, uint32_t into);
    uint32_t *scratch; /* array of TREE_PATH_MAX entries, which would take too much of the program's stack */
    /* [0]: the last path below the root or a placeholder; [1]: the last path below the trie */
    struct tree_last last[2];
    struct times times;
};

/* Initialises a tree with its two empty roots. Returns false if there is no memory. [owner] */
bool tree_init(struct tree *tree, uint32_t number);

/* Returns the child of `parent` with this kind and key, created if necessary; 0 if there is no memory. In a
 * full tree, for FRAME and SITE, returns the node PROFILE_PSEUDO_TREE_FULL below `parent`, or `parent` itself
 * if it is such a node. Expected cost O(1): at most 128 nodes are compared, and a longer bucket counts as "no
 * memory". Maps at most one chunk. [handler] */
uint32_t tree_child(struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key);

/* Returns the child of `parent` with this kind and key; 0 if there is none. [handler] */
uint32_t tree_find(const struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key);

/* Returns the node at the end of a path of frames below `base`, creating missing nodes; 0 if there is no
 * memory. The keys go from the innermost frame outward, in the order of a stack walk. Outer frames that are
 * the same as in the previous path are not looked up again. [handler] */
uint32_t tree_path(struct tree *tree, uint32_t base, const uint64_t *keys, size_t count);

/* Returns a new REGION node (a placeholder). The node has no parent, and tree_child() does not find it.
 * [handler] */
uint32_t tree_placeholder(struct tree *tree, uint64_t key);

/* Returns the node's metric record, created with zeros if necessary; NULL if there is no memory. [handler] */
struct profile_metric *tree_metric(struct tree *tree, uint32_t node_idx);

/* Returns the unit index of a zeroed record that has the size of a metric record and belongs to no node; 0 if
 * there is no memory. [handler] */
uint32_t tree_record(struct tree *tree);
void tree_recycle_record(struct tree *tree, uint32_t unit_idx); /* [handler] */

struct profile_node *tree_node(uint32_t node_idx); /* [handler] */

/* Removes a node without children. In a trace that names the node, `into` takes its place. [owner] */
void tree_remove(struct tree *tree, uint32_t node_idx, uint32_t into);

/* Copies the path of a trie node (from any thread's trie) into this tree's trie, including SITE nodes.
 * Returns the last node of the copy; 0 if there is no memory. [owner] */
uint32_t tree_adopt_trie_path(struct tree *tree, uint32_t context);

/* Copies the path from the trie's root to `context` below `into`; SITE nodes become FRAME nodes. Returns the
 * last node of the copy; 0 if there is no memory or `into` is 0. `context` may be in another thread's trie,
 * because trie nodes never change once published. [handler] */
uint32_t tree_copy_trie_path(struct tree *tree, uint32_t context, uint32_t into);

#endif
