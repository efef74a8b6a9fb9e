/* A thread's record: all data that the thread's handler and callbacks need, in a mapping of its own. Records
 * are reused and never unmapped. The next thread that takes a record continues its tree. */
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

/* A call path as a series of node keys, from the leaf outward. */
struct path {
    uint64_t *keys; /* array of session.options.depth entries */
    size_t count;
    /* key of the OpenMP runtime's entry point that contains the leaf; 0: the leaf is user code */
    uint64_t runtime_key;
    bool in_runtime;
    bool truncated;
    bool fiber; /* the path begins on a stack that the program made inside a region */
};

/* greatest nesting of tasks; code of deeper tasks counts for the last task within the limit */
#define LEVELS 4096u

/* A task that the thread executes. Tasks are nested on the thread's stack (context/levels.h). */
struct level {
    /* the task's own word; it lies above the frame that holds the task's exit address */
    ompt_data_t *task;
    uint64_t word; /* value of *task when the task began (task_word.h) */
    /* Address of the region's record, and LEVEL_ flags. Without LEVEL_IMPLICIT and LEVEL_INITIAL, the task is
     * an explicit one in the region of the level below. */
    uintptr_t team;
    /* The task's exit address, or LEVEL_NO_EXIT, while the task encounters a region: its frame may be
     * anywhere then. 0: the task's frame has the exit address. */
    uintptr_t exit;
};

/* What is known of a call that creates undeferred tasks: whether the program or the runtime calls their code
 * (creation.c). */
#define CREATION_CALLS 16u /* a power of two */
struct creation_call {
    uintptr_t codeptr;
    uint32_t generation; /* generation of the load map in which this was found */
    bool by_program;
};

/* Conditions under which an event cannot take its common path (callbacks.c). They share a word, so that one
 * load finds any of them. */
union unusual {
    uint64_t any;
    struct {
        /* What the end of the current wait has to do: */
        uint8_t settles; /* settle a sample that hit the wait */
        uint8_t notes;   /* note the wait in the state line */
        /* give others' blame to this thread: it held locks when the wait began, and others may have waited
         * for them */
        uint8_t holds;
        /* What kind of thread this is: */
        uint8_t helper;    /* one of the runtime's own threads (helpers.h) */
        uint8_t uncounted; /* not counted in T, the greatest number of the program's threads at one time */
    };
};

/* The MPI call that the thread is in, or was in last (mpi_wait.c). */
struct mpi_wait {
    const uintptr_t *frame; /* frame of the function that was called (base/mpi_layer.h) */
    /* return address in that frame; if another one is there, the program has left the call by a jump */
    uintptr_t returns_to;
    uint32_t number;
    uint32_t samples; /* samples that hit the call */
    /* node of the last of these samples, and the number of the tree's grafts at that time */
    uint32_t node_idx, grafts;
    bool told; /* whether the rank's line counts the thread as waiting (blame/ranks.h) */
};

/* Size of the handler's stack in bytes. The stack ends where the record begins (sample_signal.h). A sample
 * takes 4 KB of it. If the handler faults, the kernel's signal frame takes more (12 KB with AMX). */
#ifdef __x86_64__
#define THREAD_HANDLER_STACK_BYTES 32768u
#else
#define THREAD_HANDLER_STACK_BYTES 0u
#endif

struct thread {
    /* The first cache line: most events read no other. */
    struct state_line *line;
    union unusual unusual;
    struct level *level;      /* the current task; entry [0] stands for no task (levels.h) */
    struct level *last_level; /* last usable entry of the levels */
    /* time of the next check of due samples and of the tool's signal (sampler_watch), on clock_ticks() */
    uint64_t look_ticks;
    /* a wait is noted if it begins more than this many ticks after the previous one (notes_choose) */
    uint64_t notes_apart;
    /* the thread's phases, events and parameters; NULL before the first one (probes.c) */
    struct probes *probes;
    /* Key of a critical section for which the thread was seen waiting and whose lock variable is not known
     * yet; 0: none. The release of the section looks the variable up. */
    uint64_t unnamed_critical;
    uint32_t levels_beyond; /* number of tasks nested deeper than LEVELS */
    struct profile_thread *ledger;
    struct tree tree;
    struct region_pool regions;
    struct placeholders placeholders;
    struct unwinder unwinder;
    struct restart_state restart;
    struct idle_sample idle;
    /* Dispatch after the end of a region, which the next region gets, and whether there is any. */
    struct profile_metric carried;
    bool carries;
    /* Other ranks' waiting caused by dispatch that is not booked yet, and the key of the MPI call in which
     * they wait (0: several calls). */
    struct profile_ranks dispatch_ranks;
    uint64_t dispatch_ranks_key;
    /* counters of the hardware and the kernel; NULL: nothing is counted (counters.h) */
    struct counters *counters;
    /* depth of callbacks inside the tool, which change what the handler uses (T1) */
    uint32_t in_tool;
    int errno_before;          /* the program's errno when the callback began */
    struct float_state floats; /* the program's floating-point environment when the callback began */
    uint32_t in_handler;       /* whether the handler is running */
    /* whether a fault is now the handler's own, after which fault.c jumps to before_sample */
    bool guarded;
    sigjmp_buf before_sample;
    struct bystander stands_by;
    bool noted; /* whether a wait was noted since the end of the last region */
    /* word of the thread's timer (shared_timer.h); 1: samples at a counter's overflows; 0: not sampled */
    uint64_t sampled;
    bool unheard;         /* whether samples failed to reach the tool at the thread's end (unsignalled_ns) */
    int signal;           /* number of the signal that the thread's samples use; 0: none was left */
    uint64_t heard_ticks; /* time until which the samples are assumed to reach the tool, on clock_ticks() */
    timer_t timer;
    bool drawn;       /* whether the timer is set to moments.next_ns */
    uint64_t from_ns; /* start of the time that the thread's samples cover, in ns */
    /* time in ns at which the timer expires again without another system call; 0: it does not */
    uint64_t second_ns;
    struct moments moments; /* with a CPU clock or with overflows, only begin_ns and period_ns are used */
    uint32_t counted_wait;  /* line->acquisitions at the last lock wait that samples have counted */
    struct core core;
    struct contended_pace pace;
    uint64_t share; /* THREAD_SHARE of the current worksharing construct; 0: none */
    uint32_t team;  /* number of threads in the thread's last team; 0: unknown */
    struct path path, context_path;
    struct mpi_wait mpi;
    struct tracer *tracer; /* NULL until the first traced sample (tracing.h) */
    bool traced;           /* whether the delivery that is being recorded is traced */
    struct creation_call undeferred[CREATION_CALLS];
    struct creation_memo *memos; /* known creation contexts; NULL until the first (creation.c) */
    uint32_t slow_samples;       /* consecutive samples that took longer than the period */
    uint32_t skip_samples;       /* number of samples that are still to be dropped after slow ones */
    bool active;                 /* whether a thread owns the record */
    bool begun;                  /* whether the thread has begun an implicit task */
    struct thread *next_free, *next_all;
};

/* A worksharing construct as one word: its kind (ompt_work_t) and its number of pieces (0: unknown). */
#define THREAD_SHARE(kind, pieces)                                                                                     \
    (((uint64_t)(kind) << 56) | ((pieces) < 1ull << 56 ? (uint64_t)(pieces) : (1ull << 56) - 1))
#define THREAD_SHARE_KIND(share)   ((unsigned)((share) >> 56))
#define THREAD_SHARE_PIECES(share) ((share) & 0xffffffffffffffull)

/* The calling thread's record; NULL if it has none. [handler] */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread's state line, or state_nobody. It saves the events of locks a load and a branch. [owner] */
extern __thread struct state_line *thread_line __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Whether the calling thread has given its record back because it is about to end. [owner] */
extern __thread bool thread_has_ended __attribute__((tls_model("initial-exec")));

/* Returns a record for the calling thread, which is not yet in thread_self. Returns NULL if the measurement
 * has ended or if there is no room. Without room, the thread's time until thread_end_untracked() is a counted
 * loss. [owner] */
struct thread *thread_take(enum profile_thread_kind kind);
void thread_end_untracked(void); /* [owner] */

/* Gives the calling thread's record back, so that another thread may take it. [owner] */
void thread_give_back(struct thread *thread);

/* Adds to the thread's ledger its time on a core and its time without one, by the kernel's counts. Called
 * once, at the thread's end. [any] */
void thread_note_run_times(struct thread *thread);

/* Sets whether the calling thread counts as one of the program's threads. T is the greatest number of these
 * at one time. An initial thread counts from its start, a worker from its first implicit task, and a helper
 * while it executes a task. [owner] */
void thread_count(struct thread *thread, bool counted);

/* Returns all records ever made, linked by next_all. [any] */
struct thread *thread_all(void);

/* Returns T, the greatest number of the program's threads at one time. [handler] */
uint32_t thread_most(void);

/* Returns the number of threads that have a record now. [handler] */
uint32_t thread_sampled(void);

/* Returns the number of threads that found no room for a record. [handler] */
uint64_t thread_untracked(void);
/* Returns the total lifetime of these threads in ns, up to now_ns. [any] */
uint64_t thread_untracked_ns(uint64_t now_ns);

/* Forgets all records, in the child of a fork. [init] */
void thread_reset(void);

/* Enclose a callback's work on the thread's tree (T1), and preserve errno and the floating-point environment.
 * thread_enter_tool() returns false after the measurement's end. [owner] */
bool thread_enter_tool(struct thread *thread);
void thread_leave_tool(struct thread *thread);

#endif
