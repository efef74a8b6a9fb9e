/* A thread's record: everything that its handler and its callbacks need, in its own mapping. Records are
 * recycled and never unmapped; a record's tree goes on with the next thread that takes it. */
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

/* A call path as the tree takes it: keys from the leaf outward. */
struct path {
    uint64_t *keys; /* options.depth entries */
    size_t count;
    uint64_t runtime_key; /* the entry of the OpenMP runtime that the leaf is in; 0: in user code */
    bool in_runtime;
    bool truncated;
    bool fiber; /* it began on a stack that the program made, inside a region */
};

#define LEVELS 4096u /* tasks nested further in count as code of the last one */

/* A task that is nested on the thread's own stack (context/levels.h). */
struct level {
    ompt_data_t *task; /* the task's own word; it lies behind the frame that holds the task's exit address */
    uint64_t word;     /* what it said when the task began (task_word.h) */
    uintptr_t team;    /* the region's record and LEVEL_ flags; without LEVEL_IMPLICIT and LEVEL_INITIAL an
                          explicit task, of the same region as the level below */
    uintptr_t exit;    /* 0: as the task's frame says. While the task encounters a region its frame may be
                          anywhere: its exit address then, or LEVEL_NO_EXIT */
};

/* A call that creates tasks which are not deferred, and who calls their code (creation.c). */
#define CREATION_CALLS 16u /* a power of two */
struct creation_call {
    uintptr_t codeptr;
    uint32_t generation; /* of the load map */
    bool by_program;
};

/* What keeps events from their common way (callbacks.c): one look for all of it. */
union unusual {
    uint64_t any;
    struct {
        /* While the thread is in a wait, what its end is to do. */
        uint8_t settles; /* a sample hit it */
        uint8_t notes;   /* the line is to remember it */
        uint8_t holds;   /* it began with locks, for which others may have waited */
        /* What the thread is. */
        uint8_t helper;    /* one of the runtime's own (helpers.h) */
        uint8_t uncounted; /* not one of those that T counts */
    };
};

/* The call of MPI's that the thread is in, or was in last (mpi_wait.c). */
struct mpi_wait {
    const uintptr_t *frame; /* of its function (base/mpi_layer.h); it may have been jumped out of: */
    uintptr_t returns_to;   /* then this is not in it any more */
    uint32_t number;
    uint32_t samples;          /* that hit it, */
    uint32_t node_idx, grafts; /* and where they were booked last */
    bool told;                 /* the rank's line counts the thread (blame/ranks.h) */
};

/* The handler's stack, which ends where the record begins (sample_signal.h). A sample takes 4 KB of it; where the handler faults, the kernel's frame
 * (12 KB with AMX) comes on top. */
#ifdef __x86_64__
#define THREAD_HANDLER_STACK_BYTES 32768u
#else
#define THREAD_HANDLER_STACK_BYTES 0u
#endif

struct thread {
    /* What most events read is one cache line. */
    struct state_line *line;
    union unusual unusual;
    struct level *level;      /* of the current task; [0] is for none (levels.h) */
    struct level *last_level; /* there is no room behind it */
    uint64_t look_ticks;      /* when to look again whether samples come to us, or for what is due (sampler_watch) */
    uint64_t notes_apart;     /* notes_choose() */
    struct probes *probes;    /* phases, events and parameters; NULL until the first (probes.c) */
    /* A critical section that the thread was seen waiting for, whose variable is not known yet; 0: none. Its
     * release asks for it. */
    uint64_t unnamed_critical;
    uint32_t levels_beyond; /* tasks nested in that of the last one */
    struct profile_thread *ledger;
    struct tree tree;
    struct region_pool regions;
    struct placeholders placeholders;
    struct unwinder unwinder;
    struct restart_state restart;
    struct idle_sample idle;
    /* Dispatch after the region had ended: booked in the region that comes next. */
    struct profile_metric carried;
    bool carries;
    /* What other ranks waited for of the dispatch that is not booked yet, in the call with that key; 0: in several. */
    struct profile_ranks dispatch_ranks;
    uint64_t dispatch_ranks_key;
    struct counters *counters; /* NULL: nothing is counted (counters.h) */
    uint32_t in_tool;          /* a callback works on what the handler uses (T1) */
    int errno_before;          /* the program's, then */
    struct float_state floats; /* the program's floating-point environment, then */
    uint32_t in_handler;       /* the handler is running */
    bool guarded;              /* a fault is one of the handler's: back to before_sample (fault.c) */
    sigjmp_buf before_sample;
    struct bystander stands_by;
    bool noted;           /* a wait, since the last region's end */
    uint64_t sampled;     /* its timer (shared_timer.h); 1 where it has a counter's overflows, 0: none */
    bool unheard;         /* at its end its samples did not come to us: unsignalled_ns */
    int signal;           /* by which its samples come; 0: there was none left */
    uint64_t heard_ticks; /* until then its samples are taken to come to us */
    timer_t timer;
    bool drawn;             /* the timer is to expire at moments.next_ns */
    uint64_t from_ns;       /* its time is sampled from then on */
    uint64_t second_ns;     /* after its next expiration the timer expires at this moment by itself; 0: at none */
    struct moments moments; /* of a CPU clock, and of overflows, only begin_ns and period_ns count */
    uint32_t counted_wait;  /* line->acquisitions when a wait was counted last */
    struct core core;
    struct contended_pace pace;
    uint64_t share; /* THREAD_SHARE of the worksharing construct that it executes, 0: none */
    uint32_t team;  /* threads of the region begun last, 0: not known any more */
    struct path path, context_path;
    struct mpi_wait mpi;
    struct tracer *tracer; /* NULL until the first sample that is traced (tracing.h) */
    bool traced;           /* the delivery that is being recorded is */
    struct creation_call undeferred[CREATION_CALLS];
    struct creation_memo *memos; /* creation contexts found before, NULL until the first (creation.c) */
    uint32_t slow_samples;       /* in a row, each of which took longer than the period */
    uint32_t skip_samples;       /* to be dropped because of that */
    bool active;                 /* a thread owns it now */
    bool begun;                  /* it has begun an implicit task */
    struct thread *next_free, *next_all;
};

/* A worksharing construct: what kind (an ompt_work_t), and how many pieces it has, 0: not known. */
#define THREAD_SHARE(kind, pieces)                                                                                     \
    (((uint64_t)(kind) << 56) | ((pieces) < 1ull << 56 ? (uint64_t)(pieces) : (1ull << 56) - 1))
#define THREAD_SHARE_KIND(share)   ((unsigned)((share) >> 56))
#define THREAD_SHARE_PIECES(share) ((share) & 0xffffffffffffffull)

/* The calling thread's record, NULL when it has none. [handler] */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* thread_self->line, or state_nobody: what locks need, one load and one branch nearer. */
extern __thread struct state_line *thread_line __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread had a record, and is about to end. [owner] */
extern __thread bool thread_has_ended __attribute__((tls_model("initial-exec")));

/* A record for the calling thread, which is not found by it yet; NULL when the measurement has ended, or there is no room:
 * the thread's time is then a loss, counted until thread_end_untracked(). [owner] */
struct thread *thread_take(enum profile_thread_kind kind);
void thread_end_untracked(void); /* [owner] */

/* The calling thread has none any more: another may take it. [owner] */
void thread_give_back(struct thread *thread);

/* Books how long it ran, and waited for a core; once, at its end. [any] */
void thread_note_run_times(struct thread *thread);

/* Whether the calling thread counts as one of the program's: T is the most of these that existed at once. An
 * initial thread counts (and works) from the begin, a worker from its first implicit task on, a helper while
 * it runs a task. [owner] */
void thread_count(struct thread *thread, bool counted);

/* All records ever made, linked by next_all. [any] */
struct thread *thread_all(void);

/* T: most of the program's threads that existed at once. [handler] */
uint32_t thread_most(void);

/* Threads that have a record now. [handler] */
uint32_t thread_sampled(void);

/* Threads for which there was no room. [any] */
uint64_t thread_untracked(void);
uint64_t thread_untracked_ns(uint64_t now_ns); /* their lifetimes until then [any] */

/* Forgets all records: the child of a fork. [init] */
void thread_reset(void);

/* Callbacks around work on the thread's tree (T1), which leaves errno and the floating-point environment as they were. begin returns false when measurement has
 * ended. [owner] */
bool thread_enter_tool(struct thread *thread);
void thread_leave_tool(struct thread *thread);

#endif
