/* Trees in the measurement file (cct/profile_format.h): the kinds of nodes and their keys.
 * cct/profile_metrics.h defines the records that hold a node's measurements. */
#ifndef BLAME_CCT_PROFILE_TREE_H
#define BLAME_CCT_PROFILE_TREE_H

#include <stdint.h>

/* What a node stands for. The kind determines the meaning of `key`. A key that is an address has the form
 * PROFILE_KEY (module and link-time address). */
enum profile_node_kind {
    PROFILE_NODE_FREE = 0, /* a recycled node; readers skip it */
    /* parent 0: root of the tree; contexts with a known path to the program's entry are below it */
    PROFILE_NODE_ROOT = 1,
    /* parent 0: root of the trie, in which each region context is stored once; no metrics; readers skip it */
    PROFILE_NODE_TRIE = 2,
    /* parent 0: a placeholder, below which are the contexts in a region whose own context is unknown; key:
     * address of the fork call, or 0 */
    PROFILE_NODE_REGION = 3,
    /* user code; key: an address inside the instruction (in a caller: return address - 1) */
    PROFILE_NODE_FRAME = 4,
    /* inside the OpenMP runtime; key: an address in the runtime's function that user code called */
    PROFILE_NODE_RUNTIME = 5,
    /* the part of its parent's metrics that concerns one lock; key: PROFILE_LOCK_KEY */
    PROFILE_NODE_LOCK = 6,
    PROFILE_NODE_PSEUDO = 7, /* key: enum profile_pseudo */
    PROFILE_NODE_SITE = 8,   /* only in tries: the frame that created a task; key as for FRAME */
    /* the part of its parent's shared_idle during which the idle threads waited in one place; key:
     * PROFILE_PLACE_KEY; metric: struct profile_idle */
    PROFILE_NODE_WAITERS = 9,
    /* The next three kinds describe a lock, independently of contexts, and are below the root. A tree has one
     * WAITS node for each lock that one of its threads waited for. */
    /* key: PROFILE_LOCK_KEY; metric: struct profile_waits, for the lock's waits whose initialising call is
     * unknown */
    PROFILE_NODE_WAITS = 10,
    /* below WAITS; key: an address in the call that initialised the lock; metric: struct profile_waits */
    PROFILE_NODE_INITIALISER = 11,
    PROFILE_NODE_VARIABLE = 12, /* below WAITS; key: address of a critical section's variable; no metric */
    /* Phases, events and parameters, which the program declares by include/blame.h. Like FRAME nodes they are
     * rows and may occur in tries. Below them is the code inside them, beginning with the frame that began
     * them. Key: number of a struct profile_name. */
    PROFILE_NODE_PHASE = 13,
    PROFILE_NODE_EVENT = 14,
    PROFILE_NODE_PARAMETER = 15,
    /* below PHASE: one execution; key: the execution's number, or PROFILE_INSTANCE_REST */
    PROFILE_NODE_INSTANCE = 16,
    /* below PHASE, EVENT, PARAMETER or INSTANCE: exact times, measured by the clock; key: 0; metric: struct
     * profile_probe; no row */
    PROFILE_NODE_PROBE = 17,
    /* event counts of its parent; key: 0; metric: struct profile_counters; no row. Counts below a PROBE are
     * exact, other counts were taken at samples. */
    PROFILE_NODE_COUNTERS = 18,
    /* an MPI call that can wait for other ranks; key: enum mpi_function (base/mpi_calls.h). Three fields have
     * another meaning here: `work` is MPI wait; `overhead` is the sum of communicator sizes and
     * `lock_wait_here` the sum of bytes, over the `waits` calls that were sampled. */
    PROFILE_NODE_MPI = 19,
    /* waiting of other ranks in MPI, by the call in which they waited; key: PROFILE_RANKS_KEY; metric: struct
     * profile_ranks; no row. Key 0 below an MPI node: this rank's own waiting in that call. */
    PROFILE_NODE_RANKS = 20,
    /* in a merged job: how one of its parent's times differs between ranks; key: PROFILE_SPREAD_KEY; metric:
     * struct profile_spread; no row */
    PROFILE_NODE_SPREAD = 22,
    /* in a merged job: waiting in collective calls, charged to ranks by comparing the sums of all ranks; key
     * and metric: command/profile/balance_record.h; no row */
    PROFILE_NODE_BALANCE = 23,
    /* below a context: the context's own time and the blame on the context, in bins of time; key: 0; metric:
     * struct profile_few_bins or struct profile_bins; no row */
    PROFILE_NODE_TIME = 24,
    /* below the root: states of the tree's threads, in bins of time; key: 0; metric: struct profile_lane; no
     * row */
    PROFILE_NODE_LANE = 25,
    /* a node that the trace names, whose contents were moved to the node with index `key`; no row */
    PROFILE_NODE_MOVED = 26,
    /* Below the trie, 27 was the kind of phases that overlap without nesting, until 28 November 2026. */
    /* below PSEUDO: the line at which another thread held what the sampled thread waited for; key as for
     * FRAME */
    PROFILE_NODE_HOLDER = 28,
    /* below a context: cores that nothing used meanwhile; key: 0; metric: struct profile_cores; no row */
    PROFILE_NODE_CORES = 29,
    /* below a context: waiting there that another thread ended; key: PROFILE_WAKE_KEY, with the index of the node in whose
     * context that thread was; metric: struct profile_woken; no row */
    PROFILE_NODE_WOKEN = 30,
    /* below the root: the variances of the tree's sums; below a context: what its stays add to its variances, no row of its
     * own; key: number of the record; metric: struct profile_neighbours */
    PROFILE_NODE_NEIGHBOURS = 31,
};

/* What a thread waited for until another thread woke it. */
enum profile_wake {
    PROFILE_WAKE_UNKNOWN = 0,
    PROFILE_WAKE_CONDITION = 1, /* a condition variable */
    PROFILE_WAKE_SEMAPHORE = 2,
    PROFILE_WAKE_BARRIER = 3, /* of POSIX threads */
    PROFILE_WAKE_END = 4,     /* the end of a thread */
    PROFILE_WAKE_FUTEX = 5,   /* a word, by system calls of the program's own */
    PROFILE_WAKE_ONCE = 6,    /* an initialisation that happens once */
    PROFILE_WAKES
};

#define PROFILE_WAKE_KEY(wake, id) ((uint64_t)(wake) << 56 | (id))
#define PROFILE_WAKE_KIND(key)     ((uint32_t)((key) >> 56))
#define PROFILE_WAKE_ID(key)       ((key) & ((1ull << 56) - 1))

/* key for all executions of a phase after the first BLAME_PHASE_INSTANCES */
#define PROFILE_INSTANCE_REST (1ull << 63)

enum profile_pseudo {
    PROFILE_PSEUDO_BEFORE_START = 1, /* <before OpenMP start> */
    /* <unreleased lock>: blame for waiting on a lock that was never released */
    PROFILE_PSEUDO_UNRELEASED = 2,
    /* <truncated>: parent of call paths whose outer frames could not be found */
    PROFILE_PSEUDO_TRUNCATED = 3,
    PROFILE_PSEUDO_UNRESOLVED = 4, /* <unresolved>: contexts in a region whose own context is unknown */
    /* <region end>, of kind RUNTIME: forking and joining, when no user frame is on the stack */
    PROFILE_PSEUDO_BARRIER = 5,
    PROFILE_PSEUDO_HANDOFF = 6, /* <lock handoff>: waiting for a lock that no thread held */
    /* <lock table full>: blame for a lock that found no room in the table of contended locks */
    PROFILE_PSEUDO_TABLE_FULL = 7,
    PROFILE_PSEUDO_HELPER = 8, /* <hidden helper>: target tasks on helper threads, which belong to no region */
    /* Below a context: time in which the context's thread was ready to run but had no core. `work` is that
     * time; inverse_busy and shared_idle describe other threads' idleness blamed on it. */
    PROFILE_PSEUDO_NO_CORE = 9, /* <no core> */
    /* Below a context: time in which the context's thread slept outside OpenMP's waits, stored in `work`. The
     * parent's row shows it as blocked; the node has no row of its own. */
    PROFILE_PSEUDO_BLOCKED = 10,
    /* <untold wait>: the runtime waited in a loop, and no OMPT event reported it */
    PROFILE_PSEUDO_UNTOLD_WAIT = 11,
    /* <nobody at work>, below the root: other ranks waited for this rank while all its threads were idle */
    PROFILE_PSEUDO_NOBODY = 12,
    /* <stopped>, below the root: like BLOCKED, while a signal or a debugger had stopped the whole process */
    PROFILE_PSEUDO_STOPPED = 13,
    /* <waiting for the interpreter's lock>: Python's lock. A HOLDER below it names the line that held the
     * lock, if known. */
    PROFILE_PSEUDO_INTERPRETER_LOCK = 14,
    /* <fiber>, directly below a region's context: code on a stack that the program allocated. The frame of
     * the region's function is on the thread's own stack and is missing from the path. If that function is
     * known, the row has the function's name instead. */
    PROFILE_PSEUDO_FIBER = 15,
    /* <tree full>: calls below its parent for which the tree could take no more nodes (cct/tree.h) */
    PROFILE_PSEUDO_TREE_FULL = 16,
    /* <no thread ran>, below the root: all threads of a program without a team slept. Has a CORES node. */
    PROFILE_PSEUDO_NO_THREAD_RAN = 17,
    /* <spinning>: the thread waited in a loop of the program or of a library, with a core or without. Has a BLOCKED
     * node. */
    PROFILE_PSEUDO_SPINNING = 18,
};

#define PROFILE_KEY(module_id, vaddr) (((uint64_t)(module_id) << 48) | ((uint64_t)(vaddr) & 0xffffffffffffull))
#define PROFILE_KEY_MODULE(key)       ((uint32_t)((key) >> 48))
#define PROFILE_KEY_VADDR(key)        ((key) & 0xffffffffffffull)
/* If the module is 0, no module contained the address, and vaddr is the run-time address. */

#define PROFILE_LOCK_KEY(kind, wait_id) (((uint64_t)(kind) << 56) | ((uint64_t)(wait_id) & 0xffffffffffffffull))
#define PROFILE_LOCK_KEY_KIND(key)      ((uint32_t)((key) >> 56))
#define PROFILE_LOCK_KEY_ID(key)        ((key) & 0xffffffffffffffull)

/* A wait place: the kind of wait, and a PROFILE_KEY (with 12 bits for the module id) of the call that waits;
 * 0: unknown. For the barrier at the end of a region, the call is the fork call. If a wait's own call is
 * unknown, the fork call of its region is used, and the kind has the flag REGIONS. */
#define PROFILE_PLACE_KEY(kind, key)  (((uint64_t)(kind) << 60) | ((key) & 0x0fffffffffffffffull))
#define PROFILE_PLACE_KIND(key)       ((uint32_t)((key) >> 60) & 7u)
#define PROFILE_PLACE_IS_REGIONS(key) ((uint32_t)((key) >> 63))
#define PROFILE_PLACE_CALL(key)       ((key) & 0x0fffffffffffffffull)
#define PROFILE_PLACE_MODULES         4096u
/* flag in the kind of a wait place: the key is the region's fork call, not the call that waits */
#define PROFILE_PLACE_REGIONS 8u

enum profile_place_kind {
    PROFILE_PLACE_UNKNOWN = 0,
    PROFILE_PLACE_BARRIER = 1,    /* an explicit barrier, or a barrier of unknown kind */
    PROFILE_PLACE_WORKSHARE = 2,  /* the barrier at the end of for, sections or single */
    PROFILE_PLACE_REGION_END = 3, /* the barrier at the end of a parallel region */
    PROFILE_PLACE_TASKWAIT = 4,
    PROFILE_PLACE_TASKGROUP = 5,
    PROFILE_PLACE_REDUCTION = 6,
    PROFILE_PLACE_KINDS
};

/* An MPI call in which other ranks wait: enum mpi_function, and a PROFILE_KEY of the calling address, with 12
 * bits for the module and 44 for the address. The PROFILE_KEY is 0 if the address is unknown or in a module
 * that this process has not loaded. */
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
    /* locks of POSIX threads and C11 */
    PROFILE_LOCK_MUTEX = 6,
    PROFILE_LOCK_RWLOCK = 7,
    PROFILE_LOCK_SPIN = 8,
    PROFILE_LOCK_WORD = 14, /* a library's own lock; 9 to 13 are others' with DIRECTED_NO_CORE */
};

struct profile_node {
    uint64_t key;
    uint32_t parent;       /* node_idx of the parent; 0 for roots */
    uint32_t first_child;  /* used only by the writer; readers rebuild the lists of children from `parent` */
    uint32_t next_sibling; /* used only by the writer */
    uint32_t hash_next;    /* used only by the writer */
    uint32_t metric;       /* unit index of the node's metric record; 0: none */
    uint8_t kind;          /* enum profile_node_kind */
    uint8_t marks;         /* used only by the writer: TREE_MARK_ flags (cct/tree.h) */
    uint8_t pending;       /* used only by the writer: 1 in a REGION node and in all nodes below it */
    /* used only by the writer: 1 if tree_graft() moved the contents to the counterpart of the node's parent,
     * because the tree was full */
    uint8_t joined;
};

/* In a merged file, first_child and next_sibling of a node form a set of threads, one bit each: those with
 * busy time at the node. */
#define PROFILE_NODE_THREADS(node) ((uint64_t)(node)->next_sibling << 32 | (node)->first_child)

#endif
