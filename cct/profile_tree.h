/* Trees in the measurement file (cct/profile_format.h): what nodes stand for and how their keys are made.
 * What was measured at a node is in cct/profile_metrics.h. */
#ifndef BLAME_CCT_PROFILE_TREE_H
#define BLAME_CCT_PROFILE_TREE_H

#include <stdint.h>

/* What a node stands for. The meaning of `key` depends on it. An address key is a PROFILE_KEY (module and
 * link-time address). */
enum profile_node_kind {
    PROFILE_NODE_FREE = 0, /* recycled; readers skip it */
    PROFILE_NODE_ROOT = 1, /* parent 0: root of the tree's resolved contexts, at the program's root */
    /* parent 0: root of the interned region contexts; no metrics; readers skip it */
    PROFILE_NODE_TRIE = 2,
    /* parent 0: contexts of an unresolved region; key: the fork call's address, or 0 */
    PROFILE_NODE_REGION = 3,
    /* user code; key: an address inside the instruction (for callers: return address - 1) */
    PROFILE_NODE_FRAME = 4,
    /* inside the OpenMP runtime; key: an address in the entry that user code called */
    PROFILE_NODE_RUNTIME = 5,
    PROFILE_NODE_LOCK = 6,   /* metrics of its parent for one lock; key: PROFILE_LOCK_KEY */
    PROFILE_NODE_PSEUDO = 7, /* key: enum profile_pseudo */
    PROFILE_NODE_SITE = 8,   /* in tries only: the frame that created a task; key as for FRAME */
    /* idleness of its parent by wait place of the idle threads; key: PROFILE_PLACE_KEY; metric: struct
     * profile_idle, whose shared_idle is a part of the parent's */
    PROFILE_NODE_WAITERS = 9,
    /* Facts about a lock itself, below the root. There is one node for each lock that a thread of this tree
     * waited for. */
    /* key: PROFILE_LOCK_KEY; metric: struct profile_waits, for waits without a known initialiser */
    PROFILE_NODE_WAITS = 10,
    PROFILE_NODE_INITIALISER =
        /* below WAITS; key: an address in the call that initialised the lock; metric: struct profile_waits */
    11,
    PROFILE_NODE_VARIABLE = 12, /* below WAITS; key: the variable of a critical section; no metric */
    /* Marks of the program (include/blame.h): rows like FRAME, also in tries. Below them is the code inside,
     * from the frame that began the mark inward. Key of the first three: number of a struct profile_name. */
    PROFILE_NODE_PHASE = 13,
    PROFILE_NODE_EVENT = 14,
    PROFILE_NODE_PARAMETER = 15,
    PROFILE_NODE_INSTANCE = 16, /* below PHASE: one execution; key: its number, or PROFILE_INSTANCE_REST */
    PROFILE_NODE_PROBE =
        /* below one of these four: what this tree's threads measured of it; key: 0; metric: struct
         * profile_probe; no row */
    17,
    /* counters of its parent, PROFILE_COUNTERS of them; key: 0; metric: struct profile_counters; no row.
     * Below a PROBE they are exact counts, elsewhere counts at samples. */
    PROFILE_NODE_COUNTERS = 18,
    PROFILE_NODE_MPI =
        /* an MPI call that may wait for other ranks; key: enum mpi_function (base/mpi_calls.h). `work` is MPI
         * wait, not work. `overhead` and `lock_wait_here` are communicator sizes and bytes, summed over
         * `waits` sampled calls. */
    19,
    PROFILE_NODE_RANKS =
        /* other ranks' waiting in MPI, by the call that they waited in; key: PROFILE_RANKS_KEY; metric:
         * struct profile_ranks; no row. Below an MPI node with key 0: about the call itself. */
    20,
    PROFILE_NODE_SPREAD =
        /* in a merged job: how a time of its parent differs between ranks; key: PROFILE_SPREAD_KEY; metric:
         * struct profile_spread; no row */
    22,
    PROFILE_NODE_BALANCE =
        /* in a merged job: waiting in collective calls, charged by the ranks' sums; key and metric:
         * command/profile/balance_record.h; no row */
    23,
    PROFILE_NODE_TIME =
        /* below a context: its own time and the blame on it, by time; key: 0; metric: struct profile_few_bins
         * or struct profile_bins; no row */
    24,
    PROFILE_NODE_LANE =
        /* below the root: the states of the tree's threads, by time; key: 0; metric: struct profile_lane; no
         * row */
    25,
    /* a node named in the trace whose contents moved to the node with index `key`; no row */
    PROFILE_NODE_MOVED = 26,
    /* 27, below the trie: phases laid over one another, in files of blame until 28 November 2026 */
    PROFILE_NODE_HOLDER =
        /* below PSEUDO: the line of another thread that held what this one waited for; key as for FRAME */
    28,
};

#define PROFILE_INSTANCE_REST (1ull << 63) /* all instances beyond BLAME_PHASE_INSTANCES */

enum profile_pseudo {
    PROFILE_PSEUDO_BEFORE_START = 1, /* <before OpenMP start> */
    PROFILE_PSEUDO_UNRELEASED = 2,   /* <unreleased lock>: blame on a lock that was never released */
    PROFILE_PSEUDO_TRUNCATED = 3,    /* <truncated>: the outer part of the path above this row is missing */
    PROFILE_PSEUDO_UNRESOLVED = 4,   /* <unresolved>: the region's context is unknown */
    /* kind runtime, <region end>: forking and joining without a user frame on the stack */
    PROFILE_PSEUDO_BARRIER = 5,
    PROFILE_PSEUDO_HANDOFF = 6, /* <lock handoff>: waiting while nobody held the lock */
    /* <lock table full>: blame without room in the table of contended locks */
    PROFILE_PSEUDO_TABLE_FULL = 7,
    PROFILE_PSEUDO_HELPER = 8, /* <hidden helper>: target tasks, on threads that have no region */
    /* Below a context whose thread was ready to run without a core. `work` is that time; inverse_busy and
     * shared_idle are others' idleness blamed on it. */
    PROFILE_PSEUDO_NO_CORE = 9, /* <no core> */
    /* Below a context whose thread slept outside OpenMP's waits. All of it belongs to its parent, `work` as
     * blocked; no row. */
    PROFILE_PSEUDO_BLOCKED = 10,
    PROFILE_PSEUDO_UNTOLD_WAIT = 11, /* <untold wait>: the runtime waited in a loop and did not report it */
    PROFILE_PSEUDO_NOBODY =
        /* <nobody at work>, below the root: other ranks waited for this rank, whose threads were all idle */
    12,
    PROFILE_PSEUDO_STOPPED =
        /* <stopped>, below the root: like BLOCKED, while a signal or a debugger had stopped the whole process */
    13,
    PROFILE_PSEUDO_INTERPRETER_LOCK =
        14, /* <waiting for the interpreter's lock>, of Python; below it a HOLDER, if one was found */
    /* Directly below a region's context: code on a stack that the program made (a fiber). The region's
     * function is on the thread's own stack. */
    /* <fiber>, if the region's function is unknown; otherwise that function is the row */
    PROFILE_PSEUDO_FIBER = 15,
    PROFILE_PSEUDO_TREE_FULL =
        16, /* <tree full>: calls of its parent for which the tree had no more nodes (cct/tree.h) */
};

#define PROFILE_KEY(module_id, vaddr) (((uint64_t)(module_id) << 48) | ((uint64_t)(vaddr) & 0xffffffffffffull))
#define PROFILE_KEY_MODULE(key)       ((uint32_t)((key) >> 48))
#define PROFILE_KEY_VADDR(key)        ((key) & 0xffffffffffffull)
/* Module 0: no module contained the address, and the vaddr is absolute. */

#define PROFILE_LOCK_KEY(kind, wait_id) (((uint64_t)(kind) << 56) | ((uint64_t)(wait_id) & 0xffffffffffffffull))
#define PROFILE_LOCK_KEY_KIND(key)      ((uint32_t)((key) >> 56))
#define PROFILE_LOCK_KEY_ID(key)        ((key) & 0xffffffffffffffull)

/* A wait place: the kind of wait and a PROFILE_KEY of the call, with 12 bits for the module id; 0: unknown.
 * At the end of a region, the call is the one that began the region. If a wait's own call is unknown, the
 * region's call takes its place, and the kind has the flag REGIONS. */
#define PROFILE_PLACE_KEY(kind, key)  (((uint64_t)(kind) << 60) | ((key) & 0x0fffffffffffffffull))
#define PROFILE_PLACE_KIND(key)       ((uint32_t)((key) >> 60) & 7u)
#define PROFILE_PLACE_IS_REGIONS(key) ((uint32_t)((key) >> 63))
#define PROFILE_PLACE_CALL(key)       ((key) & 0x0fffffffffffffffull)
#define PROFILE_PLACE_MODULES         4096u
#define PROFILE_PLACE_REGIONS         8u /* flag added to the kind */

enum profile_place_kind {
    PROFILE_PLACE_UNKNOWN = 0,
    PROFILE_PLACE_BARRIER = 1,    /* explicit, or of a kind that the runtime does not report */
    PROFILE_PLACE_WORKSHARE = 2,  /* the barrier at the end of for, sections, single */
    PROFILE_PLACE_REGION_END = 3, /* the barrier at the end of a parallel region */
    PROFILE_PLACE_TASKWAIT = 4,
    PROFILE_PLACE_TASKGROUP = 5,
    PROFILE_PLACE_REDUCTION = 6,
    PROFILE_PLACE_KINDS
};

/* A call in which other ranks wait: enum mpi_function, and a PROFILE_KEY of the calling address, with 12 bits
 * for the module and 44 for the address; 0: unknown, or not in this process's program. */
#define PROFILE_RANKS_KEY(function, key)                                                                               \
    ((uint64_t)(function) << 56 | ((key) >> 48 & 0xfffull) << 44 | ((key) & 0xfffffffffffull))
#define PROFILE_RANKS_FUNCTION(key) ((uint32_t)((key) >> 56))
#define PROFILE_RANKS_CALL(key)     PROFILE_KEY((key) >> 44 & 0xfffull, (key) & 0xfffffffffffull)

enum profile_lock_kind {
    PROFILE_LOCK_UNKNOWN = 0,
    PROFILE_LOCK_LOCK = 1,
    PROFILE_LOCK_NEST_LOCK = 2,
    PROFILE_LOCK_CRITICAL = 3,
    PROFILE_LOCK_ATOMIC = 4,
    PROFILE_LOCK_ORDERED = 5,
};

struct profile_node {
    uint64_t key;
    uint32_t parent;       /* node_idx; 0 for roots */
    uint32_t first_child;  /* for the writer; readers rebuild children from parent */
    uint32_t next_sibling; /* the same */
    uint32_t hash_next;    /* the same */
    uint32_t metric;       /* unit index (like node_idx) of its struct profile_metric; 0: none */
    uint8_t kind;          /* enum profile_node_kind */
    uint8_t marks;         /* for the writer: TREE_MARK_ (cct/tree.h) */
    uint8_t pending;       /* for the writer: 1 below a REGION */
    uint8_t joined;        /* for the writer: tree_graft() gave its contents to its parent's counterpart */
};

/* In a merged file, a bit for each thread with busy time at the node, in first_child and next_sibling. */
#define PROFILE_NODE_THREADS(node) ((uint64_t)(node)->next_sibling << 32 | (node)->first_child)

#endif
