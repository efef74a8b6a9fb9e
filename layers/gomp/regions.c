/* Parallel regions and leagues.
 *
 * GOMP_parallel calls a body with an argument in each thread of the team. We pass region_run() and the region's
 * record instead, and region_run() calls the body. libgomp does not tell a thread of its pool when the region's last
 * barrier ends: that is told when the thread enters its next region, or when it ends. For the thread that
 * encountered the region, the barrier ends when libgomp's function returns.
 *
 * GOMP_parallel_start (GCC before 4.9) starts the other threads only; its caller calls the body itself, and then
 * GOMP_parallel_end. */
#include "layers/gomp/implicit.h"
#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"
#include "layers/gomp/waits.h"
#include "layers/gomp/loops.h"

/* Returns the record for a region that the current task encounters; NULL: no memory. */
static struct region *region_record(struct thread *thread)
{
    struct region *current = thread->task->region;
    struct region **place = current->primary == thread ? &current->inner : &thread->regions;
    if (unlikely(!*place))
        *place = memory_of_records(sizeof(**place));
    return *place;
}

static inline __attribute__((always_inline)) struct region *region_begin(struct thread *thread, outlined *body,
                                                                         void *argument, unsigned requested, int flags,
                                                                         const void *code, void *frame)
{
    struct task *task = thread->task;
    struct region *region = region_record(thread);
    if (unlikely(!region))
        return NULL;
    region->body = body;
    region->argument = argument;
    region->data.value = 0;
    region->primary = thread;
    region->encountering = task;
    region->code = code;
    region->size = 0;
    region->flags = flags | ompt_parallel_invoker_program;
    region->work = 0;
    store_relaxed(&region->serial, region->serial + 1);
    task_enter_runtime(task, frame);
    ompt_callback_parallel_begin_t callback = load_relaxed(&callbacks.parallel_begin);
    if (callback)
        callback(&task->data, &task->frame, &region->data, requested ? requested : (unsigned)real.omp_get_max_threads(),
                 region->flags, code);
    return region;
}

static inline __attribute__((always_inline)) void region_end(struct region *region)
{
    struct task *task = region->encountering;
    TELL(parallel_end, &region->data, &task->data, region->flags, region->code);
    task_leave_runtime(task);
}

/* The thread that encountered the region has number 0. */
static inline __attribute__((always_inline)) struct task *implicit_begin(struct thread *thread, struct region *region,
                                                                         bool primary)
{
    struct task *task = task_new(thread, region, ompt_task_implicit);
    unsigned size = primary ? 0 : load_relaxed(&region->size);
    if (unlikely(!task))
        return NULL;
    if (size == 0) {
        size = (unsigned)real.omp_get_num_threads();
        store_relaxed(&region->size, size);
    }
    task->work = 0;
    task->copies = false;
    task->index = primary ? 0 : real.omp_get_thread_num();
    task->parent = region->encountering;
    thread_switch(thread, task);
    TELL(implicit_task, ompt_scope_begin, &region->data, &task->data, size, (unsigned)task->index, ompt_task_implicit);
    store_relaxed(&task->state, ompt_state_work_parallel);
    if (unlikely(region->work))
        work_begin(thread, region->work, region->iterations, region->step, region->code);
    return task;
}

/* The begin of the wait for the region's end. libgomp calls nothing more of ours in it but bodies of tasks. */
static inline __attribute__((always_inline)) void implicit_wait(struct region *region, struct task *task,
                                                                const void *code)
{
    TELL(sync_region, ompt_sync_region_barrier_implicit_parallel, ompt_scope_begin, &region->data, &task->data, code);
    TELL(sync_region_wait, ompt_sync_region_barrier_implicit_parallel, ompt_scope_begin, &region->data, &task->data,
         code);
    store_relaxed(&task->state, ompt_state_wait_barrier_implicit_parallel);
}

/* A thread of libgomp's pool has got the body of a region; NULL: it cannot be told of. */
static NOINLINE struct thread *region_enter_worker(struct region *region)
{
    struct thread *thread = thread_gomp;
    if (!thread)
        return thread_attach(ompt_thread_worker);
    if (thread->late)
        implicit_tell_late_end(thread, region);
    return thread;
}

/* Runs in each thread of the team. The call of the body is no jump, and so this frame lies between the program's
 * code and libgomp's. */
static NOINLINE void region_run(void *argument)
{
    struct region *region = argument;
    struct thread *thread = thread_gomp;
    bool primary = thread == region->primary;
    if (!primary)
        thread = region_enter_worker(region);
    struct task *task = thread ? implicit_begin(thread, region, primary) : NULL;
    if (unlikely(!task)) {
        if (thread && !primary)
            thread_switch(thread, &thread->initial_task);
        region->body(region->argument);
        return;
    }
    task->frame.exit_frame.ptr = FRAME;
    region->body(region->argument);
    task->frame.exit_frame.ptr = NULL;
    if (!primary)
        thread->late = true;
    implicit_wait(region, task, primary ? region->code : NULL);
}

/* After libgomp's function has returned to the thread that encountered the region. */
static inline __attribute__((always_inline)) void region_leave(struct thread *thread, struct region *region)
{
    struct task *task = thread->task;
    if (likely(task->region == region && task != region->encountering)) {
        implicit_end(task, region->size, region->code);
        thread_switch(thread, region->encountering);
        task_free(thread, task);
    }
    region_end(region);
}

/* Defines an entry point: the region's begin is told, then libgomp's function is called, then `told(thread, region)`. */
#define REGION_THEN(told, call)                                                                                        \
    struct thread *thread = provider_enter();                                                                          \
    struct region *region =                                                                                            \
        thread ? region_begin(thread, body, argument, threads, (int)ompt_parallel_team, CODE, FRAME) : NULL;           \
    outlined *run = region ? region_run : body;                                                                        \
    void *block = region ? (void *)region : argument;                                                                  \
    call;                                                                                                              \
    if (region)                                                                                                        \
    told(thread, region)
#define REGION(call) REGION_THEN(region_leave, call)

EXPORT void GOMP_parallel(TEAM, unsigned flags)
{
    REGION(real.GOMP_parallel(run, block, threads, flags));
}

/* libgomp reads the list of reductions through the first word of the program's block. */
EXPORT unsigned GOMP_parallel_reductions(TEAM, unsigned flags)
{
    unsigned result;
    REGION(if (region) region->word = *(void **)argument;
           result = real.GOMP_parallel_reductions(run, block, threads, flags));
    return result;
}

#define COMBINED(kind) (region ? loop_of_region(region, kind, start, end, step) : (void)0)

#define DEFINE_PARALLEL_LOOP(name, kind)                                                                               \
    EXPORT void name(TEAM, ITERATIONS, long chunk, unsigned flags)                                                     \
    {                                                                                                                  \
        REGION(COMBINED(kind); real.name(run, block, threads, start, end, step, chunk, flags));                        \
    }
#define DEFINE_PARALLEL_RUNTIME_LOOP(name)                                                                             \
    EXPORT void name(TEAM, ITERATIONS, unsigned flags)                                                                 \
    {                                                                                                                  \
        REGION(COMBINED(loop_kind_at_run_time()); real.name(run, block, threads, start, end, step, flags));            \
    }
DEFINE_PARALLEL_LOOP(GOMP_parallel_loop_static, ompt_work_loop_static)
DEFINE_PARALLEL_LOOP(GOMP_parallel_loop_dynamic, ompt_work_loop_dynamic)
DEFINE_PARALLEL_LOOP(GOMP_parallel_loop_guided, ompt_work_loop_guided)
DEFINE_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, ompt_work_loop_dynamic)
DEFINE_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, ompt_work_loop_guided)
DEFINE_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
DEFINE_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
DEFINE_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

EXPORT void GOMP_parallel_sections(TEAM, unsigned count, unsigned flags)
{
    REGION(COMBINED_SECTIONS; real.GOMP_parallel_sections(run, block, threads, count, flags));
}

/* The caller calls the body itself: the task is one of the entry point's caller, whose part of the stack begins above
 * the entry point's frame, which is where the region was entered. */
static void region_started(struct thread *thread, struct region *region)
{
    struct task *task = implicit_begin(thread, region, true);
    if (task)
        task->frame.exit_frame.ptr = (char *)region->encountering->frame.enter_frame.ptr + 2 * sizeof(void *);
}

#define REGION_START(call) REGION_THEN(region_started, call)

#define DEFINE_PARALLEL_LOOP_START(name, kind)                                                                         \
    EXPORT void name(TEAM, ITERATIONS, long chunk)                                                                     \
    {                                                                                                                  \
        REGION_START(COMBINED(kind); real.name(run, block, threads, start, end, step, chunk));                         \
    }
DEFINE_PARALLEL_LOOP_START(GOMP_parallel_loop_static_start, ompt_work_loop_static)
DEFINE_PARALLEL_LOOP_START(GOMP_parallel_loop_dynamic_start, ompt_work_loop_dynamic)
DEFINE_PARALLEL_LOOP_START(GOMP_parallel_loop_guided_start, ompt_work_loop_guided)

EXPORT void GOMP_parallel_loop_runtime_start(TEAM, ITERATIONS)
{
    REGION_START(COMBINED(loop_kind_at_run_time());
                 real.GOMP_parallel_loop_runtime_start(run, block, threads, start, end, step));
}

EXPORT void GOMP_parallel_sections_start(TEAM, unsigned count)
{
    REGION_START(COMBINED_SECTIONS; real.GOMP_parallel_sections_start(run, block, threads, count));
}

EXPORT void GOMP_parallel_start(TEAM)
{
    REGION_START(real.GOMP_parallel_start(run, block, threads));
}

/* Ends a region that GOMP_parallel_start() or one of its kind began. */
EXPORT void GOMP_parallel_end(void)
{
    struct thread *thread = provider_enter();
    struct task *task = thread ? thread->task : NULL;
    struct region *region = task ? task->region : NULL;
    bool ours = region && region->primary == thread && task->flags == ompt_task_implicit;
    if (ours) {
        task->frame.exit_frame.ptr = NULL;
        implicit_wait(region, task, CODE);
    }
    real.GOMP_parallel_end();
    if (ours)
        region_leave(thread, region);
}

/* libgomp calls the body once for each team of the league, one after the other, in the calling thread. */
static NOINLINE void region_run_team(void *argument)
{
    struct region *region = argument;
    struct thread *thread = thread_gomp;
    struct task *task = task_new(thread, region, ompt_task_initial);
    unsigned size = (unsigned)real.omp_get_num_teams();
    if (unlikely(!task)) {
        region->body(region->argument);
        return;
    }
    task->index = real.omp_get_team_num();
    task->parent = region->encountering;
    region->size = size;
    thread_switch(thread, task);
    TELL(implicit_task, ompt_scope_begin, &region->data, &task->data, size, (unsigned)task->index, ompt_task_initial);
    task->frame.exit_frame.ptr = FRAME;
    region->body(region->argument);
    task->frame.exit_frame.ptr = NULL;
    TELL(implicit_task, ompt_scope_end, NULL, &task->data, 0, (unsigned)task->index, ompt_task_initial);
    thread_switch(thread, region->encountering);
    task_free(thread, task);
}

EXPORT void GOMP_teams_reg(outlined *body, void *argument, unsigned teams, unsigned limit, unsigned flags)
{
    struct thread *thread = provider_enter();
    struct region *region =
        thread ? region_begin(thread, body, argument, teams, ompt_parallel_league, CODE, FRAME) : NULL;
    if (!region) {
        real.GOMP_teams_reg(body, argument, teams, limit, flags);
        return;
    }
    real.GOMP_teams_reg(region_run_team, region, teams, limit, flags);
    region_end(region);
}
