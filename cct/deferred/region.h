/* Region records: the context of a parallel region, and who still needs it (LMF13, section 3.2).
 *
 * A record's life: the encountering thread begins it. Threads sampled in the region mark and reference it.
 * The encountering thread publishes its context, at the end of the region at the latest. The record is
 * recycled when the last reference is dropped.
 *
 * Guarantee R1: a thread that executes in a region may take a reference without asking. The encountering
 * thread cannot end the region, and so drop its own reference, before that thread waits at the join.
 * Guarantee R2: `context` is published with release order after `outer` is set and the trie's nodes are
 * complete. A thread that loads a context other than 0 with acquire order may follow both. Guarantee R3: a
 * region with a published context holds a reference on its outer region. Records are never unmapped. A stale
 * pointer may read a later life of the record, which `instance` reveals. */
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
    uint32_t context; /* trie node of the encountering task's path to the fork call; 0: not yet known */
    uint32_t references;
    uint32_t instance; /* number of the record's life */
    uint32_t epoch;    /* region_epoch at its begin; a forked child must not follow its parent's contexts */
    /* true if `context` begins at the root, not below the outer region; set before the context is published */
    bool from_root;
    struct region *outer;
    uintptr_t codeptr; /* return address of the fork call as the runtime reported it, or 0 */
    struct region_pool *home;
    struct region *next_free;
    struct region *below;       /* region begun before this one by the same thread, and still open */
} __attribute__((aligned(16))); /* leaves four bits of the address free */

#define REGION_ENDS 16u /* a power of two */

/* One thread's records. */
struct region_pool {
    struct region *free; /* free records of the owner */
    /* records released by other threads: any thread pushes, the owner takes all at once */
    struct region *returned;
    uint64_t begun;
    struct region *open; /* last region begun and still open; linked by `below` */
    uint32_t nameless;   /* later open regions without a record; `free` is NULL until they have ended */
    uint32_t ends;       /* number of entries written to ended[] */
    struct region_end {
        const struct region *region;
        uint32_t instance;
        uintptr_t codeptr;
        uint64_t ticks;
    } ended[REGION_ENDS]; /* last noted ends (S5) */
};

/* Number of the measurement in this process; raised in a forked child. [init] */
extern uint32_t region_epoch __attribute__((visibility("hidden")));

/* Returns a record with one reference, the encountering thread's; NULL if there is no memory. O(1). [owner] */
struct region *region_begin(struct region_pool *pool, struct region *outer, uintptr_t codeptr);

/* Closes the last open region of the calling thread and returns it; NULL if it has no record. The tool keeps
 * this list itself: when libomp reports the end of a nested team it has already given the team's memory away,
 * and its note there may be another team's. [owner] */
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

/* Publishes the context. Only the encountering thread may call it, while the region and its outer ones live.
 * [handler] */
void region_publish(struct region *region, uint32_t context);

/* Returns true if a thread needs the context and it is unknown. [owner] */
bool region_needs_context(const struct region *region);

/* Marks the region as ended and drops the encountering thread's reference. [owner] */
void region_end(struct region *region);

/* Notes the end of the calling thread's region, on clock_ticks(). [owner] */
void region_note_end(const struct region *region, uint64_t now_ticks);

/* Returns the end of that life of the record; 0 ticks: no longer remembered, or never noted. [handler] */
struct region_end region_end_of(const struct region *region, uint32_t instance);

/* Drops a reference. Recycles the record, and outer ones that only it referenced. [owner] */
void region_release(struct region *region);

/* A thread's contexts that wait for their region: its placeholders. */
#define PLACEHOLDERS_MAX 256

struct placeholder {
    struct region *region;
    uint32_t node_idx; /* node of the waiting contexts; 0: none wait */
    uint32_t base;     /* resolved context in this tree; 0 until it is known up to the root */
};

struct placeholders {
    uint32_t count;
    struct placeholder entries[PLACEHOLDERS_MAX];
};

/* Returns the node below which this thread files its samples in the region: the resolved context if it is
 * known, otherwise a placeholder, created on first use. Returns 0 if there is no memory or too many regions
 * wait. [handler] */
uint32_t placeholders_node(struct placeholders *placeholders, struct tree *tree, struct region *region,
                           uint64_t fork_key);

/* Grafts what can be resolved below the outer region's placeholder or the root, for about as many steps
 * (GRAFT_STEPS). Returns the number of placeholders left; another call continues. [owner] */
uint32_t placeholders_resolve(struct placeholders *placeholders, struct tree *tree, uint64_t steps);

#endif
