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
#define PROFILE_VERSION         2u /* docs/format.md says which changes raise it */
#define PROFILE_VERSION_OLDEST  1u /* oldest version that `blame` can read */
#define PROFILE_BYTE_ORDER      0x01020304u
#define PROFILE_HEADER_BYTES    4096u
#define PROFILE_CHUNK_BYTES     32768u
#define PROFILE_UNIT_BYTES      32u
#define PROFILE_UNITS_PER_CHUNK (PROFILE_CHUNK_BYTES / PROFILE_UNIT_BYTES)
#define PROFILE_MAX_CHUNKS      131072u
#define PROFILE_TIMERS_DELETED  43u /* EIDRM; in profile_header.timer_error: the program deleted our timers */

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
    /* 9 was used until 28 November 2026, for phases that overlap without nesting. */
};

struct profile_chunk {
    uint32_t kind;
    uint32_t owner; /* tree, time and trace chunks: number of the tree; other chunks: 0 */
    /* tree, time: number of the first unit that is still free; thread, module: number of records; text: bytes */
    uint32_t used;
    uint32_t metric_unit; /* tree: lowest unit that holds a metric record; PROFILE_UNITS_PER_CHUNK: none */
    uint32_t reserved[4];
};

/* Reasons why a delivered sample was not recorded. profile_drop_name[] (command/profile/profile.c) names
 * them. */
enum profile_drop {
    PROFILE_DROP_IN_TOOL = 0,   /* the thread was inside the tool */
    PROFILE_DROP_NO_MEMORY = 1, /* the tree got no chunk: the disk or the memory is full */
    PROFILE_DROP_STOPPING = 2,  /* the sample was due but not delivered when the measurement ended */
    PROFILE_DROP_NO_PATH = 3,   /* the unwinder found no frame at all */
    /* handling a sample took longer than the sampling period; samples were skipped so that the program makes
     * progress */
    PROFILE_DROP_OVERLOAD = 4,
    /* the process ended while the sample was handled; counted by the reader of the file */
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
    PROFILE_THREAD_OTHER = 3,
    /* a helper thread of the runtime, for target tasks; not counted in T (threads_max) */
    PROFILE_THREAD_HELPER = 4,
};

/* The sums of one thread. p is a sample's weight: the ns that the sample stands for. Times are in ns; begin
 * and end are on the clock of profile_header.start_ns. */
struct profile_thread {
    uint32_t kind;
    int32_t tid;
    uint64_t begin_ns;
    uint64_t end_ns;    /* 0 while the thread runs; such a thread ends after last_ns */
    uint64_t last_ns;   /* time of the last sample */
    uint64_t delivered; /* delivered samples, including those that timer overruns stand for */
    uint64_t recorded;  /* recorded samples, counted in the same way */
    uint64_t dropped[PROFILE_DROP_REASONS];
    /* p summed by the state that samples found: working, in the runtime, waiting for a lock */
    double work, overhead, lock_wait;
    /* p summed over samples that found the thread idle, parked time included */
    double idle;
    double parked; /* part of `idle` between regions, in no team */
    /* part of `idle` in which no thread was busy, so that nothing can be blamed */
    double idle_nobody_busy;
    uint64_t paths_truncated;  /* samples whose path ends in <truncated> */
    uint64_t unrestored_calls; /* system calls that returned EINTR to the program because of a sample */
    uint64_t timer_failed;     /* 1: no timer was available, so the thread was not sampled */
    double dropped_ns;         /* p summed over the dropped samples */
    /* stack words that the unwinder read by a system call, because it could not read them directly */
    uint64_t unwind_slow;
    uint64_t frames;         /* frames walked */
    uint64_t creation_walks; /* task creations whose call path had to be walked */
    /* task creations without a context; their tasks' contexts are below the region */
    uint64_t creations_lost;
    /* last sampling period; longer than profile_header.period_ns if there are many threads */
    uint64_t period_ns;
    uint64_t recipes_read;   /* code addresses whose call frame information was read */
    uint64_t slow_steps[15]; /* frames that libunwind unwound because no recipe could, by enum recipe_cause */
    /* p summed over samples in MPI calls that can wait for other ranks; 0 in older files */
    double mpi_wait;
    /* number of the tree that holds the thread's samples; other threads may have used the tree before or
     * after it; 0: unknown */
    uint64_t tree;
    double probed_exact; /* ns by the clock in which at least one phase, event or parameter was open */
    /* the same time by samples: p summed over all samples in it, recorded or dropped; pauses excluded */
    double probed_sampled;
    /* Unit indices of three struct profile_counters, by enum profile_counters_sum; 0: nothing was counted. */
    uint32_t counters[4];
    uint64_t counters_failed; /* 1: the counters could not be opened, or stopped counting */
    /* frames without call frame information that were unwound by decoding their instructions */
    uint64_t decoded_steps;
    /* ns without samples because the program had blocked the sampling signal or was using it */
    double unsignalled_ns;
    /* ns in which the thread was ready to run but had no core, counted by the kernel; unknown if this and
     * on_core_ns are 0 */
    double no_core_ns;
    double on_core_ns; /* ns on a core, counted by the kernel */
    double no_core;    /* p summed over samples that found the thread busy but without a core */
    /* p summed over samples that found the thread busy but asleep outside OpenMP's waits */
    double blocked;
    /* part of idle, lock_wait and mpi_wait in which the thread had no core, including the delay until a due
     * sample could run */
    double idle_no_core;
    uint64_t core_source; /* enum profile_core_source */
    /* late samples for which a missing core could not be ruled out; they are booked as work or as blocked */
    uint64_t core_unasked;
    /* 1 + number of the only core on which the thread could run when it ended; 0: several cores, or unknown */
    uint64_t only_core;
    /* part of no_core in which a hypervisor had taken the core; not included in no_core_ns */
    double stolen;
    uint32_t rank_record; /* 1 + number of the rank's record, in a merged file; 0: none */
    /* 1 + the thread's number in the draw of random moments (cct/timeline/moment.h); 0: unknown */
    uint32_t number;
};

/* The source from which it is known whether a sampled thread had a core. */
enum profile_core_source {
    PROFILE_CORE_NOT_TOLD = 0,  /* none: work, overhead and waits include time without a core */
    PROFILE_CORE_SCHEDSTAT = 1, /* the kernel's count of the time without a core (/proc/.../schedstat) */
    PROFILE_CORE_CPU_CLOCK = 2, /* the thread's CPU time and its context switches */
};

/* Counts outside all contexts. A thread's total is the sum over the COUNTERS nodes of its contexts, plus IDLE
 * and LOST. */
enum profile_counters_sum {
    PROFILE_COUNTERS_TOTAL = 0,
    PROFILE_COUNTERS_IDLE = 1, /* counted before samples that found the thread idle */
    PROFILE_COUNTERS_LOST = 2, /* counted before dropped samples, and after the last sample */
};

#define PROFILE_MODULE_BYTES 1024u
/* Module id = 1 + the module's index over all module chunks in file order. */
struct profile_module {
    uint64_t load_bias; /* difference between run-time and link-time addresses, at the last load */
    uint64_t vaddr_low; /* lowest and highest link-time address of the loadable segments */
    uint64_t vaddr_high;
    uint32_t flags; /* enum profile_module_flag */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    /* name of the file; for PROFILE_MODULE_PYTHON: file name, a 0 byte, function name */
    char path[PROFILE_MODULE_BYTES - 64];
};

/* The name of a phase, event or parameter. Its number is 1 + its index over all name chunks in file order. */
#define PROFILE_NAME_BYTES 256u
struct profile_name {
    uint32_t kind;       /* enum profile_node_kind: PHASE, EVENT or PARAMETER */
    uint32_t flags;      /* PROFILE_NAME_ flags */
    uint64_t place;      /* PROFILE_KEY of the call that first began the phase, event or parameter */
    uint64_t executions; /* PHASE: number of numbered executions */
    uint64_t instances;  /* PHASE: numbered executions that got a row of their own */
    /* calls after which a context was first throttled; 0: none was throttled */
    uint64_t throttled_after;
    char text[PROFILE_NAME_BYTES - 40]; /* a parameter's text includes its value: "size = 512" */
};

#define PROFILE_NAME_DYNAMIC 1u /* a phase whose executions are numbered */
/* an event that is no longer measured, because it was too short and too frequent */
#define PROFILE_NAME_THROTTLED 2u
#define PROFILE_NAME_CUT       4u /* the text is the start of the name, followed by a hash of the rest */

enum profile_rank_state {
    PROFILE_RANK_WHOLE = 0,
    /* the measurement had not ended when the file was read: the process was running, or had been killed */
    PROFILE_RANK_OPEN = 1,
    /* the file is unusable; ranks in this state and the following ones contribute nothing */
    PROFILE_RANK_DAMAGED = 2,
    PROFILE_RANK_MISSING = 3, /* the rank has no file */
    PROFILE_RANK_FOREIGN = 4, /* from another job, or measured with other options */
};

#define PROFILE_RANK_UNKNOWN UINT32_MAX /* the file is unreadable, and its name does not contain the rank */

/* One process of a merged job. Times are in ns, on the clock of profile_header.start_ns of the merged file. */
#define PROFILE_RANK_BYTES 512u
struct profile_rank {
    uint32_t rank, process; /* as in profile_header */
    int32_t pid;
    uint32_t state; /* enum profile_rank_state */
    uint32_t threads, threads_max, cores;
    uint32_t reserved;
    uint64_t begin_ns, end_ns, samples;
    double work, overhead, lock_wait, idle, no_core, blocked; /* ns, summed over the rank's threads */
    char host[64];                                            /* host name of its node */
    char binding[64];                                         /* cores on which the rank could run */
    /* what is wrong with the rank's file; empty: nothing */
    char why[240];
    double mpi_wait; /* ns, summed over the rank's threads */
    /* part of mpi_wait that was blamed on another, busy rank of the same node */
    double rank_idle;
    double made_wait;    /* ns that other ranks waited and that are blamed on this rank */
    uint64_t ranks_seen; /* as in profile_header */
    /* ns that other ranks waited in collective calls, charged to this rank by struct profile_balance; 0 in
     * older files */
    double charged;
};

struct profile_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes, chunk_bytes, unit_bytes, thread_bytes, module_bytes;
    /* number of complete chunks; the file may be longer, because chunks are being added */
    uint32_t chunk_count;
    uint32_t finished; /* 1: the tool has completed the file; 0: the process ended before */
    int32_t pid;
    int64_t start_realtime_ns; /* start of the process in ns since the epoch */
    uint64_t start_ns;         /* start of the process on CLOCK_MONOTONIC, as exactly as it is known */
    uint64_t tool_start_ns;    /* start of the tool on CLOCK_MONOTONIC */
    uint64_t end_ns;           /* end of the measurement on CLOCK_MONOTONIC; 0: it has not ended */
    /* ns from the start of the process to the start of the tool, not sampled (<before OpenMP start>) */
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
    double lock_wait_delivered; /* sum of the threads' lock_wait, stored at the end; meaningless before */
    uint64_t regions;           /* number of parallel regions begun, sampled or not; stored at the end */
    uint64_t threads_untracked; /* threads that were not measured, because the table of threads was full */
    /* lock initialisations that were not noted, because the table of names was full */
    uint64_t lock_inits_lost;
    uint64_t paused_ns; /* ns until end_ns in all pauses that the program asked for */
    uint64_t pauses;
    /* phases, events and parameters that were not measured: nested too deeply, too many names, or no memory */
    uint64_t probes_lost;
    /* 1: the program ended the measurement by omp_control_tool(omp_control_tool_end) */
    uint32_t ended_by_program;
    uint32_t phase_instances; /* BLAME_PHASE_INSTANCES */
    uint32_t sample_signal;   /* signal that was used for samples last; 0: all signals were taken */
    /* The first failure of the file or other memory to grow (room), and the first failure of a timer. Errors
     * are an errno: 0 for none, EOVERFLOW for PROFILE_MAX_CHUNKS, PROFILE_TIMERS_DELETED if the program
     * deleted timers. Limits are the resource limits that were reached; all bits are set if there was none. */
    uint64_t room_limit, timer_limit;
    uint32_t room_error, timer_error;
    uint64_t untracked_ns; /* ns for which threads_untracked lived, stored at the end */
    char program[64];      /* name of the program; stored here because there may be no room for texts */
    /* number of times that the program took the sampling signal, so that another was chosen */
    uint32_t signals_taken;
    uint32_t wants_region; /* 1: no region has begun, and without one no profile is to be kept */
    uint32_t reported;     /* 1: the reports have been written, as far as possible */
    /* ns of before_start_ns in which the thread was ready to run without a core, or asleep. The rest is work. */
    uint64_t before_no_core_ns, before_blocked_ns;
    uint32_t in_job;      /* 1: the process belongs to a job, and the file is in the job's directory */
    uint32_t rank, ranks; /* rank of the process, and number of ranks in the job; ranks 0: unknown */
    uint32_t process;     /* number of the process among those of its rank, from 0 */
    /* number of processes whose files were merged into this file; 0: the file of one process */
    uint32_t merged;
    uint32_t part; /* 1: part of a job that is being merged; `merged` may then be 0 */
    /* largest number of the job's processes seen at once on this node, including this one; 0: no process
     * could be seen, so MPI waiting cannot be blamed on ranks */
    uint32_t ranks_seen;
    /* number of processes that may have written to their own files after those were merged */
    uint32_t growing;
    uint32_t snapshot; /* 1: a copy that was made while the process ran */
    /* 1: traced, perhaps only within a time window; PROFILE_TRACED_WHOLE: the whole run is traced */
    uint32_t traced;
    uint64_t trace_limit;      /* limit on the size of all trace chunks in bytes */
    uint64_t trace_thinned;    /* samples that are missing in the trace: overwritten, or without room */
    uint64_t timeline_lost_ns; /* ns of threads that are in no lane, because a lane had no room */
    /* inverse_busy of before_start_ns in a merged file, scaled as inverse_busy of the contexts; 0: all of
     * before_start_ns */
    double before_inverse_busy_ns;
    uint32_t seed; /* seed of the random moments (cct/timeline/moment.h); 0: unknown */
};

_Static_assert(sizeof(struct profile_chunk) == PROFILE_UNIT_BYTES, "a chunk's header takes one unit");
_Static_assert(sizeof(struct profile_name) == PROFILE_NAME_BYTES, "name records fill their chunk");
_Static_assert(sizeof(struct profile_thread) == PROFILE_THREAD_BYTES, "thread records fill their chunk");
_Static_assert(sizeof(struct profile_rank) == PROFILE_RANK_BYTES, "rank records fill their chunk");
_Static_assert(sizeof(struct profile_module) == PROFILE_MODULE_BYTES, "module records fill their chunk");
_Static_assert(sizeof(struct profile_header) <= PROFILE_HEADER_BYTES, "the header fits into its page");

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
