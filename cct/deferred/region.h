/* Region records: the context of a parallel region, and a count of those who still need it (LMF13, section
 * 3.2).
 *
 * The encountering thread begins a record. Threads that are sampled in the region mark the record and take a
 * reference. The encountering thread publishes the region's context, at the latest when the region ends. The
 * record is recycled when the last reference is dropped.
 *
 * Guarantee R1: a thread that executes in a region may take a reference at any time. The encountering thread
 * drops its own reference only after all threads have reached the join. Guarantee R2: `context` is published
 * with release order after `outer` is set and the trie's nodes are complete. A thread that loads a context
 * other than 0 with acquire order may follow both. Guarantee R3: a region with a published context holds a
 * reference on its outer region. Records are never unmapped. A stale pointer may read a record that has been
 * reused; `instance` reveals this. */
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
    uint32_t context; /* trie node of the encountering task's path to the fork call; 0: unknown until now */
    uint32_t references;
    uint32_t instance; /* number of times that the record has been used */
    /* region_epoch when the region began; after a fork(), the child does not use contexts of the parent's
     * epoch */
    uint32_t epoch;
    /* true if the path of `context` begins at the root, not at the outer region; set before the context is
     * published */
    bool from_root;
    struct region *outer;
    uintptr_t codeptr; /* return address of the fork call as reported by the runtime; 0: none */
    struct region_pool *home;
    struct region *next_free;
    struct region *below;       /* next open region in the same thread, begun before this one */
} __attribute__((aligned(16))); /* so the low four bits of the address can hold flags */

#define REGION_ENDS 16u /* a power of two */

/* The records of one thread's regions. */
struct region_pool {
    struct region *free; /* list of free records that only the owner uses */
    /* list of records released by any thread; the owner takes the whole list at once */
    struct region *returned;
    uint64_t begun;
    struct region *open; /* innermost open region that has a record; `below` links the others */
    /* number of open regions without a record, all inside `open`; `free` stays NULL until they have ended */
    uint32_t nameless;
    uint32_t ends; /* number of ends noted in ended[]; entry i holds end number i modulo REGION_ENDS */
    struct region_end {
        const struct region *region;
        uint32_t instance;
        uintptr_t codeptr;
        uint64_t ticks;
    } ended[REGION_ENDS]; /* the last ends (guarantee S5) */
};

/* number of the current measurement; fork() raises it in the child. [init] */
extern uint32_t region_epoch __attribute__((visibility("hidden")));

/* Returns a record with one reference, held by the encountering thread; NULL if there is no memory. O(1).
 * [owner] */
struct region *region_begin(struct region_pool *pool, struct region *outer, uintptr_t codeptr);

/* Closes the innermost open region of the calling thread and returns it; NULL if it has no record. The tool
 * keeps the list of open regions itself. When libomp reports the end of a nested team, it has already freed
 * the team's memory, and the tool's data there may belong to another team. [owner] */
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

/* Publishes the context. Only the encountering thread may call this, while the region and its outer regions
 * are open. [handler] */
void region_publish(struct region *region, uint32_t context);

/* Returns true if a thread has been sampled in the region and the context is unknown. [owner] */
bool region_needs_context(const struct region *region);

/* Marks the region as ended and drops the encountering thread's reference. [owner] */
void region_end(struct region *region);

/* Notes that the calling thread's region ended at now_ticks, on clock_ticks(). [owner] */
void region_note_end(const struct region *region, uint64_t now_ticks);

/* Returns the noted end of the region that used the record as `instance`. `ticks` is 0 if the end was not
 * noted, or has been overwritten. [handler] */
struct region_end region_end_of(const struct region *region, uint32_t instance);

/* Drops a reference. Recycles the record if it was the last one, and then outer records that have no other
 * reference. [owner] */
void region_release(struct region *region);

/* Maximum number of regions in which a thread has samples and whose context is unknown. */
#define PLACEHOLDERS_MAX 256

struct placeholder {
    struct region *region;
    uint32_t node_idx; /* placeholder in the thread's tree; 0: none yet */
    /* node of the region's context in the thread's tree; 0: not yet known up to the root */
    uint32_t base;
};

struct placeholders {
    uint32_t count;
    struct placeholder entries[PLACEHOLDERS_MAX];
};

/* Returns the node below which this thread's samples in the region are booked: the region's context if it is
 * known, otherwise a placeholder. Returns 0 if there is no memory or there are too many placeholders.
 * [handler] */
uint32_t placeholders_node(struct placeholders *placeholders, struct tree *tree, struct region *region,
                           uint64_t fork_key);

/* Moves the contexts below placeholders to known contexts, at a cost of about `steps` moved nodes
 * (GRAFT_STEPS). Returns the number of placeholders left; a repeated call continues. [owner] */
uint32_t placeholders_resolve(struct placeholders *placeholders, struct tree *tree, uint64_t steps);

#endif
