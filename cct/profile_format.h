/* The measurement file (*.blame), which threads write while the program runs. This header defines the file's
 * header, chunks and records. Trees are in cct/profile_tree.h and cct/profile_metrics.h, bins of time in
 * cct/profile_time.h, traces in cct/profile_trace.h. docs/format.md describes the file in prose.
 *
 * Layout: one header of PROFILE_HEADER_BYTES, then chunks of PROFILE_CHUNK_BYTES each. A chunk has one kind
 * and one owner; only the owner writes to it. Everything is little-endian and naturally aligned. The file is
 * a valid profile at any time: a record is complete before the count that covers it is raised.
 *
 * A chunk is divided into units of 32 bytes. A node's index is its unit number, counted over all chunks of
 * the file. Unit 0 of a chunk is the chunk's header, so index 0 means "no node":
 *
 *     node_idx = chunk_no * PROFILE_UNITS_PER_CHUNK + unit */
#ifndef BLAME_CCT_PROFILE_FORMAT_H
#define BLAME_CCT_PROFILE_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/module_flags.h"

#define PROFILE_MAGIC           "BLAMEPRF"
#define PROFILE_VERSION         2u /* raised by changes of the kinds that docs/format.md lists */
#define PROFILE_VERSION_OLDEST  1u /* oldest version that `blame` can read */
#define PROFILE_BYTE_ORDER      0x01020304u
#define PROFILE_HEADER_BYTES    4096u
#define PROFILE_CHUNK_BYTES     32768u
#define PROFILE_UNIT_BYTES      32u
#define PROFILE_UNITS_PER_CHUNK (PROFILE_CHUNK_BYTES / PROFILE_UNIT_BYTES)
#define PROFILE_MAX_CHUNKS      131072u
/* value of profile_header.timer_error (EIDRM) if the program deleted our timers */
#define PROFILE_TIMERS_DELETED 43u

enum profile_chunk_kind {
    PROFILE_CHUNK_FREE = 0,
    /* tree nodes from unit 1 upward, and metric records (2 units each) from the end downward */
    PROFILE_CHUNK_TREE = 1,
    PROFILE_CHUNK_THREAD = 2, /* struct profile_thread[], from byte PROFILE_THREAD_BYTES */
    PROFILE_CHUNK_MODULE = 3, /* struct profile_module[], from byte PROFILE_MODULE_BYTES */
    /* pairs "key\0value\0", from byte PROFILE_UNIT_BYTES; docs/format.md lists the keys */
    PROFILE_CHUNK_TEXT = 4,
    PROFILE_CHUNK_NAME = 5, /* struct profile_name[], from byte PROFILE_NAME_BYTES */
    /* struct profile_rank[], from byte PROFILE_RANK_BYTES, in the file of a merged job */
    PROFILE_CHUNK_RANK = 6,
    /* struct profile_lane and struct profile_bins of one tree, in units from unit 1 */
    PROFILE_CHUNK_TIME = 7,
    /* samples in the order of time (cct/profile_trace.h); the chunk's header is struct profile_trace_chunk */
    PROFILE_CHUNK_TRACE = 8,
    /* 9 was the kind of phases that overlap without nesting, until 28 November 2026. */
};

struct profile_chunk {
    uint32_t kind;
    uint32_t owner; /* for tree, time and trace chunks: number of the tree; for other chunks: 0 */
    /* for tree and time chunks: number of the first free unit; for thread and module chunks: number of
     * records; for text chunks: number of bytes */
    uint32_t used;
    /* for tree chunks: lowest unit that holds a metric record; PROFILE_UNITS_PER_CHUNK: none */
    uint32_t metric_unit;
    uint32_t reserved[4];
};

/* Reasons for which a delivered sample was not recorded. profile_drop_name[] (command/profile/profile.c)
 * names them. */
enum profile_drop {
    PROFILE_DROP_IN_TOOL = 0,   /* the thread was inside the tool */
    PROFILE_DROP_NO_MEMORY = 1, /* the tree could not grow, because the disk or the memory was full */
    PROFILE_DROP_STOPPING = 2,  /* the sample was due but not delivered when the measurement ended */
    PROFILE_DROP_NO_PATH = 3,   /* the unwinder found no frame at all */
    /* handling a sample took longer than the sampling period; samples were skipped so that the program could
     * make progress */
    PROFILE_DROP_OVERLOAD = 4,
    /* the process ended while the sample was being handled; counted by the program that reads the file */
    PROFILE_DROP_CUT_OFF = 5,
    PROFILE_DROP_PAUSED = 6, /* the program had paused the measurement by omp_control_tool */
    PROFILE_DROP_FAULT = 7,  /* the handler itself caused a fault */
    PROFILE_DROP_REASONS = 8
};

#define PROFILE_THREAD_BYTES 512u
enum profile_thread_kind {
    PROFILE_THREAD_UNUSED = 0,
    PROFILE_THREAD_INITIAL = 1,
    PROFILE_THREAD_WORKER = 2,
    PROFILE_THREAD_OTHER = 3, /* a POSIX thread; not counted in T if the program has an OpenMP runtime */
    /* a helper thread on which the runtime executes target tasks; not counted in T (threads_max) */
    PROFILE_THREAD_HELPER = 4,
};

/* The sums of one thread. p is the weight of a sample: the time in ns that the sample represents. Times are
 * in ns; begin and end are on the clock of profile_header.start_ns. */
struct profile_thread {
    uint32_t kind;
    int32_t tid;
    uint64_t begin_ns;
    uint64_t end_ns;  /* 0 until the thread ends; a thread without an end ran until last_ns or later */
    uint64_t last_ns; /* time of the last sample */
    /* number of delivered samples; a signal that stands for n expirations of the timer counts n times */
    uint64_t delivered;
    uint64_t recorded; /* number of recorded samples, counted in the same way */
    uint64_t dropped[PROFILE_DROP_REASONS];
    /* p summed over samples by the thread's state: working, in the runtime, waiting for a lock */
    double work, overhead, lock_wait;
    /* p summed over samples that found the thread idle, parked time included */
    double idle;
    double parked; /* part of `idle` between regions, when the thread belonged to no team */
    /* part of `idle` while no thread was busy and the wait may have been for something outside the teams */
    double idle_nobody_busy;
    uint64_t paths_truncated; /* number of samples whose path ends in <truncated> */
    /* number of system calls that returned EINTR to the program because of a sample */
    uint64_t unrestored_calls;
    uint64_t timer_failed; /* 1: no timer was available, so the thread was not sampled */
    double dropped_ns;     /* p summed over the dropped samples */
    /* number of stack words that the unwinder could not read directly and therefore read by a system call */
    uint64_t unwind_slow;
    uint64_t frames;         /* frames walked */
    uint64_t creation_walks; /* number of task creations whose call path had to be walked */
    /* number of task creations without a context; the contexts of these tasks are placed below the region */
    uint64_t creations_lost;
    /* last sampling period; longer than profile_header.period_ns if there were many threads */
    uint64_t period_ns;
    uint64_t recipes_read; /* number of code addresses whose call frame information was read */
    /* number of frames that libunwind unwound because no recipe could, by enum recipe_cause */
    uint64_t slow_steps[13];
    /* lock wait that the thread's samples, as a lock's holder, booked in the context that they found; 0 in older
     * files */
    double lock_wait_counted;
    /* part of no_core_ns before samples that were dropped, because the measurement was paused for example; 0
     * in older files */
    double no_core_dropped_ns;
    /* p summed over samples in MPI calls that can wait for other ranks; 0 in older files */
    double mpi_wait;
    /* number of the tree that holds the thread's samples (0: unknown); other threads may have used the same
     * tree before or after */
    uint64_t tree;
    /* ns, measured by the clock, in which at least one phase, event or parameter was open */
    double probed_exact;
    /* the same time estimated from samples: p summed over all samples in it, recorded or dropped, pauses
     * excluded */
    double probed_sampled;
    /* Unit index of a struct profile_counters for each enum profile_counters_sum; 0: nothing was counted. */
    uint32_t counters[4];
    uint64_t counters_failed; /* 1: the counters could not be opened, or stopped counting */
    /* number of frames without call frame information that were unwound by decoding their instructions */
    uint64_t decoded_steps;
    /* ns without samples because the program had blocked the sampling signal or used it itself */
    double unsignalled_ns;
    /* ns in which the thread was ready to run but had no core, counted by the kernel; unknown if this and
     * on_core_ns are 0 */
    double no_core_ns;
    double on_core_ns; /* ns on a core, counted by the kernel */
    double no_core;    /* p summed over samples that found the thread busy but without a core */
    /* p summed over samples that found the thread busy but asleep outside OpenMP's waits */
    double blocked;
    /* part of idle, lock_wait and mpi_wait in which the thread had no core; includes the delay until a due
     * sample could run */
    double idle_no_core;
    uint32_t core_source; /* enum profile_core_source */
    /* ns by which p summed over all samples exceeds the thread's time, because periods began anew; 0 in older files */
    float ahead_ns;
    /* number of late samples for which a missing core could not be ruled out; they are booked as work or as
     * blocked */
    uint64_t core_unasked;
    /* 1 + number of the core, if the thread could run on only one core when it ended; 0: several cores, or
     * unknown */
    uint64_t only_core;
    /* part of no_core in which a hypervisor had taken the core away; no_core_ns does not include it */
    double stolen;
    uint32_t rank_record; /* in a merged file: 1 + number of the rank's record; 0: none */
    /* 1 + the thread's number for its random sampling times (cct/timeline/moment.h); 0: unknown */
    uint32_t number;
};

/* How the plugin learned whether a sampled thread had a core. */
enum profile_core_source {
    PROFILE_CORE_NOT_TOLD = 0,  /* it did not: work, overhead and waits include time without a core */
    PROFILE_CORE_SCHEDSTAT = 1, /* the kernel's count of the time without a core (/proc/.../schedstat) */
    PROFILE_CORE_CPU_CLOCK = 2, /* the thread's CPU time and its context switches */
};

/* Counts that belong to no context. A thread's total is the sum over the COUNTERS nodes of its contexts, plus
 * IDLE and LOST. */
enum profile_counters_sum {
    PROFILE_COUNTERS_TOTAL = 0,
    PROFILE_COUNTERS_IDLE = 1, /* counts before samples that found the thread idle */
    PROFILE_COUNTERS_LOST = 2, /* counts before dropped samples, and after the last sample */
};

#define PROFILE_MODULE_BYTES 1024u
/* A loaded module. Its id is 1 + its index over all module chunks in file order. */
struct profile_module {
    uint64_t load_bias; /* run-time address minus link-time address, at the last load */
    uint64_t vaddr_low; /* lowest and highest link-time address of the loadable segments */
    uint64_t vaddr_high;
    uint32_t flags; /* enum profile_module_flag */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    /* file name; for PROFILE_MODULE_PYTHON: file name, a 0 byte, function name */
    char path[PROFILE_MODULE_BYTES - 64];
};

/* The name of a phase, event or parameter. Its number, by which nodes refer to it, is 1 + its index over all
 * name chunks in file order. */
#define PROFILE_NAME_BYTES 256u
struct profile_name {
    uint32_t kind;       /* enum profile_node_kind: PHASE, EVENT or PARAMETER */
    uint32_t flags;      /* PROFILE_NAME_ flags */
    uint64_t place;      /* PROFILE_KEY of the call that first began the phase, event or parameter */
    uint64_t executions; /* for a PHASE: number of numbered executions */
    uint64_t instances;  /* for a PHASE: number of executions that got a row of their own */
    /* number of calls after which the first of its contexts was throttled; 0: none was */
    uint64_t throttled_after;
    char text[PROFILE_NAME_BYTES - 40]; /* a parameter's text includes its value: "size = 512" */
};

#define PROFILE_NAME_DYNAMIC 1u /* a phase whose executions are numbered */
/* an event that is no longer measured, because its calls were too short and too frequent */
#define PROFILE_NAME_THROTTLED 2u
#define PROFILE_NAME_CUT       4u /* the text is the first part of the name, followed by a hash of the rest */

enum profile_rank_state {
    PROFILE_RANK_WHOLE = 0,
    /* the measurement had not ended when the file was read: the process was running, or had been killed */
    PROFILE_RANK_OPEN = 1,
    /* the file is unusable; ranks in this state or in one of those below contribute nothing */
    PROFILE_RANK_DAMAGED = 2,
    PROFILE_RANK_MISSING = 3, /* the rank has no file */
    PROFILE_RANK_FOREIGN = 4, /* the file is from another job, or was measured with other options */
};

/* rank number if the file is unreadable and its name does not contain the rank */
#define PROFILE_RANK_UNKNOWN UINT32_MAX

/* One process of a merged job. Times are in ns, on the clock of profile_header.start_ns of the merged file. */
#define PROFILE_RANK_BYTES 512u
struct profile_rank {
    uint32_t rank, process; /* the same as in profile_header */
    int32_t pid;
    uint32_t state; /* enum profile_rank_state */
    uint32_t threads, threads_max, cores;
    uint32_t reserved;
    uint64_t begin_ns, end_ns, samples;
    double work, overhead, lock_wait, idle, no_core, blocked; /* ns, summed over the rank's threads */
    char host[64];                                            /* host name of the rank's node */
    char binding[64];                                         /* the cores on which the rank could run */
    /* what is wrong with the rank's file; empty: nothing */
    char why[240];
    double mpi_wait; /* ns, summed over the rank's threads */
    /* part of mpi_wait that was blamed on another, busy rank of the same node */
    double rank_idle;
    double made_wait;    /* ns for which other ranks waited and which are blamed on this rank */
    uint64_t ranks_seen; /* the same as in profile_header */
    /* ns for which other ranks waited in collective calls and which struct profile_balance charges to this
     * rank; 0 in older files */
    double charged;
};

#define PROFILE_UNHEARD 2u /* header.reported */

struct profile_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes, chunk_bytes, unit_bytes, thread_bytes, module_bytes;
    /* number of complete chunks; the file may be longer, because a chunk is being added */
    uint32_t chunk_count;
    /* 1: the tool completed the file; 0: the process is still running, or ended without completing it */
    uint32_t finished;
    int32_t pid;
    int64_t start_realtime_ns; /* start of the process in ns since the epoch */
    uint64_t start_ns;         /* best known start of the process, on CLOCK_MONOTONIC */
    uint64_t tool_start_ns;    /* start of the tool on CLOCK_MONOTONIC */
    /* end of the measurement on CLOCK_MONOTONIC; 0: the measurement has not ended */
    uint64_t end_ns;
    /* ns between the start of the process and the start of the tool; this time is not sampled (<before OpenMP
     * start>) */
    uint64_t before_start_ns;
    uint64_t period_ns;   /* sampling period */
    uint32_t rate;        /* samples per second and thread */
    uint32_t clock;       /* 0 wall, 1 cpu */
    uint32_t environment; /* 0 dedicated, 1 shared */
    uint32_t context;     /* 0 deferred, 1 eager */
    uint32_t tasks;       /* 0 region, 1 creation */
    uint32_t depth;
    uint32_t csv, summary;
    uint32_t cores;             /* C, the number of cores on which this process may run */
    uint32_t threads_max;       /* T, the largest number of threads that existed at one time */
    double lock_wait_delivered; /* sum of the threads' lock_wait, stored at the end; meaningless before */
    /* number of parallel regions begun, whether sampled or not; stored at the end */
    uint64_t regions;
    /* number of threads that were not measured because the table of threads was full */
    uint64_t threads_untracked;
    /* number of lock initialisations that were not noted because the table of names was full */
    uint64_t lock_inits_lost;
    uint64_t paused_ns; /* total ns of the pauses that the program requested, until end_ns */
    uint64_t pauses;
    /* number of phases, events and parameters that were not measured because they were nested too deeply, had
     * too many names, or found no memory */
    uint64_t probes_lost;
    /* 1: the program ended the measurement by omp_control_tool(omp_control_tool_end) */
    uint32_t ended_by_program;
    uint32_t phase_instances; /* BLAME_PHASE_INSTANCES */
    uint32_t sample_signal;   /* the last signal used for samples; 0: the program had taken all signals */
    /* Why memory (the file's or other) first could not grow, and why a timer first failed. Errors are errno
     * values, or 0 for none, EOVERFLOW for PROFILE_MAX_CHUNKS, PROFILE_TIMERS_DELETED if the program deleted
     * timers. Limits are the resource limits that were reached; if there was none, all bits are set. */
    uint64_t room_limit, timer_limit;
    uint32_t room_error, timer_error;
    /* total lifetime in ns of the threads that threads_untracked counts, stored at the end */
    uint64_t untracked_ns;
    char program[64]; /* name of the program, stored here in case there is no room for texts */
    /* number of times that the program took the sampling signal, so that we had to choose another */
    uint32_t signals_taken;
    uint32_t wants_region; /* 1: no region has begun yet, and the profile is not kept if none ever begins */
    /* 1: the finisher has written the reports, as far as that was possible; PROFILE_UNHEARD: it printed nothing,
     * because the program had closed or redirected stderr */
    uint32_t reported;
    /* part of before_start_ns, in ns, in which the thread was ready to run without a core, and in which it
     * was asleep; the rest is work */
    uint64_t before_no_core_ns, before_blocked_ns;
    uint32_t in_job; /* 1: the process belongs to a job, and the file is in the job's directory */
    /* rank of the process, and number of ranks in the job; if `ranks` is 0, both are unknown */
    uint32_t rank, ranks;
    uint32_t process; /* number of the process among those with its rank, from 0 */
    /* number of processes whose files were merged into this file; 0: the file is that of one process */
    uint32_t merged;
    uint32_t part; /* 1: the file is part of a job that is being merged; `merged` may then be 0 */
    /* largest number of the job's processes that were seen on this node at one time, including this one; 0:
     * none could be seen, so MPI waiting cannot be blamed on ranks */
    uint32_t ranks_seen;
    /* number of processes that may have written to their own files after the merge read them */
    uint32_t growing;
    uint32_t snapshot; /* 1: the file is a copy that was made while the process ran */
    /* 1: the run was traced, at least within a time window; PROFILE_TRACED_WHOLE: the whole run was traced */
    uint32_t traced;
    uint64_t trace_limit; /* maximum total size of all trace chunks in bytes */
    /* number of samples that are missing in the trace because they were overwritten or found no room */
    uint64_t trace_thinned;
    uint64_t timeline_lost_ns; /* ns of threads that are missing in the lanes, because a lane had no room */
    /* in a merged file: inverse_busy of before_start_ns, scaled like inverse_busy of the contexts; 0: it
     * equals before_start_ns */
    double before_inverse_busy_ns;
    uint32_t seed; /* seed of the random sampling times (cct/timeline/moment.h); 0: unknown */
    /* 1: the program has no team, and CORES nodes have its core idleness; 0: equation 1 of LMF13 gives it */
    uint32_t without_team;
    /* ns that the process spent in the kernel, and number of its page faults that needed no disk, between the start of the tool
     * and end_ns; stored at the end */
    uint64_t kernel_ns, page_faults;
};

_Static_assert(sizeof(struct profile_chunk) == PROFILE_UNIT_BYTES,
               "a chunk's header is as large as one unit of the file");
_Static_assert(sizeof(struct profile_name) == PROFILE_NAME_BYTES, "name records fill their chunk");
_Static_assert(sizeof(struct profile_thread) == PROFILE_THREAD_BYTES, "thread records fill their chunk");
_Static_assert(sizeof(struct profile_rank) == PROFILE_RANK_BYTES, "rank records fill their chunk");
_Static_assert(sizeof(struct profile_module) == PROFILE_MODULE_BYTES, "module records fill their chunk");
_Static_assert(sizeof(struct profile_header) <= PROFILE_HEADER_BYTES, "the header fits into its page");

/* Sets the format's version and the sizes of its records. [init] */
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
