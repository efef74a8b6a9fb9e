/* Region records: what a parallel region's context is, and who still needs to know (LMF13, section 3.2).
 *
 * Life: begun by the encountering thread; marked and referenced by threads sampled in it; its context
 * published by the encountering thread, at the end of the region at the latest; recycled when the last
 * reference has gone.
 *
 * Guarantee R1: a thread that executes in a region may take a reference without asking: the encountering
 * thread cannot end the region, and so not drop its own reference, before that thread waits at the join.
 * Guarantee R2: context is published with release order after outer is set and the trie's nodes are complete;
 * whoever loads a context that is not 0 with acquire order may follow both. Guarantee R3: a region with a
 * published context holds a reference on its outer region. Records are never unmapped: a stale pointer reads
 * another life of the record, told apart by `instance`. */
#ifndef BLAME_CCT_DEFERRED_REGION_H
#define BLAME_CCT_DEFERRED_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "cct/tree.h"

#define REGION_SAMPLED 1u
#define REGION_ENDED   2u

struct region_pool;

struct region {
    uint32_t state;   /* REGION_ flags */
    uint32_t context; /* trie node of the encountering task's path to the fork call; 0: not known yet */
    uint32_t references;
    uint32_t instance; /* counts the record's lives */
    uint32_t epoch;    /* region_epoch when it began: a forked child must not follow its parent's contexts */
    bool from_root;    /* context begins at the root, and not below the outer region's: set before it is
                          published */
    struct region *outer;
    uintptr_t codeptr; /* the fork call's return address as the runtime gave it, or 0 */
    struct region_pool *home;
    struct region *next_free;
    struct region *below;       /* the one that its thread had begun last, and not ended */
} __attribute__((aligned(16))); /* so that four bits of its address are free */

#define REGION_ENDS 16u /* a power of two */

/* One thread's records. */
struct region_pool {
    struct region *free;     /* the owner's list */
    struct region *returned; /* released by other threads: pushed by anybody, taken whole by the owner */
    uint64_t begun;
    struct region *open; /* begun last, and not ended; linked by below */
    uint32_t nameless;   /* begun since then, and without a record: then free is NULL until they have ended */
    uint32_t ends;       /* written to ended[] so far */
    struct region_end {
        const struct region *region;
        uint32_t instance;
        uintptr_t codeptr;
        uint64_t ticks;
    } ended[REGION_ENDS]; /* the last that were noted (S5) */
};

/* Counts measurements in this process: raised in a forked child. [init] */
extern uint32_t region_epoch __attribute__((visibility("hidden")));

/* A record with one reference, the encountering thread's; NULL when there is no memory. O(1). [owner] */
struct region *region_begin(struct region_pool *pool, struct region *outer, uintptr_t codeptr);

/* The region that the calling thread has begun last and not ended, which it ends now; NULL if that has no record. By the time that
 * the runtime tells of an end it has given the team's memory away (libomp's nested teams), and what it had noted there
 * is another team's, or nobody's: so the tool knows by itself which one ends. [owner] */
static inline struct region *region_close(struct region_pool *pool)
{
    struct region *region = pool->open;
    if (unlikely(!region || pool->nameless)) {
        pool->nameless -= pool->nameless > 0;
        return NULL;
    }
    pool->open = region->below;
    return region;
}

/* Marks the region as sampled and takes a reference (R1). [handler] */
void region_reference(struct region *region);

/* Publishes the context; only the encountering thread, while the region and its outer ones live. [handler] */
void region_publish(struct region *region, uint32_t context);

/* True if somebody needs the context and it is not known. [owner] */
bool region_needs_context(const struct region *region);

/* The encountering thread's end: marks the region as ended and drops its reference. [owner] */
void region_end(struct region *region);

/* Notes that the region, whose record is the calling thread's, ends now, on clock_ticks(). [owner] */
void region_note_end(const struct region *region, uint64_t now_ticks);

/* The end of that life of the record; of 0 ticks: before all that is remembered, or nobody noted it. [handler] */
struct region_end region_end_of(const struct region *region, uint32_t instance);

/* Drops a reference; recycles the record, and outer ones that only it held. [owner] */
void region_release(struct region *region);

/* Contexts that wait for their region, in one thread: its placeholders. */
#define PLACEHOLDERS_MAX 256

struct placeholder {
    struct region *region;
    uint32_t node_idx; /* the contexts that wait, 0: none does */
    uint32_t base;     /* the resolved context in this tree, 0 as long as it is not known up to the root */
};

struct placeholders {
    uint32_t count;
    struct placeholder entries[PLACEHOLDERS_MAX];
};

/* The node below which this thread files its samples in the region: its resolved context as soon as that is
 * known, until then a placeholder, made on first use. 0 when there is no memory or too many regions wait.
 * [handler] */
uint32_t placeholders_node(struct placeholders *placeholders, struct tree *tree, struct region *region,
                           uint64_t fork_key);

/* Grafts what can be resolved: below the outer region's placeholder, or below the root; so many steps of it (GRAFT_STEPS), or a little
 * more. Returns the number of placeholders that are left: another call goes on. [owner] */
uint32_t placeholders_resolve(struct placeholders *placeholders, struct tree *tree, uint64_t steps);

#endif
