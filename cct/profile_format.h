/* The measurement file (*.blame): the arena that threads write while the program runs, and that every reader
 * reads: header, chunks and records but those of trees (cct/profile_tree.h, cct/profile_metrics.h), time and traces. docs/format.md describes it in prose.
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

#define PROFILE_MAGIC           "BLAMEPRF"
#define PROFILE_VERSION         2u /* when it rises: docs/format.md */
#define PROFILE_VERSION_OLDEST  1u /* the oldest that is read */
#define PROFILE_BYTE_ORDER      0x01020304u
#define PROFILE_HEADER_BYTES    4096u
#define PROFILE_CHUNK_BYTES     32768u
#define PROFILE_UNIT_BYTES      32u
#define PROFILE_UNITS_PER_CHUNK (PROFILE_CHUNK_BYTES / PROFILE_UNIT_BYTES)
#define PROFILE_MAX_CHUNKS      131072u
#define PROFILE_TIMERS_DELETED  43u /* EIDRM, of timers */

enum profile_chunk_kind {
    PROFILE_CHUNK_FREE = 0,
    PROFILE_CHUNK_TREE = 1,   /* nodes grow upward from unit 1, metrics (2 units each) downward from the end */
    PROFILE_CHUNK_THREAD = 2, /* struct profile_thread[], from byte PROFILE_THREAD_BYTES on */
    PROFILE_CHUNK_MODULE = 3, /* struct profile_module[], from byte PROFILE_MODULE_BYTES on */
    PROFILE_CHUNK_TEXT = 4,   /* "key\0value\0" pairs, from byte PROFILE_UNIT_BYTES on: see docs/format.md */
    PROFILE_CHUNK_NAME = 5,   /* struct profile_name[], from byte PROFILE_NAME_BYTES on */
    PROFILE_CHUNK_RANK = 6,   /* struct profile_rank[], from byte PROFILE_RANK_BYTES on: of a job that was merged */
    PROFILE_CHUNK_TIME = 7,   /* struct profile_lane and struct profile_bins of one tree, in units from unit 1 on */
    PROFILE_CHUNK_TRACE = 8,  /* what each sample found; its header is struct profile_trace_chunk */
    /* 9: phases laid over one another, of blame until 28 November 2026 */
};

struct profile_chunk {
    uint32_t kind;
    uint32_t owner;       /* tree, time and trace chunks: number of the tree; others 0 */
    uint32_t used;        /* tree, time: first unused unit from below; thread, module: records; text: bytes used */
    uint32_t metric_unit; /* tree: lowest unit taken by a metric record, PROFILE_UNITS_PER_CHUNK when none */
    uint32_t reserved[4];
};

/* Why a delivered sample was not recorded; names in profile_drop_name[] (command/profile/profile.c). */
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
    uint64_t creations_lost;          /* those whose context could not be had: the tasks hang below their region */
    uint64_t period_ns;               /* sampling period at last: longer than the header's with many threads */
    uint64_t recipes_read;            /* code addresses whose call frame information had to be read */
    uint64_t slow_steps[15];          /* frames that libunwind stepped over, by enum recipe_cause */
    double mpi_wait;       /* p summed over samples in calls of MPI's that may wait for other ranks; 0 in older files */
    uint64_t tree;         /* number of the tree that its samples are in, which an earlier or later thread may have had,
                      too; 0: not known */
    double probed_exact;   /* time with at least one phase, event or parameter open, by the clock */
    double probed_sampled; /* the same by this thread's samples: p of those that came then, whatever became of them
                              (but not in a pause) */
    /* Units (as node_idx) of struct profile_counters, by enum profile_counters_sum; 0: nothing was counted. */
    uint32_t counters[4];
    uint64_t counters_failed; /* 1: they could not be had, or not any more */
    uint64_t decoded_steps;   /* frames without call frame information that their own code said how to leave */
    double unsignalled_ns;    /* the program had blocked or taken the sampling signal, and no sample came */
    double no_core_ns;        /* the thread was ready to run and had no core, by the kernel's count, while it was
                          measured; this and the next 0: that is not known */
    double on_core_ns;        /* the same count of the time that it ran */
    double no_core;           /* p summed over samples of the thread, busy, that found it without a core */
    double blocked;           /* the same, asleep of its own will outside OpenMP's waits */
    double
        idle_no_core; /* the same of idle, lock_wait and mpi wait, of which it is a part; and its own wait for a core to take a sample */
    uint64_t core_source; /* enum profile_core_source */
    uint64_t
        core_unasked; /* samples that came late, and whether for want of a core nobody could tell: they stand as work, or asleep */
    uint64_t only_core;   /* 1 + the one core that it might run on, at its end; 0: several, or not known */
    double stolen;        /* the part of no_core in which a hypervisor had the core: not in no_core_ns */
    uint32_t rank_record; /* 1 + the number of its rank's record, in a file that was merged; 0: none */
    uint32_t number;      /* 1 + its number in the draws of moments (cct/timeline/moment.h); 0: not known */
};

/* How samples know whether their thread had a core. */
enum profile_core_source {
    PROFILE_CORE_NOT_TOLD = 0,  /* nothing tells: work, overhead and waits include time without a core */
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
    uint32_t kind;                      /* enum profile_node_kind: PHASE, EVENT or PARAMETER */
    uint32_t flags;                     /* PROFILE_NAME_ flags */
    uint64_t place;                     /* PROFILE_KEY inside the call that began it first */
    uint64_t executions;                /* PHASE: those that had a number */
    uint64_t instances;                 /* PHASE: rows that were made for them */
    uint64_t throttled_after;           /* calls in the context that was throttled first; 0: none was */
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
    double rank_idle;    /* the part of mpi_wait in which another rank of its node was busy, and blamed for it */
    double made_wait;    /* others' waiting that it is blamed for */
    uint64_t ranks_seen; /* as in profile_header */
    double
        charged; /* others' waiting in collective calls, by the ranks' sums: struct profile_balance; 0 in older files */
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
    uint64_t probes_lost;      /* begins for which there was no room: too deep, too many names, no memory */
    uint32_t ended_by_program; /* 1: omp_control_tool(omp_control_tool_end) */
    uint32_t phase_instances;  /* BLAME_PHASE_INSTANCES */
    uint32_t sample_signal;    /* by which samples came at last; 0: none was left */
    /* What first kept the file, or the memory beside it, from growing: an errno, 0: nothing; the limit that it is about,
     * all bits set: there is none. EOVERFLOW: PROFILE_MAX_CHUNKS. The same of timers; PROFILE_TIMERS_DELETED: by the program. */
    uint64_t room_limit, timer_limit;
    uint32_t room_error, timer_error;
    uint64_t untracked_ns;  /* lifetimes of threads_untracked, known at the end */
    char program[64];       /* its name, also where there is no room for texts */
    uint32_t signals_taken; /* so often the program took the signal, and another one had to be found */
    uint32_t wants_region;  /* 1: there is to be no profile unless a region begins, and none has begun */
    uint32_t reported;      /* 1: its reports were written, as far as they can be */
    /* Parts of before_start_ns, the rest of which is work: ready to run without a core, and asleep. */
    uint64_t before_no_core_ns, before_blocked_ns;
    uint32_t in_job;      /* 1: a process of a job, in its directory */
    uint32_t rank, ranks; /* of the job; 0 ranks: not known */
    uint32_t process;     /* of that rank: a second one's is 1 */
    uint32_t merged;      /* of how many processes' files this was made; 0: it is a process's own */
    uint32_t part;        /* 1: of a part of a job, while it is merged; `merged` may be 0 then */
    uint32_t
        ranks_seen; /* of the job's processes on this node so many were seen at once, itself included; 0: none could be, and nothing is known of
                             who makes whom wait in MPI */
    uint32_t growing;       /* of a merged file: so many of its processes may have written on behind it */
    uint32_t snapshot;      /* 1: a copy, made while its process ran */
    uint32_t traced;        /* 1: there is a trace, or would be in its window; PROFILE_TRACED_WHOLE: of the whole run */
    uint64_t trace_limit;   /* bytes of its chunks, at most */
    uint64_t trace_thinned; /* samples of it that were written over, or had no room */
    uint64_t timeline_lost_ns; /* threads' time that is in no lane: there was no room for one */
    double
        before_inverse_busy_ns; /* of before_start_ns, of a merged file: scaled as contexts' inverse_busy is; 0: all of it */
    uint32_t seed;              /* of the draws of moments (cct/timeline/moment.h); 0: not known */
};

_Static_assert(sizeof(struct profile_chunk) == PROFILE_UNIT_BYTES, "a chunk's header is unit 0");
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
