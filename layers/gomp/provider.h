/* What the provider knows of threads, tasks and regions, and how it tells them to the tool.
 *
 * Signal handlers of a tool read these records through OMPT's entry points (inquiry.c), in the thread that they
 * interrupted. So each record is complete before the pointer to it is stored (signal_fence), and memory of records
 * is never unmapped: a thread of libgomp's pool keeps the record of a region's implicit task, and through it
 * pointers to the region and to the task that encountered it, until it enters its next region. */
#ifndef BLAME_LAYERS_GOMP_PROVIDER_H
#define BLAME_LAYERS_GOMP_PROVIDER_H

#include <omp-tools.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "layers/gomp/functions.h"

#define EXPORT      __attribute__((visibility("default")))
#define NOINLINE    __attribute__((noinline))
#define HIDDEN      __attribute__((visibility("hidden")))
#define CODE        __builtin_return_address(0)
#define FRAME       __builtin_frame_address(0)
#define FRAME_FLAGS (ompt_frame_runtime | ompt_frame_framepointer)

struct thread;
struct region;

struct task {
    ompt_data_t data;   /* the tool's */
    ompt_frame_t frame; /* what the tool sees of the stack */
    struct task
        *parent; /* the task that this thread left for it; of an implicit task: the one that encountered its region */
    struct region *region;
    int flags;              /* ompt_task_flag_t */
    int index;              /* number of the thread in the region's team */
    int state;              /* ompt_state_t of the thread whose current task it is */
    struct thread *owner;   /* whose pool the record belongs to */
    struct task *next;      /* in a list of free records */
    uint64_t region_serial; /* of `region` when the task was created */
    void *event;            /* of a detachable task: libgomp's handle; NULL: none */
    int64_t step;           /* of the loop that it is in */
    int work;               /* ompt_work_t that it is in; 0: none */
    unsigned loops;         /* nested loops of its doacross loop */
    bool has_deferred;      /* since its last taskwait it has created a task that may not have run at once */
    bool may_vanish;        /* libgomp may discard it */
    bool copies;            /* it executes `single` with copyprivate, by our own means */
    bool ended;             /* `ended`: of a detachable task: its body has returned */
};

/* A parallel region or a league, and what its threads need to run it. The first word is what libgomp reads of the
 * program's data block in GOMP_parallel_reductions. */
struct region {
    void *word;
    outlined *body;
    void *argument;
    ompt_data_t data;       /* the tool's */
    struct thread *primary; /* the thread that encountered it */
    struct task *encountering;
    struct region *inner; /* the next record of the same thread's list, for a nested region */
    const void *code;     /* where the program encountered it */
    uint64_t serial;      /* how often this record was used */
    unsigned size;        /* threads of the team; 0 before the first one has begun */
    int flags;            /* ompt_parallel_flag_t */
    int work;             /* ompt_work_t of a combined loop; 0: none */
    int64_t step;         /* of a combined loop */
    uint64_t iterations;  /* of a combined loop */
    void *copies;         /* of `single` with copyprivate: the executing thread's values */
};

struct thread {
    ompt_data_t data;  /* the tool's */
    struct task *task; /* the current one */
    uint64_t wait_id;  /* of the lock that it waits for */
    int mutex_state;   /* ompt_state_t while it waits for a lock; 0: it does not */
    int kind;          /* ompt_thread_t */
    bool late;         /* its task waits in a region's last barrier, whose end libgomp does not tell */
    bool artificial;   /* has libgomp made a team of one for it outside all regions? */
    uint64_t ids;      /* given by ompt_get_unique_id */
    uint64_t number;
    struct task *free;       /* records of tasks */
    struct task *given_back; /* records that other threads have freed; any thread adds */
    struct slab *slabs;
    struct region *regions; /* first record of its list */
    struct thread *next;    /* in the list of free records */
    struct task initial_task;
    struct region initial_region;
};

/* The implementation of all locks, a number of ours (ompt_enumerate_mutex_impls) */
enum { MUTEX_FUTEX = 1 };

/* How an event is answered by ompt_set_callback: C(event, type, answer).
 *
 * Every end of a thread that libgomp has is told; its workers have none if the process ends first. `sync_region_wait`
 * of a region's last barrier ends late, as in LLVM's runtime. `work` lacks static loops in line and the ends of
 * `single`. */
#define PROVIDED_CALLBACKS(C)                                                                                          \
    C(thread_begin, thread_begin, ompt_set_always)                                                                     \
    C(thread_end, thread_end, ompt_set_always)                                                                         \
    C(parallel_begin, parallel_begin, ompt_set_always)                                                                 \
    C(parallel_end, parallel_end, ompt_set_always)                                                                     \
    C(implicit_task, implicit_task, ompt_set_always)                                                                   \
    C(task_create, task_create, ompt_set_always)                                                                       \
    C(task_schedule, task_schedule, ompt_set_always)                                                                   \
    C(control_tool, control_tool, ompt_set_always)                                                                     \
    C(sync_region, sync_region, ompt_set_always)                                                                       \
    C(sync_region_wait, sync_region, ompt_set_always)                                                                  \
    C(mutex_acquire, mutex_acquire, ompt_set_always)                                                                   \
    C(mutex_acquired, mutex, ompt_set_always)                                                                          \
    C(mutex_released, mutex, ompt_set_always)                                                                          \
    C(nest_lock, nest_lock, ompt_set_always)                                                                           \
    C(lock_init, mutex_acquire, ompt_set_always)                                                                       \
    C(lock_destroy, mutex, ompt_set_always)                                                                            \
    C(dependences, dependences, ompt_set_always)                                                                       \
    C(work, work, ompt_set_sometimes)                                                                                  \
    C(dispatch, dispatch, ompt_set_sometimes)                                                                          \
    C(cancel, cancel, ompt_set_sometimes)

#define CALLBACK_FIELD(event, type, answer) ompt_callback_##type##_t event;
extern HIDDEN struct callbacks {
    PROVIDED_CALLBACKS(CALLBACK_FIELD)
} callbacks;

/* Calls the tool's callback for an event, if it has one. */
#define TELL(event, ...)                                                                                               \
    do {                                                                                                               \
        __typeof__(callbacks.event) tell_ = load_relaxed(&callbacks.event);                                            \
        if (tell_)                                                                                                     \
            tell_(__VA_ARGS__);                                                                                        \
    } while (0)
#define TOLD(event) (load_relaxed(&callbacks.event) != NULL)

/* Initial-exec, and so readable in a signal handler; NULL: the thread has made no OpenMP call yet. */
extern HIDDEN __thread struct thread *thread_gomp;

/* Returns the calling thread's record, makes one and tells its begin if it has none; NULL without a tool. Starts
 * the provider if its constructor could not. [any] */
struct thread *thread_attach(ompt_thread_t kind);

/* true once it is certain that there is no tool */
extern HIDDEN bool provider_passes_on;

/* Every entry point begins with it: NULL means that the call is passed on and nothing is told. [any] */
static inline struct thread *provider_enter(void)
{
    struct thread *thread = thread_gomp;
    if (likely(thread != NULL))
        return thread;
    return load_relaxed(&provider_passes_on) ? NULL : thread_attach(ompt_thread_initial);
}

/* Is there a tool? Tries to start the provider if that was not possible before. [any] */
bool handshake_has_tool(void);
/* Ends the measurement: tells the end of the calling thread, if that is outside all regions, and calls the tool's
 * finalizer. [any] */
void handshake_finalize(void);
/* The entry points that a tool may look up. [any] */
ompt_interface_fn_t inquiry_look_up(const char *name);

/* Gets free records of tasks for the thread's list; false: no memory. [owner] */
bool task_get_more(struct thread *thread);
/* Gives a record back to another thread, whose pool it belongs to. [any] */
void task_give_back(struct task *task);

/* Memory that is never unmapped: zero, aligned to 64 bytes; NULL: none left. [any] */
void *memory_of_records(size_t bytes);

/* Returns the first record of the thread's list, which is not empty, for a task without data and without frames. [owner] */
static inline __attribute__((always_inline)) struct task *task_take(struct thread *thread, struct region *region,
                                                                    int flags)
{
    struct task *task = thread->free;
    thread->free = task->next;
    task->data.value = 0;
    task->region = region;
    task->flags = flags;
    task->has_deferred = false;
    return task;
}

/* The same with any list; NULL: no memory. [owner] */
static inline __attribute__((always_inline)) struct task *task_new(struct thread *thread, struct region *region,
                                                                   int flags)
{
    return likely(thread->free || task_get_more(thread)) ? task_take(thread, region, flags) : NULL;
}

/* Marks a task that libgomp may discard without a word, as long as its region is not over. [owner] */
static inline void task_may_vanish(struct task *task)
{
    task->region_serial = task->region->serial;
    store_relaxed(&task->may_vanish, true);
}

/* Whoever frees a record has taken its frames and its event away, and the mark that libgomp may discard it. [any] */
static inline __attribute__((always_inline)) void task_free(struct thread *thread, struct task *task)
{
    if (unlikely(task->owner != thread)) {
        task_give_back(task);
        return;
    }
    task->next = thread->free;
    thread->free = task;
}

/* Makes `task` the current one. [owner] */
static inline void thread_switch(struct thread *thread, struct task *task)
{
    signal_fence();
    thread->task = task;
    signal_fence();
}

/* Notes that the task calls the runtime. [owner] */
static inline void task_enter_runtime(struct task *task, void *frame)
{
    task->frame.enter_frame.ptr = frame;
}

/* Notes that the task is back from the runtime. [owner] */
static inline void task_leave_runtime(struct task *task)
{
    task->frame.enter_frame.ptr = NULL;
}

#endif
