/* Region records. A record holds the context of a parallel region and counts the references of threads that
 * still need that context (LMF13, section 3.2).
 *
 * The thread that encounters the parallel construct begins a record. A thread that is sampled in the region
 * marks the record and takes a reference. The encountering thread publishes the region's context, at the
 * latest when the region ends. The record is recycled when the last reference is dropped.
 *
 * Guarantee R1: a thread that executes in a region may take a reference at any time. The encountering thread
 * drops its own reference only after all threads have reached the join. Guarantee R2: `context` is published
 * with release order after `outer` is set and the trie's nodes are complete. A thread that loads a context
 * other than 0 with acquire order may use both. Guarantee R3: a region with a published context holds a
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

#define REGION_BARRIERS 32u /* must divide 256 */

struct region_pool;

struct region {
    uint32_t state;   /* REGION_ flags */
    uint32_t context; /* trie node for the encountering task's path to the fork call; 0: not yet known */
    uint32_t references;
    uint32_t instance; /* number of regions that have used this record, modulo 2^REGION_INSTANCE_BITS */
    /* region_epoch when the region began; after a fork(), the child ignores contexts of the parent's epoch */
    uint32_t epoch;
    /* true if the path of `context` begins at the program's entry, false if it begins at the outer region;
     * set before the context is published */
    bool from_root;
    uint16_t workers; /* threads of its team that the runtime ends with it, if they are counted with the team; else 0 */
    struct region *outer;
    uintptr_t codeptr; /* return address of the fork call, as the runtime reported it; 0: none */
    struct region_pool *home;
    struct region *next_free;
    struct region *below; /* the same thread's next outer open region that has a record */
    /* When a thread first passed each of the last barriers, in ticks; barrier number n is in entry n modulo
     * REGION_BARRIERS. Guarantee R5: an entry counts only if it is not earlier than the arrival of the thread
     * that asks. */
    uint64_t passed[REGION_BARRIERS];
} __attribute__((aligned(32))); /* the alignment leaves the low five bits of the address free for flags */

#define REGION_ALIGN_BITS    5u
#define REGION_ADDRESS_BITS  48u
#define REGION_INSTANCE_BITS (64u - (REGION_ADDRESS_BITS - REGION_ALIGN_BITS))
#define REGION_INSTANCE_MASK ((1u << REGION_INSTANCE_BITS) - 1)

/* A region in one word, which the runtime keeps for the tool: the record's address without its low bits, and
 * the record's instance above it. A thread of the team that begins or waits reads only this word, because the
 * encountering thread writes the record's cache line in each region. 0: no region. [owner] */
static inline uint64_t region_word(const struct region *region)
{
    return region ? (uint64_t)region->instance << (64 - REGION_INSTANCE_BITS) | (uintptr_t)region >> REGION_ALIGN_BITS
                  : 0;
}

static inline uint32_t region_word_instance(uint64_t word) /* [handler] */
{
    return (uint32_t)(word >> (64 - REGION_INSTANCE_BITS));
}

static inline struct region *region_of_word(uint64_t word) /* [handler] */
{
    return (struct region *)((word << REGION_INSTANCE_BITS) >> (REGION_INSTANCE_BITS - REGION_ALIGN_BITS));
}

/* Returns true if the word's region has not ended. [handler] */
static inline bool region_word_is_open(uint64_t word)
{
    const struct region *region = region_of_word(word);
    return region && !(load_acquire(&region->state) & REGION_ENDED) &&
           load_relaxed(&region->instance) == region_word_instance(word);
}

#define REGION_ENDS 16u /* must be a power of two */

/* The records of one thread's regions. */
struct region_pool {
    struct region *free; /* list of free records, used only by the owner */
    /* list of records that any thread has released; the owner takes the whole list at once */
    struct region *returned;
    uint64_t begun;
    uint64_t resumed;    /* when the first thread of its teams has left the end of the region before, in ticks */
    struct region *open; /* innermost open region that has a record; `below` leads to the others */
    /* number of open regions without a record, all inside `open`; `free` stays NULL until they have ended */
    uint32_t nameless;
    uint32_t nameless_workers; /* threads of nested teams that are counted until `nameless` is 0 again */
    uint32_t ends;             /* number of region ends noted so far; end number n is in ended[n % REGION_ENDS] */
    struct region_end {
        const struct region *region;
        uint32_t instance;
        uintptr_t codeptr;
        uint64_t ticks;
    } ended[REGION_ENDS]; /* the most recent ends (guarantee S5) */
};

/* number of this process's measurement; fork() raises it in the child. [init] */
extern uint32_t region_epoch __attribute__((visibility("hidden")));

/* Returns a record with one reference, which the encountering thread holds. Returns NULL if there is no
 * memory. O(1). [owner] */
struct region *region_begin(struct region_pool *pool, struct region *outer, uintptr_t codeptr);

/* Closes the innermost open region of the calling thread and returns its record; NULL if it has none. The
 * tool keeps its own list of open regions: when libomp reports the end of a nested team, it has already freed
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

/* Publishes the region's context. Only the encountering thread may call this, while the region and its outer
 * regions are open. [handler] */
void region_publish(struct region *region, uint32_t context);

/* Returns true if a thread has been sampled in the region and the region's context is unknown. [owner] */
bool region_needs_context(const struct region *region);

/* Marks the region as ended and drops the encountering thread's reference. [owner] */
void region_end(struct region *region);

/* Notes that the calling thread's region ended at now_ticks, a time of clock_ticks(). [owner] */
void region_note_end(const struct region *region, uint64_t now_ticks);

/* Returns the noted end of the region that was the record's user number `instance`. `ticks` is 0 if that end
 * was not noted, or has been overwritten. [handler] */
struct region_end region_end_of(const struct region *region, uint32_t instance);

/* Drops a reference. If it was the last one, recycles the record, and then each outer record whose last
 * reference this drops. [owner] */
void region_release(struct region *region);

/* Maximum number of regions of unknown context in which one thread has samples. */
#define PLACEHOLDERS_MAX 256

struct placeholder {
    struct region *region;
    uint32_t node_idx; /* the region's placeholder in the thread's tree; 0: none yet */
    /* node of the region's context in the thread's tree; 0: the context of the region or of an outer region
     * is unknown */
    uint32_t base;
};

struct placeholders {
    uint32_t count;
    struct placeholder entries[PLACEHOLDERS_MAX];
};

/* Returns the node below which this thread's samples in the region are booked: the region's context if it is
 * known, otherwise the region's placeholder. Returns 0 if there is no memory or there are too many
 * placeholders. [handler] */
uint32_t placeholders_node(struct placeholders *placeholders, struct tree *tree, struct region *region,
                           uint64_t fork_key);

/* Moves nodes from below placeholders to the regions' contexts, as far as these are known, at a cost of about
 * `steps` moved nodes. Returns the number of placeholders left; a repeated call continues. [owner] */
uint32_t placeholders_resolve(struct placeholders *placeholders, struct tree *tree, uint64_t steps);

#endif
