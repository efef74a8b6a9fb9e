/* The measurement file (*.blame): the arena that threads write while the program runs, and that every reader
 * reads. docs/format.md describes it in prose.
 *
 * Layout: one header of PROFILE_HEADER_BYTES, then chunks of PROFILE_CHUNK_BYTES each. A chunk has one kind
 * and one owner; only the owner writes to it. Everything is little-endian and naturally aligned. The file is
 * a valid profile at any instant: a record is complete before the count that covers it is raised.
 *
 * A node's index is its unit number counted over the whole file's chunks:
 *     node_idx = chunk_no * PROFILE_UNITS_PER_CHUNK + unit        (unit 0 of a chunk is its header, so 0 =
 * none) */
#ifndef BLAME_CCT_PROFILE_FORMAT_H
#define BLAME_CCT_PROFILE_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/module_flags.h"
#include "cct/profile_time.h"
#include "cct/profile_trace.h"

#define PROFILE_MAGIC           "BLAMEPRF"
#define PROFILE_VERSION         1u
#define PROFILE_BYTE_ORDER      0x01020304u
#define PROFILE_HEADER_BYTES    4096u
#define PROFILE_CHUNK_BYTES     32768u
#define PROFILE_UNIT_BYTES      32u
#define PROFILE_UNITS_PER_CHUNK (PROFILE_CHUNK_BYTES / PROFILE_UNIT_BYTES)
#define PROFILE_MAX_CHUNKS      131072u

enum profile_chunk_kind {
    PROFILE_CHUNK_FREE = 0,
    PROFILE_CHUNK_TREE = 1, /* nodes grow upward from unit 1, metrics (2 units each) downward from the end */
    PROFILE_CHUNK_THREAD = 2, /* struct profile_thread[], from byte PROFILE_THREAD_BYTES on */
    PROFILE_CHUNK_MODULE = 3, /* struct profile_module[], from byte PROFILE_MODULE_BYTES on */
    PROFILE_CHUNK_TEXT = 4,   /* "key\0value\0" pairs, from byte PROFILE_UNIT_BYTES on: see docs/format.md */
    PROFILE_CHUNK_NAME = 5,   /* struct profile_name[], from byte PROFILE_NAME_BYTES on */
    PROFILE_CHUNK_RANK = 6, /* struct profile_rank[], from byte PROFILE_RANK_BYTES on: of a job that was merged */
    PROFILE_CHUNK_TIME = 7, /* struct profile_lane and struct profile_bins of one tree, in units from unit 1 on */
    PROFILE_CHUNK_TRACE = 8, /* what each sample found; its header is struct profile_trace_chunk */
    PROFILE_CHUNK_FOLD = 9,  /* struct profile_fold[], from byte PROFILE_FOLD_BYTES on */
};

struct profile_chunk {
    uint32_t kind;
    uint32_t owner;       /* tree, time and trace chunks: number of the tree; others 0 */
    uint32_t used;        /* tree, time: first unused unit from below; thread, module: records; text: bytes used */
    uint32_t metric_unit; /* tree: lowest unit taken by a metric record, PROFILE_UNITS_PER_CHUNK when none */
    uint32_t reserved[4];
};

/* What a node stands for. `key` depends on it; an address key is a PROFILE_KEY (module and link-time address). */
enum profile_node_kind {
    PROFILE_NODE_FREE = 0, /* recycled, to be skipped */
    PROFILE_NODE_ROOT = 1, /* parent 0: the tree's resolved contexts, from the program's root on */
    PROFILE_NODE_TRIE = 2, /* parent 0: region contexts are interned below; carries no metrics, skip */
    PROFILE_NODE_REGION = 3, /* parent 0: contexts of a region not resolved yet; key: the fork call's address, or 0 */
    PROFILE_NODE_FRAME = 4, /* user code; key: address inside the instruction (for callers: return address - 1) */
    PROFILE_NODE_RUNTIME = 5, /* inside the OpenMP runtime; key: address in the entry that user code called */
    PROFILE_NODE_LOCK = 6,    /* lock metrics of its parent, by lock; key: PROFILE_LOCK_KEY */
    PROFILE_NODE_PSEUDO = 7,  /* key: enum profile_pseudo */
    PROFILE_NODE_SITE = 8,    /* in tries only: the frame in which a task was created; key as FRAME's */
    PROFILE_NODE_WAITERS = 9, /* idleness of its parent, by where the idle threads waited; key:
                                 PROFILE_PLACE_KEY; metric: struct profile_idle, its shared_idle is a part of its parent's */
    /* What is known of a lock itself, below the root, one for each lock that this tree's thread waited for. */
    PROFILE_NODE_WAITS = 10, /* key: PROFILE_LOCK_KEY; metric: struct profile_waits, no initialiser known */
    PROFILE_NODE_INITIALISER = 11, /* below WAITS; key: address in the call that had initialised the lock; metric: struct profile_waits */
    PROFILE_NODE_VARIABLE = 12,    /* below WAITS; key: the variable of a critical section; no metric */
    /* What the program says of itself (include/blame.h), in tries too: rows like FRAME. The code inside hangs
     * below, from the frame that began it inward. Key of the first three: number of a struct profile_name. */
    PROFILE_NODE_PHASE = 13,
    PROFILE_NODE_EVENT = 14,
    PROFILE_NODE_PARAMETER = 15,
    PROFILE_NODE_INSTANCE = 16, /* below PHASE: one execution; key: its number, or PROFILE_INSTANCE_REST */
    PROFILE_NODE_PROBE = 17,    /* below one of these four: what was measured of it, by this tree's threads; key: 0; metric: struct profile_probe; no row */
    PROFILE_NODE_COUNTERS = 18, /* counters of its parent, PROFILE_COUNTERS of them; key: 0; metric: struct
                                   profile_counters; no row. Below a PROBE: counted, else: at samples */
    PROFILE_NODE_MPI = 19, /* a call of MPI's that may wait for other ranks; key: enum mpi_function (base/mpi_calls.h). Its `work` is that time: mpi wait,
                              no work. `overhead` and `lock_wait_here` are sizes of communicators and bytes, added up over `waits` calls that samples hit */
    PROFILE_NODE_RANKS = 20, /* other ranks' waiting in MPI, by the call that they waited in; key: PROFILE_RANKS_KEY; metric: struct
                                profile_ranks; no row. Below an MPI node, with key 0: of the call itself */
    PROFILE_NODE_SPREAD = 22, /* of a job that was merged: how a time of its parent differs between ranks; key: PROFILE_SPREAD_KEY; metric: struct
                                 profile_spread; no row */
    PROFILE_NODE_BALANCE = 23, /* of a job that was merged: waiting in collective calls as the ranks' sums charge it; key and metric:
                                  report/profile/balance_record.h; no row */
    PROFILE_NODE_TIME = 24, /* below a context: its own time and the blame laid on it, by when; key: 0; metric: struct profile_moments or struct
                               profile_bins; no row */
    PROFILE_NODE_LANE = 25, /* below the root: the states of the tree's threads, by when; key: 0; metric: struct profile_lane; no row */
    PROFILE_NODE_MOVED = 26, /* the trace names it: what was its is of the node with the index `key`; no row */
    PROFILE_NODE_FOLD = 27, /* below the trie: a numbered phase, its instances laid over one another; key: PROFILE_FOLD_KEY (cct/profile_time.h) */
    PROFILE_NODE_HOLDER = 28, /* below PSEUDO: the line of another thread's that had what this one waited for; key as FRAME's */
};

/* Which time of a context's: of the context itself, or of the frames below it, that is of the function called there; its own, or with what
 * it calls. Contexts that are no frames have both, frames the latter. */
enum profile_spread_metric {
    PROFILE_SPREAD_TIME = 0, /* of threads in any state but idle: work, overhead, lock wait here, no core, blocked, mpi wait */
    PROFILE_SPREAD_WORK = 1,
    PROFILE_SPREAD_MPI_WAIT = 2,
    PROFILE_SPREAD_METRICS = 3
};
#define PROFILE_SPREAD_EXCLUSIVE 4u
#define PROFILE_SPREAD_CALLEE    8u
#define PROFILE_SPREAD_KEYS      16u
#define PROFILE_SPREAD_KEY(metric, exclusive, callee)                                                        \
    ((uint32_t)(metric) | ((exclusive) ? PROFILE_SPREAD_EXCLUSIVE : 0) | ((callee) ? PROFILE_SPREAD_CALLEE : 0))

#define PROFILE_INSTANCE_REST (1ull << 63) /* all instances beyond BLAME_PHASE_INSTANCES */

enum profile_pseudo {
    PROFILE_PSEUDO_BEFORE_START = 1, /* <before OpenMP start> */
    PROFILE_PSEUDO_UNRELEASED = 2,   /* <unreleased lock>: blame on a lock that nobody released */
    PROFILE_PSEUDO_TRUNCATED = 3,    /* <truncated>: the outer part of the path is missing above this row */
    PROFILE_PSEUDO_UNRESOLVED = 4,   /* <unresolved>: the context of the region is not known */
    PROFILE_PSEUDO_BARRIER = 5, /* kind runtime, <region end>: forking and joining, no user frame on the stack */
    PROFILE_PSEUDO_HANDOFF = 6, /* <lock handoff>: waiting while nobody held the lock */
    PROFILE_PSEUDO_TABLE_FULL = 7, /* <lock table full>: blame that had no room in the table of contended locks */
    PROFILE_PSEUDO_HELPER = 8, /* <hidden helper>: target tasks, on threads that know no region */
    /* Below the context whose thread was ready to run and had no core: work is that time, inverse_busy and shared_idle others' idleness blamed on it. */
    PROFILE_PSEUDO_NO_CORE = 9, /* <no core> */
    /* Below the context whose thread slept of its own will, outside OpenMP's waits: all of it is its parent's, work as blocked; no row. */
    PROFILE_PSEUDO_BLOCKED = 10,
    PROFILE_PSEUDO_UNTOLD_WAIT = 11, /* <untold wait>: the runtime waited in a loop, and told nothing of it */
    PROFILE_PSEUDO_NOBODY = 12, /* <nobody at work>, below the root: other ranks waited for this one, whose threads all idled */
    PROFILE_PSEUDO_STOPPED = 13, /* <stopped>, below the root: as BLOCKED, while the whole process was, by a signal or a debugger */
    PROFILE_PSEUDO_INTERPRETER_LOCK = 14, /* <waiting for the interpreter's lock>, Python's; below it a HOLDER, if one was found */
};

#define PROFILE_KEY(module_id, vaddr) (((uint64_t)(module_id) << 48) | ((uint64_t)(vaddr)&0xffffffffffffull))
#define PROFILE_KEY_MODULE(key)       ((uint32_t)((key) >> 48))
#define PROFILE_KEY_VADDR(key)        ((key)&0xffffffffffffull)
/* Module 0: no module was there; the vaddr is the absolute address. */

#define PROFILE_LOCK_KEY(kind, wait_id) (((uint64_t)(kind) << 56) | ((uint64_t)(wait_id)&0xffffffffffffffull))
#define PROFILE_LOCK_KEY_KIND(key)      ((uint32_t)((key) >> 56))
#define PROFILE_LOCK_KEY_ID(key)        ((key)&0xffffffffffffffull)

/* A place where threads wait: what kind of wait, and a PROFILE_KEY of the call, whose module id has 12 bits
 * here; 0: not known. The end of a region has the call that began it. So has, marked as REGIONS, any other wait
 * whose own call is not known. */
#define PROFILE_PLACE_KEY(kind, key)  (((uint64_t)(kind) << 60) | ((key)&0x0fffffffffffffffull))
#define PROFILE_PLACE_KIND(key)       ((uint32_t)((key) >> 60) & 7u)
#define PROFILE_PLACE_IS_REGIONS(key) ((uint32_t)((key) >> 63))
#define PROFILE_PLACE_CALL(key)       ((key)&0x0fffffffffffffffull)
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
#define PROFILE_RANKS_KEY(function, key)                                                                     \
    ((uint64_t)(function) << 56 | ((key) >> 48 & 0xfffull) << 44 | ((key)&0xfffffffffffull))
#define PROFILE_RANKS_FUNCTION(key) ((uint32_t)((key) >> 56))
#define PROFILE_RANKS_CALL(key)     PROFILE_KEY((key) >> 44 & 0xfffull, (key)&0xfffffffffffull)

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
    uint8_t reserved[2];
};

/* A bit for each thread with busy time at a node, in a file that was merged: in first_child and next_sibling. */
#define PROFILE_NODE_THREADS(node) ((uint64_t)(node)->next_sibling << 32 | (node)->first_child)

/* Exclusive sums of one node; times in nanoseconds (docs/accounting.md). The busy time `own` of LMF13 eq. 1
 * is work + overhead + lock_wait. */
struct profile_metric {
    uint64_t samples;      /* samples attributed here (a sample with overruns counts 1 + overruns) */
    double work;           /* p summed over samples in WORK */
    double overhead;       /* p summed over samples in OVERHEAD */
    double lock_wait;      /* directed blame received by this context as the lock's holder */
    double inverse_busy;   /* sum of p / b */
    double shared_idle;    /* sum of p (t_now / b - 1) */
    double lock_wait_here; /* p summed over LOCKWAIT samples of threads waiting in this context */
    uint32_t waits;        /* LOCK nodes: acquisitions here that at least one sample saw waiting */
    float idle_beside;     /* sum of p (t_now / b - 1)(1 - 1 / b), for idleness's error; 0: as if b was 1 */
};

/* In a metric's place at WAITERS nodes: idleness in nanoseconds, and parts of it by what the thread that was
 * sampled did meanwhile. */
struct profile_idle {
    uint64_t reserved;
    double loops;    /* it worked in a loop or sections of n pieces (iterations), N threads */
    double scarcity; /* the same times N / n */
    double dynamic;  /* the part of loops whose schedule is not static */
    double single;   /* it executed a single construct */
    double shared_idle; /* the whole, in the place of a metric's */
    double reserved_double;
    uint64_t reserved_last;
};

/* In a metric's place at WAITS and INITIALISER nodes: one thread's waits for one lock, as its samples saw
 * them. */
struct profile_waits {
    double sum_ns;
    double longest_ns;  /* most that one wait took */
    double last_ns;     /* of the last wait, so far */
    uint64_t last_wait; /* the thread's number of that wait */
    uint64_t waits;
    uint64_t searched; /* 1: the critical section's variable was looked for */
    uint64_t reserved[2];
};

/* In a metric's place at RANKS nodes, in nanoseconds. Of a busy context the first three, of a call the fourth. */
struct profile_ranks {
    double blame;  /* rank idleness: other ranks' waiting that this context is answerable for */
    double named;  /* the part of it whose waiters had said that they wait for this rank */
    double wall;   /* for how long somebody waited */
    double waited; /* the call waited so long while another rank of its node was busy, and blamed for it */
    double reserved[4];
};

/* In a metric's place at PROBE nodes: begin/end pairs, those that ended. Pauses are not part of it. */
struct profile_probe {
    uint64_t calls;
    double inclusive_ns;
    double exclusive_ns;      /* without what was begun inside, by the same thread */
    double shortest_ns;       /* of one call, inclusive */
    double longest_ns;
    double sum_of_squares;    /* of inclusive times, in ns^2 */
    uint64_t first_begin_ns;  /* on the clock of profile_header.start_ns */
    uint64_t last_end_ns;
};

/* In a metric's place at SPREAD nodes: one number of each rank's process that has it, more than 0; in nanoseconds. */
struct profile_spread {
    double mean, squares; /* squares: the sum of (value - mean)^2 */
    double least, most;
    uint32_t ranks; /* that have it */
    uint32_t least_rank, least_process, most_rank, most_process; /* whose they are, as in profile_header */
    uint32_t reserved[3];
};

#define PROFILE_COUNTERS 8u /* most of BLAME_COUNTERS */

/* In a metric's place at COUNTERS nodes: in the order of the file's text "counters". */
struct profile_counters {
    double value[PROFILE_COUNTERS];
};

/* Why a delivered sample was not recorded; names in profile_drop_name[] (report/profile/profile.c). */
enum profile_drop {
    PROFILE_DROP_IN_TOOL = 0,   /* the thread was inside the tool */
    PROFILE_DROP_NO_MEMORY = 1, /* no chunk for the tree: disk or memory full */
    PROFILE_DROP_STOPPING = 2,  /* due, and not there when measurement ended */
    PROFILE_DROP_NO_PATH = 3,   /* not even one frame could be had */
    PROFILE_DROP_OVERLOAD = 4,  /* handling takes longer than the sampling period: the program must get on */
    PROFILE_DROP_CUT_OFF = 5,   /* the process ended in the middle of the sample; found by the reader */
    PROFILE_DROP_PAUSED = 6,    /* the program had asked for a pause: omp_control_tool */
    PROFILE_DROP_FAULT = 7,     /* the handler itself made a fault */
    PROFILE_DROP_REASONS = 8
};

#define PROFILE_THREAD_BYTES 512u
enum profile_thread_kind {
    PROFILE_THREAD_UNUSED = 0,
    PROFILE_THREAD_INITIAL = 1,
    PROFILE_THREAD_WORKER = 2,
    PROFILE_THREAD_OTHER = 3,
    PROFILE_THREAD_HELPER = 4, /* the runtime's own, for target tasks: not one of the T threads */
};

/* One thread's own ledger. Times in nanoseconds; begin and end on the clock of profile_header.start_ns. */
struct profile_thread {
    uint32_t kind;
    int32_t tid;
    uint64_t begin_ns;
    uint64_t end_ns;    /* 0 while the thread runs; last_ns then bounds it from below */
    uint64_t last_ns;   /* time of the last sample */
    uint64_t delivered; /* samples delivered, overruns included */
    uint64_t recorded;  /* samples recorded, overruns included */
    uint64_t dropped[PROFILE_DROP_REASONS];
    double work, overhead, lock_wait; /* p summed by the state the sample hit (lock_wait: as waiter) */
    double idle;                      /* p summed over idle moments, parked time included */
    double parked;                    /* the part of idle between regions, in no team */
    double idle_nobody_busy;          /* the part of idle while no thread was busy: nobody to blame */
    uint64_t paths_truncated;         /* samples whose path ends in <truncated> */
    uint64_t unrestored_calls;        /* system calls that returned EINTR because of a sample */
    uint64_t timer_failed;            /* 1: no timer could be had, the thread's lifetime is not sampled */
    double dropped_ns;                /* p summed over dropped samples */
    uint64_t unwind_slow;             /* words read the unwinder's slow way: not on the thread's own stack */
    uint64_t frames;                  /* frames walked */
    uint64_t creation_walks;          /* task creations whose path had to be walked */
    uint64_t creations_lost; /* those whose context could not be had: the tasks hang below their region */
    uint64_t period_ns;      /* sampling period at last: longer than the header's with many threads */
    uint64_t recipes_read;   /* code addresses whose call frame information had to be read */
    uint64_t slow_steps[15]; /* frames that libunwind stepped over, by enum recipe_cause */
    double mpi_wait;         /* p summed over samples in calls of MPI's that may wait for other ranks; 0 in older files */
    uint64_t tree; /* number of the tree that its samples are in, which an earlier or later thread may have had,
                      too; 0: not known */
    double probed_exact;   /* time with at least one phase, event or parameter open, by the clock */
    double probed_sampled; /* the same by this thread's samples: p of those that came then, whatever became of them
                              (but not in a pause) */
    /* Units (as node_idx) of struct profile_counters, by enum profile_counters_sum; 0: nothing was counted. */
    uint32_t counters[4];
    uint64_t counters_failed; /* 1: they could not be had, or not any more */
    uint64_t decoded_steps;   /* frames without call frame information that their own code said how to leave */
    double unsignalled_ns; /* the program had blocked or taken the sampling signal, and no sample came */
    double no_core_ns; /* the thread was ready to run and had no core, by the kernel's count, while it was
                          measured; this and the next 0: that is not known */
    double on_core_ns; /* the same count of the time that it ran */
    double no_core; /* p summed over samples of the thread, busy, that found it without a core */
    double blocked; /* the same, asleep of its own will outside OpenMP's waits */
    double idle_no_core; /* the same of idle, lock_wait and mpi wait, of which it is a part; and its own wait for a core to take a sample */
    uint64_t core_source;  /* enum profile_core_source */
    uint64_t core_unasked; /* samples that came late, and whether for want of a core nobody could tell: they stand as work, or asleep */
    uint64_t only_core;    /* 1 + the one core that it might run on, at its end; 0: several, or not known */
    double stolen;         /* the part of no_core in which a hypervisor had the core: not in no_core_ns */
    uint64_t rank_record;  /* 1 + the number of its rank's record, in a file that was merged; 0: none */
};

/* How samples know whether their thread had a core. */
enum profile_core_source {
    PROFILE_CORE_NOT_TOLD = 0, /* nothing tells: work, overhead and waits include time without a core */
    PROFILE_CORE_SCHEDSTAT = 1, /* the kernel's count of the time without a core */
    PROFILE_CORE_CPU_CLOCK = 2, /* the thread's CPU time and its switches */
};

/* What a thread counted in all is what COUNTERS nodes below contexts have of it, and the two others. */
enum profile_counters_sum {
    PROFILE_COUNTERS_TOTAL = 0,
    PROFILE_COUNTERS_IDLE = 1, /* before samples that hit the thread while it was idle */
    PROFILE_COUNTERS_LOST = 2, /* before dropped samples, and after the last one */
};

#define PROFILE_MODULE_BYTES 1024u
/* Module id = 1 + its index over all module chunks in file order. */
struct profile_module {
    uint64_t load_bias; /* address = vaddr + load_bias, when last seen */
    uint64_t vaddr_low; /* link-time range of its loadable segments */
    uint64_t vaddr_high;
    uint32_t flags; /* enum profile_module_flag */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    char path[PROFILE_MODULE_BYTES - 64]; /* PROFILE_MODULE_PYTHON: the file's and, behind a 0, the function's name */
};

/* The name of a phase, event or parameter. Number = 1 + its index over all name chunks in file order. */
#define PROFILE_NAME_BYTES 256u
struct profile_name {
    uint32_t kind;      /* enum profile_node_kind: PHASE, EVENT or PARAMETER */
    uint32_t flags;     /* PROFILE_NAME_ flags */
    uint64_t place;     /* PROFILE_KEY inside the call that began it first */
    uint64_t executions; /* PHASE: those that had a number */
    uint64_t instances;  /* PHASE: rows that were made for them */
    uint64_t throttled_after; /* calls in the context that was throttled first; 0: none was */
    char text[PROFILE_NAME_BYTES - 40]; /* a parameter's has its value: "size = 512" */
};

#define PROFILE_NAME_DYNAMIC   1u /* a phase that has instances */
#define PROFILE_NAME_THROTTLED 2u /* an event that was too short and too frequent: not measured any more */
#define PROFILE_NAME_CUT       4u /* the text is the name's begin and a hash of the rest */

enum profile_rank_state {
    PROFILE_RANK_WHOLE = 0,
    PROFILE_RANK_OPEN = 1,    /* it had not ended when its file was read: it ran, or had been killed */
    PROFILE_RANK_DAMAGED = 2, /* its file cannot be used; from here on nothing of the rank counts */
    PROFILE_RANK_MISSING = 3, /* there is none */
    PROFILE_RANK_FOREIGN = 4, /* of another job, or measured in another way */
};

#define PROFILE_RANK_UNKNOWN UINT32_MAX /* of a file that cannot be read, and whose name does not tell */

/* One process of a job that was merged. Times in nanoseconds, on the clock of profile_header.start_ns of this file. */
#define PROFILE_RANK_BYTES 512u
struct profile_rank {
    uint32_t rank, process; /* as in profile_header */
    int32_t pid;
    uint32_t state; /* enum profile_rank_state */
    uint32_t threads, threads_max, cores;
    uint32_t reserved;
    uint64_t begin_ns, end_ns, samples;
    double work, overhead, lock_wait, idle, no_core, blocked; /* of its threads */
    char host[64];                                            /* its node */
    char binding[64];                                         /* cores that it might run on */
    char why[240];                                            /* what is wrong with it; empty: nothing */
    double mpi_wait;                                          /* of its threads */
    double rank_idle;     /* the part of mpi_wait in which another rank of its node was busy, and blamed for it */
    double made_wait;     /* others' waiting that it is blamed for */
    uint64_t ranks_seen;  /* as in profile_header */
    double charged;       /* others' waiting in collective calls, by the ranks' sums: struct profile_balance; 0 in older files */
};

struct profile_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes, chunk_bytes, unit_bytes, thread_bytes, module_bytes;
    uint32_t chunk_count; /* chunks that exist; the file may be longer by chunks being made */
    uint32_t finished;    /* 1: the tool wrote its end; 0: the process ended before that */
    int32_t pid;
    int64_t start_realtime_ns; /* since the epoch, at process start */
    uint64_t start_ns;         /* CLOCK_MONOTONIC at process start (as far as known) */
    uint64_t tool_start_ns;    /* when the tool was initialised */
    uint64_t end_ns;           /* when measurement ended; 0 if it did not */
    uint64_t before_start_ns;  /* serial time before the tool started that was not sampled (<before OpenMP
                                  start>) */
    uint64_t period_ns;        /* sampling period */
    uint32_t rate;             /* samples per second and thread */
    uint32_t clock;            /* 0 wall, 1 cpu */
    uint32_t environment;      /* 0 dedicated, 1 shared */
    uint32_t context;          /* 0 deferred, 1 eager */
    uint32_t tasks;            /* 0 region, 1 creation */
    uint32_t depth;
    uint32_t csv, summary;
    uint32_t cores;             /* C: cores that this process may run on */
    uint32_t threads_max;       /* T: most threads that existed at once */
    double lock_wait_delivered; /* unused while running; sum over threads' lock_wait at the end */
    uint64_t regions;           /* parallel regions begun (unsampled ones included), known at the end */
    uint64_t threads_untracked; /* threads beyond the registry's room */
    uint64_t lock_inits_lost;   /* initialisations of locks beyond the room for their names */
    uint64_t paused_ns;         /* in all pauses that the program asked for, up to end_ns */
    uint64_t pauses;
    uint64_t probes_lost;       /* begins for which there was no room: too deep, too many names, no memory */
    uint32_t ended_by_program;  /* 1: omp_control_tool(omp_control_tool_end) */
    uint32_t phase_instances;   /* BLAME_PHASE_INSTANCES */
    uint32_t sample_signal;     /* by which samples came at last; 0: none was left */
    /* What first kept the file, or the memory beside it, from growing: an errno, 0: nothing; the limit that it is about,
     * all bits set: there is none. EOVERFLOW: PROFILE_MAX_CHUNKS. The same of timers. */
    uint64_t room_limit, timer_limit;
    uint32_t room_error, timer_error;
    uint64_t untracked_ns; /* lifetimes of threads_untracked, known at the end */
    char program[64];      /* its name, also where there is no room for texts */
    uint32_t signals_taken;     /* so often the program took the signal, and another one had to be found */
    uint32_t wants_region;      /* 1: there is to be no profile unless a region begins, and none has begun */
    uint32_t reported;          /* 1: its reports were written, as far as they can be */
    /* Parts of before_start_ns, the rest of which is work: ready to run without a core, and asleep. */
    uint64_t before_no_core_ns, before_blocked_ns;
    uint32_t in_job;      /* 1: a process of a job, in its directory */
    uint32_t rank, ranks; /* of the job; 0 ranks: not known */
    uint32_t process;     /* of that rank: a second one's is 1 */
    uint32_t merged;      /* of how many processes' files this was made; 0: it is a process's own */
    uint32_t part;        /* 1: of a part of a job, while it is merged; `merged` may be 0 then */
    uint32_t ranks_seen;  /* of the job's processes on this node so many were seen at once, itself included; 0: none could be, and nothing is known of
                             who makes whom wait in MPI */
    uint32_t growing;     /* of a merged file: so many of its processes may have written on behind it */
    uint32_t snapshot;    /* 1: a copy, made while its process ran */
    uint32_t traced;        /* 1: there is a trace, or would be in its window; PROFILE_TRACED_WHOLE: of the whole run */
    uint64_t trace_limit;   /* bytes of its chunks, at most */
    uint64_t trace_thinned; /* samples of it that were written over, or had no room */
    uint64_t timeline_lost_ns; /* threads' time that is in no lane: there was no room for one */
};

_Static_assert(sizeof(struct profile_chunk) == PROFILE_UNIT_BYTES, "a chunk's header is unit 0");
_Static_assert(sizeof(struct profile_node) == PROFILE_UNIT_BYTES, "a node is one unit");
_Static_assert(sizeof(struct profile_metric) == 2 * PROFILE_UNIT_BYTES, "a metric record is two units");
_Static_assert(sizeof(struct profile_idle) == sizeof(struct profile_metric) &&
                   offsetof(struct profile_idle, shared_idle) == offsetof(struct profile_metric, shared_idle),
               "parts of idleness stand in a metric's place");
_Static_assert(sizeof(struct profile_waits) == sizeof(struct profile_metric), "waits stand in a metric's place");
_Static_assert(sizeof(struct profile_probe) == sizeof(struct profile_metric) && sizeof(struct profile_counters) == sizeof(struct profile_metric), "and these");
_Static_assert(sizeof(struct profile_ranks) == sizeof(struct profile_metric), "and what ranks wait");
_Static_assert(sizeof(struct profile_spread) == sizeof(struct profile_metric), "and spreads");
_Static_assert(sizeof(struct profile_moments) == sizeof(struct profile_metric), "and a context's few moments");
_Static_assert(sizeof(struct profile_name) == PROFILE_NAME_BYTES, "name records tile their chunk");
_Static_assert(sizeof(struct profile_thread) == PROFILE_THREAD_BYTES, "thread records tile their chunk");
_Static_assert(sizeof(struct profile_rank) == PROFILE_RANK_BYTES, "rank records tile their chunk");
_Static_assert(sizeof(struct profile_module) == PROFILE_MODULE_BYTES, "module records tile their chunk");
_Static_assert(sizeof(struct profile_header) <= PROFILE_HEADER_BYTES, "the header fits its page");

/* Which format it is, and how large its records are. [init] */
static inline void profile_header_identify(struct profile_header *header)
{
    memcpy(header->magic, PROFILE_MAGIC, sizeof(header->magic));
    header->version = PROFILE_VERSION;
    header->byte_order = PROFILE_BYTE_ORDER;
    header->header_bytes = PROFILE_HEADER_BYTES;
    header->chunk_bytes = PROFILE_CHUNK_BYTES;
    header->unit_bytes = PROFILE_UNIT_BYTES;
    header->thread_bytes = PROFILE_THREAD_BYTES;
    header->module_bytes = PROFILE_MODULE_BYTES;
}

#endif
