/* The measurement file (*.blame): the arena that threads write while the program runs, and that all readers
 * read. Here are the header, the chunks and the records. Trees are in cct/profile_tree.h and
 * cct/profile_metrics.h, time and traces in headers of their own. docs/format.md describes the file in prose.
 *
 * Layout: one header of PROFILE_HEADER_BYTES, then chunks of PROFILE_CHUNK_BYTES each. A chunk has one kind
 * and one owner; only the owner writes to it. Everything is little-endian and naturally aligned. The file is
 * a valid profile at any time: a record is complete before the count that covers it is raised.
 *
 * A node's index is its unit number, counted over all chunks of the file. Unit 0 of a chunk is its header, so
 * 0 means none:
 *
 *     node_idx = chunk_no * PROFILE_UNITS_PER_CHUNK + unit */
#ifndef BLAME_CCT_PROFILE_FORMAT_H
#define BLAME_CCT_PROFILE_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/module_flags.h"

#define PROFILE_MAGIC           "BLAMEPRF"
#define PROFILE_VERSION         2u /* docs/format.md says when it rises */
#define PROFILE_VERSION_OLDEST  1u /* the oldest version that is read */
#define PROFILE_BYTE_ORDER      0x01020304u
#define PROFILE_HEADER_BYTES    4096u
#define PROFILE_CHUNK_BYTES     32768u
#define PROFILE_UNIT_BYTES      32u
#define PROFILE_UNITS_PER_CHUNK (PROFILE_CHUNK_BYTES / PROFILE_UNIT_BYTES)
#define PROFILE_MAX_CHUNKS      131072u
#define PROFILE_TIMERS_DELETED  43u /* EIDRM, as an error of timers */

enum profile_chunk_kind {
    PROFILE_CHUNK_FREE = 0,
    /* nodes grow upward from unit 1, metrics (2 units each) downward from the end */
    PROFILE_CHUNK_TREE = 1,
    PROFILE_CHUNK_THREAD = 2, /* struct profile_thread[], from byte PROFILE_THREAD_BYTES */
    PROFILE_CHUNK_MODULE = 3, /* struct profile_module[], from byte PROFILE_MODULE_BYTES */
    PROFILE_CHUNK_TEXT = 4,   /* pairs "key\0value\0", from byte PROFILE_UNIT_BYTES: see docs/format.md */
    PROFILE_CHUNK_NAME = 5,   /* struct profile_name[], from byte PROFILE_NAME_BYTES */
    /* struct profile_rank[], from byte PROFILE_RANK_BYTES, in the file of a merged job */
    PROFILE_CHUNK_RANK = 6,
    /* struct profile_lane and struct profile_bins of one tree, in units from unit 1 */
    PROFILE_CHUNK_TIME = 7,
    PROFILE_CHUNK_TRACE = 8, /* what each sample found; its header is struct profile_trace_chunk */
    /* 9: phases laid over one another, in files of blame until 28 November 2026 */
};

struct profile_chunk {
    uint32_t kind;
    uint32_t owner; /* tree, time and trace chunks: number of the tree; other chunks: 0 */
    /* tree, time: first unused unit from below; thread, module: number of records; text: bytes */
    uint32_t used;
    uint32_t metric_unit; /* tree: lowest unit of a metric record; PROFILE_UNITS_PER_CHUNK: none */
    uint32_t reserved[4];
};

/* Why a delivered sample was not recorded; their names are in profile_drop_name[]
 * (command/profile/profile.c). */
enum profile_drop {
    PROFILE_DROP_IN_TOOL = 0,   /* the thread was inside the tool */
    PROFILE_DROP_NO_MEMORY = 1, /* no chunk for the tree: the disk or the memory is full */
    PROFILE_DROP_STOPPING = 2,  /* the sample was due but not delivered when the measurement ended */
    PROFILE_DROP_NO_PATH = 3,   /* not a single frame was found */
    /* handling took longer than the sampling period; the program must make progress */
    PROFILE_DROP_OVERLOAD = 4,
    PROFILE_DROP_CUT_OFF = 5, /* the process ended during the sample; found by the reader */
    PROFILE_DROP_PAUSED = 6,  /* the program had asked for a pause: omp_control_tool */
    PROFILE_DROP_FAULT = 7,   /* the handler itself caused a fault */
    PROFILE_DROP_REASONS = 8
};

#define PROFILE_THREAD_BYTES 512u
enum profile_thread_kind {
    PROFILE_THREAD_UNUSED = 0,
    PROFILE_THREAD_INITIAL = 1,
    PROFILE_THREAD_WORKER = 2,
    PROFILE_THREAD_OTHER = 3,
    PROFILE_THREAD_HELPER = 4, /* the runtime's own, for target tasks; not one of the T threads */
};

/* The sums of one thread. Times are in ns; begin and end are on the clock of profile_header.start_ns. */
struct profile_thread {
    uint32_t kind;
    int32_t tid;
    uint64_t begin_ns;
    uint64_t end_ns;    /* 0 while the thread runs; its end is then after last_ns */
    uint64_t last_ns;   /* time of the last sample */
    uint64_t delivered; /* delivered samples, overruns included */
    uint64_t recorded;  /* recorded samples, overruns included */
    uint64_t dropped[PROFILE_DROP_REASONS];
    double work, overhead, lock_wait; /* p summed by the state that the sample hit (lock_wait: as a waiter) */
    double idle;                      /* p summed over idle moments, parked time included */
    double parked;                    /* part of idle between regions, in no team */
    double idle_nobody_busy;          /* part of idle while no thread was busy and nobody is to blame */
    uint64_t paths_truncated;         /* samples whose path ends in <truncated> */
    uint64_t unrestored_calls;        /* system calls that returned EINTR because of a sample */
    uint64_t timer_failed;            /* 1: no timer was available, and the thread is not sampled */
    double dropped_ns;                /* p summed over dropped samples */
    /* words that the unwinder read by a system call, not directly from the thread's stack */
    uint64_t unwind_slow;
    uint64_t frames;         /* frames walked */
    uint64_t creation_walks; /* task creations that needed a walk of the path */
    /* task creations without a context; the tasks hang below their region */
    uint64_t creations_lost;
    /* last sampling period; longer than the header's if there are many threads */
    uint64_t period_ns;
    uint64_t recipes_read;   /* code addresses whose call frame information was read */
    uint64_t slow_steps[15]; /* frames that libunwind stepped over, by enum recipe_cause */
    /* p summed over samples in MPI calls that may wait for other ranks; 0 in older files */
    double mpi_wait;
    /* number of the tree with its samples, which other threads may have used before or after; 0: unknown */
    uint64_t tree;
    double probed_exact; /* ns with at least one phase, event or parameter open, by the clock */
    /* the same by samples: p of all samples in that time, recorded or not, without pauses */
    double probed_sampled;
    /* Units (like node_idx) of struct profile_counters, by enum profile_counters_sum; 0: nothing was counted. */
    uint32_t counters[4];
    uint64_t counters_failed; /* 1: the counters were not available, or ceased to be */
    /* frames without call frame information that were left by decoding their code */
    uint64_t decoded_steps;
    /* ns without samples because the program had blocked or taken the sampling signal */
    double unsignalled_ns;
    /* ns in which the measured thread was ready to run without a core, by the kernel's count. 0 here and in
     * on_core_ns: unknown. */
    double no_core_ns;
    double on_core_ns; /* ns on a core, by the same count */
    double no_core;    /* p summed over samples that found the busy thread without a core */
    /* p summed over samples that found the busy thread asleep outside OpenMP's waits */
    double blocked;
    double
        /* part of idle, lock_wait and mpi_wait without a core, and the wait for a core to take a sample */
        idle_no_core;
    uint64_t core_source; /* enum profile_core_source */
    uint64_t
        /* late samples that could not be checked for a missing core; they stand as work or asleep */
        core_unasked;
    uint64_t only_core;   /* 1 + the only core on which it could run at its end; 0: several, or unknown */
    double stolen;        /* part of no_core in which a hypervisor had the core; not in no_core_ns */
    uint32_t rank_record; /* 1 + the number of its rank's record, in a merged file; 0: none */
    uint32_t number;      /* 1 + its number in the random moments (cct/timeline/moment.h); 0: unknown */
};

/* The source that shows whether a sample's thread had a core. */
enum profile_core_source {
    PROFILE_CORE_NOT_TOLD = 0,  /* no source: work, overhead and waits include time without a core */
    PROFILE_CORE_SCHEDSTAT = 1, /* the kernel's count of the time without a core */
    PROFILE_CORE_CPU_CLOCK = 2, /* the thread's CPU time and its context switches */
};

/* The total of a thread is the sum over the COUNTERS nodes of its contexts and the two other sums. */
enum profile_counters_sum {
    PROFILE_COUNTERS_TOTAL = 0,
    PROFILE_COUNTERS_IDLE = 1, /* before samples that hit the thread while it was idle */
    PROFILE_COUNTERS_LOST = 2, /* before dropped samples, and after the last one */
};

#define PROFILE_MODULE_BYTES 1024u
/* Module id = 1 + the module's index over all module chunks in file order. */
struct profile_module {
    uint64_t load_bias; /* address = vaddr + load_bias, as last seen */
    uint64_t vaddr_low; /* link-time range of its loadable segments */
    uint64_t vaddr_high;
    uint32_t flags; /* enum profile_module_flag */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    /* PROFILE_MODULE_PYTHON: the file's name, a 0 and the function's name */
    char path[PROFILE_MODULE_BYTES - 64];
};

/* The name of a phase, event or parameter. Number = 1 + the name's index over all name chunks in file order. */
#define PROFILE_NAME_BYTES 256u
struct profile_name {
    uint32_t kind;       /* enum profile_node_kind: PHASE, EVENT or PARAMETER */
    uint32_t flags;      /* PROFILE_NAME_ flags */
    uint64_t place;      /* PROFILE_KEY inside the call that first began it */
    uint64_t executions; /* PHASE: executions with a number */
    uint64_t instances;  /* PHASE: rows made for numbered executions */
    /* calls in the context that was throttled first; 0: none was throttled */
    uint64_t throttled_after;
    char text[PROFILE_NAME_BYTES - 40]; /* a parameter's text includes its value: "size = 512" */
};

#define PROFILE_NAME_DYNAMIC   1u /* a phase with instances */
#define PROFILE_NAME_THROTTLED 2u /* an event that was too short and too frequent, no longer measured */
#define PROFILE_NAME_CUT       4u /* the text is the start of the name and a hash of the rest */

enum profile_rank_state {
    PROFILE_RANK_WHOLE = 0,
    PROFILE_RANK_OPEN = 1,    /* not ended when its file was read: still running, or killed */
    PROFILE_RANK_DAMAGED = 2, /* its file is unusable; from this value on, nothing of the rank counts */
    PROFILE_RANK_MISSING = 3, /* it has no file */
    PROFILE_RANK_FOREIGN = 4, /* from another job, or measured in another way */
};

#define PROFILE_RANK_UNKNOWN UINT32_MAX /* the file is unreadable and its name does not tell the rank */

/* One process of a merged job. Times are in ns, on the clock of profile_header.start_ns of this file. */
#define PROFILE_RANK_BYTES 512u
struct profile_rank {
    uint32_t rank, process; /* as in profile_header */
    int32_t pid;
    uint32_t state; /* enum profile_rank_state */
    uint32_t threads, threads_max, cores;
    uint32_t reserved;
    uint64_t begin_ns, end_ns, samples;
    double work, overhead, lock_wait, idle, no_core, blocked; /* sums over its threads */
    char host[64];                                            /* host name of its node */
    char binding[64];                                         /* cores on which it could run */
    char why[240];                                            /* what is wrong with it; empty: nothing */
    double mpi_wait;                                          /* sum over its threads */
    /* part of mpi_wait during which another rank of its node was busy and got the blame */
    double rank_idle;
    double made_wait;    /* waiting of other ranks that is blamed on it */
    uint64_t ranks_seen; /* as in profile_header */
    double
        /* waiting of other ranks in collective calls, charged by the ranks' sums: struct profile_balance; 0
         * in older files */
        charged;
};

struct profile_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes, chunk_bytes, unit_bytes, thread_bytes, module_bytes;
    uint32_t chunk_count; /* existing chunks; the file may be longer by chunks that are being made */
    uint32_t finished;    /* 1: the tool has written its end; 0: the process ended before that */
    int32_t pid;
    int64_t start_realtime_ns; /* start of the process since the epoch */
    uint64_t start_ns;         /* start of the process on CLOCK_MONOTONIC, as far as known */
    uint64_t tool_start_ns;    /* start of the tool */
    uint64_t end_ns;           /* end of the measurement; 0: it did not end */
    /* serial time before the tool started, which was not sampled (<before OpenMP start>) */
    uint64_t before_start_ns;
    uint64_t period_ns;   /* sampling period */
    uint32_t rate;        /* samples per second and thread */
    uint32_t clock;       /* 0 wall, 1 cpu */
    uint32_t environment; /* 0 dedicated, 1 shared */
    uint32_t context;     /* 0 deferred, 1 eager */
    uint32_t tasks;       /* 0 region, 1 creation */
    uint32_t depth;
    uint32_t csv, summary;
    uint32_t cores;             /* C: cores on which this process may run */
    uint32_t threads_max;       /* T: largest number of threads at one time */
    double lock_wait_delivered; /* sum over the threads' lock_wait at the end; unused before */
    uint64_t regions;           /* parallel regions begun, sampled or not; known at the end */
    uint64_t threads_untracked; /* threads beyond the room of the registry */
    uint64_t lock_inits_lost;   /* lock initialisations beyond the room for their names */
    uint64_t paused_ns;         /* ns in all pauses that the program asked for, until end_ns */
    uint64_t pauses;
    /* phases, events and parameters without room: too deep, too many names, or no memory */
    uint64_t probes_lost;
    uint32_t ended_by_program; /* 1: omp_control_tool(omp_control_tool_end) */
    uint32_t phase_instances;  /* BLAME_PHASE_INSTANCES */
    uint32_t sample_signal;    /* last signal used for samples; 0: none was left */
    /* What first stopped the file, or other memory, from growing, and what first stopped timers. Errors: an
     * errno, 0 for none, EOVERFLOW for PROFILE_MAX_CHUNKS, PROFILE_TIMERS_DELETED if the program deleted
     * timers. Limits: the limit that was reached, all bits set for none. */
    uint64_t room_limit, timer_limit;
    uint32_t room_error, timer_error;
    uint64_t untracked_ns;  /* ns lived by threads_untracked, known at the end */
    char program[64];       /* name of the program, present even without room for texts */
    uint32_t signals_taken; /* times that the program took the signal and another was chosen */
    uint32_t wants_region;  /* 1: no profile unless a region begins, and none has begun */
    uint32_t reported;      /* 1: the reports have been written, as far as possible */
    /* Parts of before_start_ns, ready to run without a core and asleep. The rest is work. */
    uint64_t before_no_core_ns, before_blocked_ns;
    uint32_t in_job;      /* 1: one process of a job, in the job's directory */
    uint32_t rank, ranks; /* rank, and ranks of the job; ranks 0: unknown */
    uint32_t process;     /* number of the process within its rank, from 0 */
    /* number of processes whose files were merged into this one; 0: a process's own file */
    uint32_t merged;
    uint32_t part; /* 1: a part of a job during the merge; `merged` may then be 0 */
    uint32_t
        /* largest number of the job's processes seen at once on this node, itself included; 0: none could be
         * seen, so it is unknown who makes whom wait in MPI */
        ranks_seen;
    /* processes of a merged file that may have continued to write to their own files */
    uint32_t growing;
    uint32_t snapshot; /* 1: a copy made while the process ran */
    /* 1: there is a trace, or would be within its window; PROFILE_TRACED_WHOLE: a trace of the whole run */
    uint32_t traced;
    uint64_t trace_limit;      /* limit on the trace's chunks in bytes */
    uint64_t trace_thinned;    /* samples of the trace that were overwritten or had no room */
    uint64_t timeline_lost_ns; /* threads' ns that are in no lane, for want of room */
    double
        /* inverse_busy of before_start_ns in a merged file, scaled like the contexts' inverse_busy; 0: all of
         * it */
        before_inverse_busy_ns;
    uint32_t seed; /* seed of the random moments (cct/timeline/moment.h); 0: unknown */
};

_Static_assert(sizeof(struct profile_chunk) == PROFILE_UNIT_BYTES, "a chunk's header is unit 0");
_Static_assert(sizeof(struct profile_name) == PROFILE_NAME_BYTES, "name records tile their chunk");
_Static_assert(sizeof(struct profile_thread) == PROFILE_THREAD_BYTES, "thread records tile their chunk");
_Static_assert(sizeof(struct profile_rank) == PROFILE_RANK_BYTES, "rank records tile their chunk");
_Static_assert(sizeof(struct profile_module) == PROFILE_MODULE_BYTES, "module records tile their chunk");
_Static_assert(sizeof(struct profile_header) <= PROFILE_HEADER_BYTES, "the header fits its page");

/* Fills in the format's version and the sizes of its records. [init] */
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
