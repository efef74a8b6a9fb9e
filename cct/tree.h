/* A calling context tree, written by one thread: its handler and its callbacks, never both at once (guarantee
 * T1: callbacks raise the thread's in-tool flag first, and the handler leaves when it sees it).
 *
 * Nodes are units of the arena. A child is found through one hash table a tree, keyed by (parent, kind, key),
 * grown by linear hashing so that no insertion ever rehashes the whole. */
#ifndef BLAME_CCT_TREE_H
#define BLAME_CCT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_tree.h"

struct profile_chunk;
struct profile_lane;
struct profile_time_value;

/* A program whose call paths never repeat must not fill memory and disk. Each tree may take TREE_CHUNKS_EACH chunks. Beyond these, all trees
 * together may take TREE_CHUNKS_SHARED, and nodes below regions' placeholders, which are moved later, TREE_CHUNKS_PENDING more. When a tree is
 * full, a call path ends at its innermost node that exists, in a node PROFILE_PSEUDO_TREE_FULL: sums stay whole. */
#define TREE_CHUNKS_EACH    32u   /* 1 MB */
#define TREE_CHUNKS_SHARED  4096u /* 128 MB */
#define TREE_CHUNKS_PENDING 1024u /* 32 MB */

#define TREE_PATH_MAX      4104u /* most frames of a path (BLAME_DEPTH) and its marks */
#define TREE_SEGMENTS      20
#define TREE_FIRST_SEGMENT 1024u /* buckets; segment s > 0 holds as many as all before it */
#define TREE_LAST_FRAMES   256u  /* of the path looked up last, from the outermost frame inward */

/* Of a node, by others who have its index. */
#define TREE_MARK_WRITTEN 1u /* the file's trace: recycled, it stays and says what it became (PROFILE_NODE_MOVED) */
#define TREE_MARK_WAITS   2u /* samples of the trace that are not written yet: they are told by `moved` */

#define TIME_DENSE  64u /* the first is the root's */
#define TIME_CACHED 32u

/* cct/timeline/time.h's. */
struct times {
    uint64_t origin_ns; /* 0: no bins are kept */
    uint64_t lane_ns;   /* so far from it the lane's bins reach; 0: it has none yet */
    struct profile_lane *lane;
    uint32_t lane_shift;
    bool fixed;       /* tree_graft() walks: no context's dense bins are taken from it */
    uint32_t climbed; /* contexts that were asked for dense bins on the way up from those that have none */
    uint64_t dither;
    struct profile_chunk *chunk; /* that has room for records, perhaps */
    uint32_t chunk_no;
    uint32_t used, made;        /* records of dense[]: those of contexts come first, then those that are free */
    uint32_t dense[TIME_DENSE]; /* their units */
    struct time_cached {
        uint32_t node_idx;          /* a context, and where its time goes for so long after the origin; */
        uint64_t from_ns, width_ns; /* all are forgotten when bins are widened or given up */
        struct profile_time_value *bin;
    } cached[TIME_CACHED];
};

/* The path that tree_path() looked up last: nodes[0] is base's child with keys[0], and so on inward. A node
 * keeps its parent, kind and key until it is recycled, and tree_graft() alone recycles: it forgets the path
 * first. */
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
    uint32_t chunks; /* of kind TREE */
    struct profile_chunk *chunk;
    uint32_t free_nodes;   /* recycled nodes, linked by hash_next */
    uint32_t free_metrics; /* recycled metric records, linked by their first word */
    uint32_t buckets;      /* in use */
    uint32_t level_size;   /* buckets when the current doubling began */
    uint32_t entries;
    uint32_t grafts; /* counts tree_graft(): nodes that are no root's may have been recycled since */
    uint32_t *segments[TREE_SEGMENTS];
    /* Told, if it is there, before tree_graft() recycles a node: what was of it is of `into` now. [owner] */
    void (*moved)(struct tree *tree, uint32_t from, uint32_t into);
    uint32_t *scratch;        /* TREE_PATH_MAX entries, outside the program's stack */
    struct tree_last last[2]; /* [1]: below the trie */
    struct times times;
};

/* Prepares an empty tree with its two roots; false when there is no memory. [owner] */
bool tree_init(struct tree *tree, uint32_t number);

/* The child of parent with that kind and key, made if it is not there; 0 when there is no memory. For a FRAME or SITE for which the tree is full
 * it is parent's PROFILE_PSEUDO_TREE_FULL, or parent itself if it is one. O(1) expected, 128 steps
 * at most: beyond these there is no room either; at most one chunk is mapped. [handler] */
uint32_t tree_child(struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key);

/* The same if there is one; else 0. [handler] */
uint32_t tree_find(struct tree *tree, uint32_t parent, enum profile_node_kind kind, uint64_t key);

/* The node at the end of a path of frames below base, made where it is not there; keys from the innermost
 * frame outward, as walks deliver them. What it shares with the path looked up before, from base on, is only
 * compared. 0 when there is no memory. [handler] */
uint32_t tree_path(struct tree *tree, uint32_t base, const uint64_t *keys, size_t count);

/* A node without parent, not to be found by tree_child(): a region's placeholder. [handler] */
uint32_t tree_placeholder(struct tree *tree, uint64_t key);

/* The node's metric record, made zeroed if there is none; NULL when there is no memory. [handler] */
struct profile_metric *tree_metric(struct tree *tree, uint32_t node_idx);

/* A zeroed record of a metric's size that no node has; its unit, 0 when there is no memory. [handler] */
uint32_t tree_record(struct tree *tree);
void tree_recycle_record(struct tree *tree, uint32_t unit_idx); /* [handler] */

struct profile_node *tree_node(uint32_t node_idx); /* [handler] */

/* Takes a node away that has no children; `into` has what was of it. [owner] */
void tree_remove(struct tree *tree, uint32_t node_idx, uint32_t into);

/* Repeats a trie's path below this tree's own trie, sites staying sites; returns the node at its end, 0 when
 * memory ran out. [owner] */
uint32_t tree_adopt_trie_path(struct tree *tree, uint32_t context);

/* Repeats a trie's path, from below the trie's root down to context, below `into`; returns the node at its
 * end, 0 when memory ran out (or into is 0). Sites become frames. context may belong to another thread's
 * tree: the nodes of a trie never change once published. [handler] */
uint32_t tree_copy_trie_path(struct tree *tree, uint32_t context, uint32_t into);

#endif
