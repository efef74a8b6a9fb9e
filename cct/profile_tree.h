/* Trees in the measurement file (cct/profile_format.h): what a node stands for, and how its key is made. What was
 * measured there: cct/profile_metrics.h. */
#ifndef BLAME_CCT_PROFILE_TREE_H
#define BLAME_CCT_PROFILE_TREE_H

#include <stdint.h>

/* What a node stands for. `key` depends on it; an address key is a PROFILE_KEY (module and link-time address). */
enum profile_node_kind {
    PROFILE_NODE_FREE = 0,    /* recycled, to be skipped */
    PROFILE_NODE_ROOT = 1,    /* parent 0: the tree's resolved contexts, from the program's root on */
    PROFILE_NODE_TRIE = 2,    /* parent 0: region contexts are interned below; carries no metrics, skip */
    PROFILE_NODE_REGION = 3,  /* parent 0: contexts of a region not resolved yet; key: the fork call's address, or 0 */
    PROFILE_NODE_FRAME = 4,   /* user code; key: address inside the instruction (for callers: return address - 1) */
    PROFILE_NODE_RUNTIME = 5, /* inside the OpenMP runtime; key: address in the entry that user code called */
    PROFILE_NODE_LOCK = 6,    /* lock metrics of its parent, by lock; key: PROFILE_LOCK_KEY */
    PROFILE_NODE_PSEUDO = 7,  /* key: enum profile_pseudo */
    PROFILE_NODE_SITE = 8,    /* in tries only: the frame in which a task was created; key as FRAME's */
    PROFILE_NODE_WAITERS = 9, /* idleness of its parent, by where the idle threads waited; key:
                                 PROFILE_PLACE_KEY; metric: struct profile_idle, its shared_idle is a part of its parent's */
    /* What is known of a lock itself, below the root, one for each lock that this tree's thread waited for. */
    PROFILE_NODE_WAITS = 10, /* key: PROFILE_LOCK_KEY; metric: struct profile_waits, no initialiser known */
    PROFILE_NODE_INITIALISER =
        11, /* below WAITS; key: address in the call that had initialised the lock; metric: struct profile_waits */
    PROFILE_NODE_VARIABLE = 12, /* below WAITS; key: the variable of a critical section; no metric */
    /* What the program says of itself (include/blame.h), in tries too: rows like FRAME. The code inside hangs
     * below, from the frame that began it inward. Key of the first three: number of a struct profile_name. */
    PROFILE_NODE_PHASE = 13,
    PROFILE_NODE_EVENT = 14,
    PROFILE_NODE_PARAMETER = 15,
    PROFILE_NODE_INSTANCE = 16, /* below PHASE: one execution; key: its number, or PROFILE_INSTANCE_REST */
    PROFILE_NODE_PROBE =
        17, /* below one of these four: what was measured of it, by this tree's threads; key: 0; metric: struct profile_probe; no row */
    PROFILE_NODE_COUNTERS = 18, /* counters of its parent, PROFILE_COUNTERS of them; key: 0; metric: struct
                                   profile_counters; no row. Below a PROBE: counted, else: at samples */
    PROFILE_NODE_MPI =
        19, /* a call of MPI's that may wait for other ranks; key: enum mpi_function (base/mpi_calls.h). Its `work` is that time: mpi wait,
                              no work. `overhead` and `lock_wait_here` are sizes of communicators and bytes, added up over `waits` calls that samples hit */
    PROFILE_NODE_RANKS =
        20, /* other ranks' waiting in MPI, by the call that they waited in; key: PROFILE_RANKS_KEY; metric: struct
                                profile_ranks; no row. Below an MPI node, with key 0: of the call itself */
    PROFILE_NODE_SPREAD =
        22, /* of a job that was merged: how a time of its parent differs between ranks; key: PROFILE_SPREAD_KEY; metric: struct
                                 profile_spread; no row */
    PROFILE_NODE_BALANCE =
        23, /* of a job that was merged: waiting in collective calls as the ranks' sums charge it; key and metric:
                                  command/profile/balance_record.h; no row */
    PROFILE_NODE_TIME =
        24, /* below a context: its own time and the blame laid on it, by when; key: 0; metric: struct profile_moments or struct
                               profile_bins; no row */
    PROFILE_NODE_LANE =
        25, /* below the root: the states of the tree's threads, by when; key: 0; metric: struct profile_lane; no row */
    PROFILE_NODE_MOVED = 26, /* the trace names it: what was its is of the node with the index `key`; no row */
    /* 27, below the trie: phases laid over one another, of blame until 28 November 2026 */
    PROFILE_NODE_HOLDER =
        28, /* below PSEUDO: the line of another thread's that had what this one waited for; key as FRAME's */
};

#define PROFILE_INSTANCE_REST (1ull << 63) /* all instances beyond BLAME_PHASE_INSTANCES */

enum profile_pseudo {
    PROFILE_PSEUDO_BEFORE_START = 1, /* <before OpenMP start> */
    PROFILE_PSEUDO_UNRELEASED = 2,   /* <unreleased lock>: blame on a lock that nobody released */
    PROFILE_PSEUDO_TRUNCATED = 3,    /* <truncated>: the outer part of the path is missing above this row */
    PROFILE_PSEUDO_UNRESOLVED = 4,   /* <unresolved>: the context of the region is not known */
    PROFILE_PSEUDO_BARRIER = 5,      /* kind runtime, <region end>: forking and joining, no user frame on the stack */
    PROFILE_PSEUDO_HANDOFF = 6,      /* <lock handoff>: waiting while nobody held the lock */
    PROFILE_PSEUDO_TABLE_FULL = 7,   /* <lock table full>: blame that had no room in the table of contended locks */
    PROFILE_PSEUDO_HELPER = 8,       /* <hidden helper>: target tasks, on threads that know no region */
    /* Below the context whose thread was ready to run and had no core: work is that time, inverse_busy and shared_idle others' idleness blamed on it. */
    PROFILE_PSEUDO_NO_CORE = 9, /* <no core> */
    /* Below the context whose thread slept of its own will, outside OpenMP's waits: all of it is its parent's, work as blocked; no row. */
    PROFILE_PSEUDO_BLOCKED = 10,
    PROFILE_PSEUDO_UNTOLD_WAIT = 11, /* <untold wait>: the runtime waited in a loop, and told nothing of it */
    PROFILE_PSEUDO_NOBODY =
        12, /* <nobody at work>, below the root: other ranks waited for this one, whose threads all idled */
    PROFILE_PSEUDO_STOPPED =
        13, /* <stopped>, below the root: as BLOCKED, while the whole process was, by a signal or a debugger */
    PROFILE_PSEUDO_INTERPRETER_LOCK =
        14, /* <waiting for the interpreter's lock>, Python's; below it a HOLDER, if one was found */
    /* Directly below a region's context: code on a stack that the program made (a fiber). The region's function is on the thread's own. */
    PROFILE_PSEUDO_FIBER = 15, /* <fiber>, where the region's function is not known; else that is the row */
    PROFILE_PSEUDO_TREE_FULL =
        16, /* <tree full>: calls of its parent for which the tree had no node left (cct/tree.h) */
};

#define PROFILE_KEY(module_id, vaddr) (((uint64_t)(module_id) << 48) | ((uint64_t)(vaddr) & 0xffffffffffffull))
#define PROFILE_KEY_MODULE(key)       ((uint32_t)((key) >> 48))
#define PROFILE_KEY_VADDR(key)        ((key) & 0xffffffffffffull)
/* Module 0: no module was there; the vaddr is the absolute address. */

#define PROFILE_LOCK_KEY(kind, wait_id) (((uint64_t)(kind) << 56) | ((uint64_t)(wait_id) & 0xffffffffffffffull))
#define PROFILE_LOCK_KEY_KIND(key)      ((uint32_t)((key) >> 56))
#define PROFILE_LOCK_KEY_ID(key)        ((key) & 0xffffffffffffffull)

/* A place where threads wait: what kind of wait, and a PROFILE_KEY of the call, whose module id has 12 bits
 * here; 0: not known. The end of a region has the call that began it. So has, marked as REGIONS, any other wait
 * whose own call is not known. */
#define PROFILE_PLACE_KEY(kind, key)  (((uint64_t)(kind) << 60) | ((key) & 0x0fffffffffffffffull))
#define PROFILE_PLACE_KIND(key)       ((uint32_t)((key) >> 60) & 7u)
#define PROFILE_PLACE_IS_REGIONS(key) ((uint32_t)((key) >> 63))
#define PROFILE_PLACE_CALL(key)       ((key) & 0x0fffffffffffffffull)
#define PROFILE_PLACE_MODULES         4096u
#define PROFILE_PLACE_REGIONS         8u /* or'ed to the kind */

enum profile_place_kind {
    PROFILE_PLACE_UNKNOWN = 0,
    PROFILE_PLACE_BARRIER = 1,    /* explicit, or of a kind that the runtime does not tell */
    PROFILE_PLACE_WORKSHARE = 2,  /* the barrier at the end of for, sections, single */
    PROFILE_PLACE_REGION_END = 3, /* the barrier at the end of a parallel region */
    PROFILE_PLACE_TASKWAIT = 4,
    PROFILE_PLACE_TASKGROUP = 5,
    PROFILE_PLACE_REDUCTION = 6,
    PROFILE_PLACE_KINDS
};

/* A call in which other ranks wait: enum mpi_function, and a PROFILE_KEY of the place that calls it, with 12 bits for the module and 44 for the
 * address; 0: not known, or not in this process's program. */
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
    uint32_t metric;       /* unit index (as node_idx) of its struct profile_metric, 0 = none */
    uint8_t kind;          /* enum profile_node_kind */
    uint8_t marks;         /* for the writer: TREE_MARK_ (cct/tree.h) */
    uint8_t pending;       /* for the writer: 1 below a REGION */
    uint8_t joined;        /* for the writer: tree_graft() gave what it had to its parent's counterpart */
};

/* A bit for each thread with busy time at a node, in a file that was merged: in first_child and next_sibling. */
#define PROFILE_NODE_THREADS(node) ((uint64_t)(node)->next_sibling << 32 | (node)->first_child)

#endif
