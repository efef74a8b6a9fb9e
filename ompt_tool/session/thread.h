/* A thread's record: all data that the thread's handler and callbacks need, in a mapping of its own. Records
 * are reused, and are never unmapped. A thread that takes a used record continues its tree. */
#ifndef BLAME_OMPT_TOOL_SESSION_THREAD_H
#define BLAME_OMPT_TOOL_SESSION_THREAD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <omp-tools.h>

#include "base/float_state.h"
#include "blame/account.h"
#include "blame/contended.h"
#include "blame/neighbours.h"
#include "blame/state.h"
#include "blame/waited.h"
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

/* A call path as an array of node keys, from the leaf outward. */
struct path {
    uint64_t *keys; /* array of session.options.depth entries */
    size_t count;
    /* key of the OpenMP runtime's entry point that contains the leaf; 0: the leaf is user code */
    uint64_t runtime_key;
    bool in_runtime;
    bool truncated;
    bool fiber; /* whether the path starts on a stack that the program created inside a region */
};

/* most nested tasks; code of deeper ones is attributed to the last task within the limit */
#define LEVELS 4096u

/* A task that the thread executes. Tasks are nested on the thread's stack (context/levels.h). */
struct level {
    /* the task's data word of OMPT; it is stored above the frame that contains the task's exit address */
    ompt_data_t *task;
    /* value of *task when the task began (task_word.h); for an implicit task the number of its barriers so far,
     * in the lowest byte; if `task` is NULL, the region_word() of a region that the thread enters, or 0 */
    uint64_t word;
    /* Address of the region's record, combined with LEVEL_ flags. Without LEVEL_IMPLICIT and LEVEL_INITIAL,
     * the task is an explicit one, in the region of the next lower level. */
    uintptr_t team;
    /* The task's exit address, or LEVEL_NO_EXIT, while the task encounters a region, because its frame may
     * then be anywhere. 0: the frame contains the exit address. */
    uintptr_t exit;
};

/* What is known of a call that creates undeferred tasks: whether the code of these tasks is called by the
 * program or by the runtime (creation.c). */
#define CREATION_CALLS 16u /* must be a power of two */
struct creation_call {
    uintptr_t codeptr;
    uint32_t generation; /* generation of the load map for which this is known */
    bool by_program;
};

/* Conditions under which an event must leave its common path (callbacks.c). They share a word, so one load
 * tests all of them. */
union unusual {
    uint64_t any;
    struct {
        /* To be done at the end of the current wait: */
        uint8_t settles; /* finish what a sample began during the wait (settle_wait, bystander_end) */
        uint8_t notes;   /* note the wait in the state line */
        /* book blame for this wait: the thread held locks when it began, and others may have waited for them */
        uint8_t holds;
        /* What kind of thread this is: */
        uint8_t helper; /* one of the runtime's own threads (helpers.h) */
        /* not counted in T, the greatest number of the program's threads that existed at one time */
        uint8_t uncounted;
    };
};

/* The MPI call that the thread is in, or was in last (mpi_wait.c). */
struct mpi_wait {
    const uintptr_t *frame; /* frame of the called MPI function (base/mpi_layer.h) */
    /* return address in that frame; if it has changed, the program has left the call by a jump */
    uintptr_t returns_to;
    uint32_t number;
    uint32_t samples; /* number of samples taken during the call */
    /* node of the last of these samples, and how many grafts the tree had seen then */
    uint32_t node_idx, grafts;
    bool told; /* whether the rank's line in shared memory counts the thread as waiting (blame/ranks.h) */
};

/* The thread's wait for a lock of POSIX threads (pthread_waits.c). */
struct pthread_wait {
    const uintptr_t *frame; /* frame of the function that waits (base/pthreads_layer.h) */
    /* return address in that frame; if it has changed, the program has left the wait by a jump */
    uintptr_t returns_to;
    /* address of the mutex that the thread's condition wait will acquire; 0: the thread is in no such wait */
    uintptr_t mutex;
    bool reads;                /* whether it waits for a lock in order to read */
    bool is_awaited;           /* whether the last sample has found threads that wait for a lock of this one */
    bool holds_is_new;         /* whether the current sample has set `holds` */
    struct waited holds;       /* locks for which others wait and that the thread holds, or some of these */
    uintptr_t start;           /* the function that the thread executes; 0: unknown */
    uint32_t node_idx, grafts; /* context of the last sample, 0: none; how many grafts the tree had seen then */
};

#define THREAD_STAYS 2u
/* What the thread waits for until another thread wakes it (sampling/woken.h). */
struct thread_awaits {
    uint64_t key;              /* PROFILE_WAKE_KEY with the object's address; 0: nothing */
    uint32_t entry;            /* the object's entry (blame/wakers.h) if the thread has joined it; else 0 */
    uint32_t counted;          /* the entry if it counts the thread as one that waits now; else 0 */
    uint32_t sampled;          /* whether samples have found the thread asleep in the wait */
    uint32_t node_idx, grafts; /* context of the wait, and how many grafts the tree had seen then */
    double ns;                 /* ns that the thread has slept, by samples */
    uint64_t before;           /* the last waker at the wait's begin, or when the thread joined the object */
    /* objects that the thread stays joined to between its waits, the last first, and for how many more waits */
    struct thread_stays {
        uint64_t object;
        uint32_t entry, waits;
    } stays[THREAD_STAYS];
    bool aside; /* whether it waits outside all regions, and is not counted in T */
};

/* Size of the handler's stack in bytes. The stack ends where the record begins (sample_signal.h). An ordinary
 * sample uses 4 KB of it. If the handler faults, the kernel's signal frame needs more (12 KB with AMX). */
#ifdef __x86_64__
#define THREAD_HANDLER_STACK_BYTES 32768u
#else
#define THREAD_HANDLER_STACK_BYTES 0u
#endif

/* Dispatch that is not booked yet. */
struct thread_dispatch {
    struct profile_metric sums; /* sums of dispatch at the end of a region, to be booked in the next region */
    bool is_carried;            /* whether there are such sums */
    struct profile_ranks ranks; /* rank waiting caused by this dispatch */
    uint64_t ranks_key;         /* key of the MPI call in which the ranks wait; 0: several calls */
};

/* Whether the thread executes the tool's code. */
struct thread_inside {
    /* number of nested callbacks that are changing data that the handler uses (T1) */
    uint32_t tool;
    int errno_before;          /* the program's errno when the callback began */
    struct float_state floats; /* the program's floating-point environment when the callback began */
    uint32_t handler;          /* whether the handler is running */
    /* whether fault.c handles a fault by a jump to before_sample */
    bool guarded;
    sigjmp_buf before_sample;
};

/* The thread's timer and its samples (sampler.c). */
struct thread_sampling {
    /* word of the thread's timer (shared_timer.h); 1: sampled at a counter's overflows; 0: not sampled */
    uint64_t word;
    /* whether samples no longer reached the tool at the thread's end (unsignalled_ns) */
    bool unheard;
    int signal;           /* number of the sampling signal of this thread; 0: none was free */
    uint64_t heard_ticks; /* time of the next check whether samples still reach the tool, on clock_ticks() */
    timer_t timer;
    bool drawn;       /* whether the timer is set to moments.next_ns */
    uint64_t from_ns; /* start of the time that the thread's samples represent, in ns */
    /* time in ns at which the timer expires a second time without another system call; 0: not set */
    uint64_t second_ns;
    struct moments moments; /* with a CPU clock or with overflows, only begin_ns and period_ns are used */
    uint32_t slow;          /* number of samples in a row that took longer than the period */
    uint32_t skip;          /* number of samples still to be dropped after slow ones */
};

/* The sleep in which samples have found the thread (sleeper.h). */
enum sleep_state {
    SLEEP_NONE,    /* the thread is sampled once in each period */
    SLEEP_GOES_ON, /* the thread slept at its last sample; its next one comes much later */
    SLEEP_IS_OVER, /* the sleep is over, and the first sample after it has not come yet */
};

struct thread_sleep {
    enum sleep_state state;
    uint32_t node_idx, grafts; /* context of the sleep, and how many grafts the tree had seen then */
    uint32_t gaps, patience;   /* number of gaps that it has slept through, of those after which they may be longer */
    uint64_t most_gap_ns;      /* greatest gap between two samples of the thread as a sleeper */
    /* whether others were busy at the last sample that found the thread in this sleep; the same of the current sample */
    bool beside, beside_now;
    uint32_t found;        /* number of samples in a row that found the thread in this sleep */
    long sleeps;           /* the thread's voluntary switches (run_switches) at the last of them */
    uint64_t found_ns;     /* time of the last of them */
    uint64_t since_ns;     /* time of the first of them */
    uint64_t begin_ns;     /* end of the time that has been booked */
    uint64_t due_ns;       /* time for which the thread's timer is set */
    uint64_t ends_ns;      /* end of the sleep, after which the timer is set to expire; 0: unknown */
    uint64_t paused_ticks; /* for how long the program had paused the measurement when the thread became a sleeper */
    timer_t cpu_timer;     /* timer of the thread's CPU time, to notice the end of the sleep */
    uint64_t cpu_word;     /* its word (shared_timer.h); 0: there is none */
};

/* The construct that the thread executes. */
struct thread_construct {
    uint64_t share; /* current worksharing construct, packed by THREAD_SHARE; 0: none */
    uint32_t team;  /* size of the thread's last team; 0: unknown */
};

/* What is known of the thread's task creations (creation.c). */
struct thread_creation {
    struct creation_call calls[CREATION_CALLS];
    struct creation_memo *memos; /* creation contexts that were captured before; NULL until the first */
};

/* Waiting for a lock that was free, which samples keep until the lock's next owner is known (lock_blame.c). */
#define THREAD_HANDOVER_MOMENTS 16u
struct thread_handover {
    uint64_t key;              /* key of the lock; 0: nothing is kept */
    uint32_t node_idx, grafts; /* context of the wait, and how many grafts the tree had seen then */
    uint32_t count;
    struct thread_handover_moment {
        int64_t ticks;           /* the moment's time in ticks */
        uint64_t time_ns;        /* the same in ns */
        struct lock_blame blame; /* includes later moments for which there was no room */
        bool no_core;            /* whether this thread had no core */
    } moment[THREAD_HANDOVER_MOMENTS];
};

/* The use of the record, and its links in lists (thread.c). */
struct thread_record {
    bool active;      /* whether a thread owns the record */
    bool begun;       /* whether the thread has begun an implicit task */
    bool usual;       /* whether it has begun one, and does not ask whose event the next one is */
    bool plain;       /* whether the thread is measured although no runtime has reported it */
    bool second;      /* whether the process's second runtime reported the thread's start */
    bool of_team;     /* whether the thread counts with its team (thread_count_workers) */
    uint32_t workers; /* number of threads that count because of this one */
    struct thread *next_free, *next_all;
};

struct thread {
    /* The first cache line, the only one that most events read. */
    struct state_line *line;
    union unusual unusual;
    struct level *level;      /* entry of the current task; entry [0] stands for no task (levels.h) */
    struct level *last_level; /* last usable entry of the levels */
    /* time of the next check of due samples and of the sampling signal (sampler_watch), on clock_ticks() */
    uint64_t look_ticks;
    /* a wait is noted if it begins more than this many ticks after the previous wait began (notes_choose) */
    uint64_t notes_apart;
    /* the thread's phases, events and parameters; NULL before the first one (probes.c) */
    struct probes *probes;
    /* Key of a critical section for which the thread was seen waiting and whose name is not known yet; 0:
     * none. The name is looked up when the thread leaves the section. */
    uint64_t unnamed_critical;
    uint32_t levels_beyond; /* number of tasks nested deeper than LEVELS */
    struct profile_thread *ledger;
    struct tree tree;
    struct region_pool regions;
    struct placeholders placeholders;
    struct unwinder unwinder;
    struct restart_state restart;
    struct idle_sample idle;
    struct thread_dispatch dispatch; /* dispatch that is not booked yet */
    /* hardware and kernel counters; NULL: none is used (counters.h) */
    struct counters *counters;
    struct thread_inside inside; /* whether the thread executes the tool's code */
    struct bystander stands_by;
    bool noted;                      /* whether a wait was noted since the end of the last region */
    struct thread_sampling sampling; /* the thread's timer and its samples */
    struct thread_sleep sleep;       /* the sleep in which samples have found the thread */
    uint32_t counted_wait;           /* value of line->acquisitions at the last lock wait that a sample has counted */
    uint64_t counted_ns;             /* the sample's last moment */
    double counted_p;                /* the weight of that moment */
    struct core core;
    struct thread_handover handover; /* waiting for a lock that was free, until its next owner is known */
    struct contended_pace pace;
    struct thread_construct construct; /* the construct that the thread executes */
    struct path path, context_path;
    struct neighbours neighbours; /* of its samples, for the errors that reports state */
    struct mpi_wait mpi;
    struct pthread_wait pthread;
    struct thread_awaits awaits;
    struct tracer *tracer;           /* trace writer; NULL until the first traced sample (tracing.h) */
    bool traced;                     /* whether the delivery that is being recorded is traced */
    struct thread_creation creation; /* what is known of the thread's task creations */
    struct thread_record record;     /* the record's use, and its links in lists */
};

_Static_assert(offsetof(struct thread, levels_beyond) == 64, "most events read only one cache line");

/* Packs a worksharing construct into a word: its kind (ompt_work_t) and its number of pieces (0: unknown). */
#define THREAD_SHARE(kind, pieces)                                                                                     \
    (((uint64_t)(kind) << 56) | ((pieces) < 1ull << 56 ? (uint64_t)(pieces) : (1ull << 56) - 1))
#define THREAD_SHARE_KIND(share)   ((unsigned)((share) >> 56))
#define THREAD_SHARE_PIECES(share) ((share) & 0xffffffffffffffull)

/* The calling thread's record; NULL if it has none. [handler] */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread's state line, or state_nobody if it has none. Lock events save a load and a branch by
 * it. [owner] */
extern __thread struct state_line *thread_line __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Whether the calling thread has given back its record because it is about to end. [owner] */
extern __thread bool thread_has_ended __attribute__((tls_model("initial-exec")));

/* Makes what the first record needs from the heap: it may be taken in a signal handler (life/fuse.h). Returns false
 * if there is no memory. [init] */
bool thread_prepare(void);

/* Returns a record for the calling thread, and does not set thread_self. Returns NULL if the measurement has
 * ended or memory is short. In the second case, the thread's time until thread_end_untracked() counts as
 * lost. [owner] */
struct thread *thread_take(enum profile_thread_kind kind);
void thread_end_untracked(void); /* [owner] */

/* Gives back the calling thread's record, for another thread to take. [owner] */
void thread_give_back(struct thread *thread);

/* Adds to the thread's ledger the time that it had a core and the time that it lacked one, by the kernel's
 * counts. Called once, at the thread's end. [any] */
void thread_note_run_times(struct thread *thread);

/* Sets whether the calling thread counts as one of the program's threads. T is the greatest number of such
 * threads at one time. An initial thread counts from its start, a worker from its first implicit task, and a
 * helper while it executes a task. [owner] */
void thread_count(struct thread *thread, bool counted);

/* Adds to the number of threads that count because the calling thread has a team, until it ends. They are `of_team`: their
 * own begins and ends count nothing. [owner] */
void thread_count_workers(struct thread *thread, int32_t more);

/* Counts no thread but the initial one any longer, because the program will have teams, of which the others are no part.
 * [owner] */
void thread_set_others_outside(void);

/* Takes the thread, which waits for another outside all regions, out of T, or puts it back. [owner] */
void thread_stand_aside(struct thread *thread, bool aside);

/* Puts the program's first thread outside the teams until it begins a region: the first team is about to be another
 * thread's. [owner] */
void thread_set_first_outside(void);

/* At the end of the run, makes the program's first thread one that T does not count, if it had no region. [owner] */
void thread_leave_out_first(void);

/* Returns whether samples may have been booked with more than T busy threads: more counted before the first region, or the
 * teams were smaller than the runtime had announced. [any] */
bool thread_booked_more(void);

/* Returns all records that were ever created, linked by next_all. [any] */
struct thread *thread_all(void);

/* Returns T, the greatest number of the program's threads at one time. [handler] */
uint32_t thread_most(void);

/* Returns the number of threads that have a record now. [handler] */
uint32_t thread_sampled(void);

/* Returns the number of threads that have found no memory for a record. [handler] */
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
