/* A thread's record: everything that its handler and its callbacks need, in a mapping of its own. Records are
 * recycled and never unmapped. The next thread that takes a record continues its tree. */
#ifndef BLAME_OMPT_TOOL_SESSION_THREAD_H
#define BLAME_OMPT_TOOL_SESSION_THREAD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <omp-tools.h>

#include "base/float_state.h"
#include "blame/account.h"
#include "blame/contended.h"
#include "blame/state.h"
#include "cct/profile_format.h"
#include "cct/deferred/region.h"
#include "cct/tree.h"
#include "ompt_tool/restart/bystander.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/session/core.h"
#include "ompt_tool/session/moments.h"
#include "unwind/unwind.h"

struct probes;
struct tracer;

/* A call path for the tree: keys from the leaf outward. */
struct path {
    uint64_t *keys; /* options.depth entries */
    size_t count;
    /* key of the entry of the OpenMP runtime that contains the leaf; 0: the leaf is user code */
    uint64_t runtime_key;
    bool in_runtime;
    bool truncated;
    bool fiber; /* the path begins on a stack that the program made inside a region */
};

#define LEVELS 4096u /* greatest nesting; deeper tasks count as code of the last one */

/* A task that is nested on the thread's own stack (context/levels.h). */
struct level {
    /* the task's own word; its address is above the frame that holds the task's exit address */
    ompt_data_t *task;
    uint64_t word; /* value of *task when the task began (task_word.h) */
    /* the region's record and LEVEL_ flags; without LEVEL_IMPLICIT and LEVEL_INITIAL, an explicit task in the
     * region of the level below */
    uintptr_t team;
    /* 0: the task's frame has the exit address. While the task encounters a region, its frame may be
     * anywhere; this is then its exit address or LEVEL_NO_EXIT. */
    uintptr_t exit;
};

/* A call that creates tasks which are not deferred, and who calls their code (creation.c). */
#define CREATION_CALLS 16u /* a power of two */
struct creation_call {
    uintptr_t codeptr;
    uint32_t generation; /* generation of the load map */
    bool by_program;
};

/* What keeps events off their common path (callbacks.c), in one word. */
union unusual {
    uint64_t any;
    struct {
        /* What the end of the current wait has to do. */
        uint8_t settles; /* settle a sample that hit the wait */
        uint8_t notes;   /* remember the wait in the line */
        /* look at locks that the thread held at its start; others may have waited for them */
        uint8_t holds;
        /* What the thread is. */
        uint8_t helper;    /* a thread of the runtime's own (helpers.h) */
        uint8_t uncounted; /* a thread that T does not count */
    };
};

/* The MPI call that the thread is in, or was in last (mpi_wait.c). */
struct mpi_wait {
    const uintptr_t *frame; /* frame of the call's function (base/mpi_layer.h) */
    /* return address in that frame; another one there means that the call was left by a jump */
    uintptr_t returns_to;
    uint32_t number;
    uint32_t samples;          /* samples that hit the call */
    uint32_t node_idx, grafts; /* node of the last of them, and the tree's grafts then */
    bool told;                 /* the rank's line counts the thread (blame/ranks.h) */
};

/* Size of the handler's stack, which ends where the record begins (sample_signal.h). A sample takes 4 KB of
 * it. If the handler faults, the kernel's frame (12 KB with AMX) needs more. */
#ifdef __x86_64__
#define THREAD_HANDLER_STACK_BYTES 32768u
#else
#define THREAD_HANDLER_STACK_BYTES 0u
#endif

struct thread {
    /* Most events read one cache line only. */
    struct state_line *line;
    union unusual unusual;
    struct level *level;      /* the current task; entry [0] stands for none (levels.h) */
    struct level *last_level; /* the last usable level */
    /* time of the next look for due work and for our signal (sampler_watch), clock_ticks() */
    uint64_t look_ticks;
    uint64_t notes_apart;  /* result of notes_choose(), in ticks */
    struct probes *probes; /* phases, events and parameters; NULL until the first (probes.c) */
    /* Key of a critical section that the thread was seen waiting for, with its variable unknown so far; 0:
     * none. The section's release looks the variable up. */
    uint64_t unnamed_critical;
    uint32_t levels_beyond; /* tasks nested deeper than LEVELS */
    struct profile_thread *ledger;
    struct tree tree;
    struct region_pool regions;
    struct placeholders placeholders;
    struct unwinder unwinder;
    struct restart_state restart;
    struct idle_sample idle;
    /* Dispatch after the end of a region: the next region gets it. */
    struct profile_metric carried;
    bool carries;
    /* Rank waiting caused by unbooked dispatch, in the MPI call with the key below (0: in several calls). */
    struct profile_ranks dispatch_ranks;
    uint64_t dispatch_ranks_key;
    struct counters *counters; /* NULL: nothing is counted (counters.h) */
    uint32_t in_tool;          /* depth of callbacks that change what the handler uses (T1) */
    int errno_before;          /* the program's errno when the callback began */
    struct float_state floats; /* the program's floating-point environment when the callback began */
    uint32_t in_handler;       /* the handler is running */
    bool guarded;              /* a fault is the handler's own: return to before_sample (fault.c) */
    sigjmp_buf before_sample;
    struct bystander stands_by;
    bool noted;           /* a wait was remembered since the end of the last region */
    uint64_t sampled;     /* word of its timer (shared_timer.h); 1: a counter's overflows; 0: none */
    bool unheard;         /* at its end, samples did not reach the tool: unsignalled_ns */
    int signal;           /* signal of its samples; 0: none was left */
    uint64_t heard_ticks; /* until this time its samples are assumed to reach the tool, clock_ticks() */
    timer_t timer;
    bool drawn;       /* the timer is set to moments.next_ns */
    uint64_t from_ns; /* start of its sampled time in ns */
    /* moment of the timer's second expiration, without another system call; 0: none */
    uint64_t second_ns;
    struct moments moments; /* with a CPU clock and with overflows only begin_ns and period_ns are used */
    uint32_t counted_wait;  /* line->acquisitions at the last wait that was counted */
    struct core core;
    struct contended_pace pace;
    uint64_t share; /* THREAD_SHARE of the current worksharing construct; 0: none */
    uint32_t team;  /* threads of the last region; 0: unknown */
    struct path path, context_path;
    struct mpi_wait mpi;
    struct tracer *tracer; /* NULL until the first traced sample (tracing.h) */
    bool traced;           /* the delivery that is being recorded is traced */
    struct creation_call undeferred[CREATION_CALLS];
    struct creation_memo *memos; /* known creation contexts; NULL until the first (creation.c) */
    uint32_t slow_samples;       /* consecutive samples that took longer than the period */
    uint32_t skip_samples;       /* samples to drop because of them */
    bool active;                 /* a thread owns the record */
    bool begun;                  /* the thread has begun an implicit task */
    struct thread *next_free, *next_all;
};

/* A worksharing construct in a word: its kind (ompt_work_t) and its number of pieces, 0 if unknown. */
#define THREAD_SHARE(kind, pieces)                                                                                     \
    (((uint64_t)(kind) << 56) | ((pieces) < 1ull << 56 ? (uint64_t)(pieces) : (1ull << 56) - 1))
#define THREAD_SHARE_KIND(share)   ((unsigned)((share) >> 56))
#define THREAD_SHARE_PIECES(share) ((share) & 0xffffffffffffffull)

/* The calling thread's record; NULL if it has none. [handler] */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* thread_self->line, or state_nobody: saves a load and a branch for locks. */
extern __thread struct state_line *thread_line __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread had a record and is about to end. [owner] */
extern __thread bool thread_has_ended __attribute__((tls_model("initial-exec")));

/* Returns a record for the calling thread, not yet in thread_self; NULL if the measurement has ended or there
 * is no room. Without room the thread's time is a counted loss until thread_end_untracked(). [owner] */
struct thread *thread_take(enum profile_thread_kind kind);
void thread_end_untracked(void); /* [owner] */

/* Gives the calling thread's record back: another thread may take it. [owner] */
void thread_give_back(struct thread *thread);

/* Books the thread's time with a core and its time waiting for one; called once, at its end. [any] */
void thread_note_run_times(struct thread *thread);

/* Sets whether the calling thread counts as one of the program's; T is the greatest number of these at one
 * time. An initial thread counts (and works) from its start, a worker from its first implicit task, a helper
 * while it runs a task. [owner] */
void thread_count(struct thread *thread, bool counted);

/* Returns all records ever made, linked by next_all. [any] */
struct thread *thread_all(void);

/* Returns T, the greatest number of the program's threads at one time. [handler] */
uint32_t thread_most(void);

/* Returns the number of threads that have a record now. [handler] */
uint32_t thread_sampled(void);

/* Returns the number of threads that found no room. [any] */
uint64_t thread_untracked(void);
uint64_t thread_untracked_ns(uint64_t now_ns); /* Returns their total lifetime up to now_ns. [any] */

/* Forgets all records, in a forked child. [init] */
void thread_reset(void);

/* Enclose a callback's work on the thread's tree (T1); errno and the floating-point environment stay as they
 * were. thread_enter_tool() returns false after the measurement's end. [owner] */
bool thread_enter_tool(struct thread *thread);
void thread_leave_tool(struct thread *thread);

#endif
