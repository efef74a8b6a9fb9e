/* Each event leaves through a function of its own, send_...: gate.py reads the instructions of a callback
 * from what callgrind counts between the two. */
#include "benchmarks/gate/fake_runtime.h"
#include "benchmarks/gate/sample.h"
#include "include/blame.h"

#include <dlfcn.h>
#include <omp-tools.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT      __attribute__((visibility("default")))
#define SEND        static __attribute__((noinline)) void
#define HERE        __builtin_extract_return_addr(__builtin_return_address(0))
#define MAX_TASKS   8
#define MAX_EVENTS  64
#define FRAME_FLAGS (ompt_frame_runtime | ompt_frame_framepointer)

/* Nothing may be merged with, or moved over, the call before it: a frame stays a frame. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

struct task {
    ompt_frame_t frame; /* at the same distance before the word in every task, as in libomp */
    ompt_data_t data;
    ompt_data_t *parallel;
    int flags, thread_num;
};

static ompt_callback_t registered[MAX_EVENTS];
static __thread struct task tasks[MAX_TASKS];
static __thread int task_count;

#define TYPED(type, event) ((type)registered[event])
#define CALLBACK(event)    TYPED(event##_t, event)

static struct task *current(void)
{
    return &tasks[task_count - 1];
}

static struct task *push_task(ompt_data_t *parallel, int flags, int thread_num)
{
    struct task *task = &tasks[task_count++];
    *task = (struct task){.parallel = parallel, .flags = flags, .thread_num = thread_num};
    task->frame.exit_frame_flags = task->frame.enter_frame_flags = FRAME_FLAGS;
    return task;
}

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
    if ((unsigned)event >= MAX_EVENTS)
        return ompt_set_error;
    registered[event] = callback;
    return ompt_set_always;
}

static int get_task_info(int ancestor, int *flags, ompt_data_t **data, ompt_frame_t **frame,
                         ompt_data_t **parallel, int *thread_num)
{
    if (ancestor < 0 || ancestor >= task_count)
        return 0;
    struct task *task = &tasks[task_count - 1 - ancestor];
    if (flags)
        *flags = task->flags;
    if (data)
        *data = &task->data;
    if (frame)
        *frame = &task->frame;
    if (parallel)
        *parallel = task->parallel;
    if (thread_num)
        *thread_num = task->thread_num;
    return 2;
}

static int get_parallel_info(int ancestor, ompt_data_t **parallel, int *team_size)
{
    ompt_data_t *last = NULL;
    for (int i = task_count - 1; i >= 0; i--) {
        if (tasks[i].parallel == last)
            continue;
        last = tasks[i].parallel;
        if (ancestor-- > 0)
            continue;
        *parallel = last;
        *team_size = 1;
        return 2;
    }
    return 0;
}

static ompt_data_t *get_thread_data(void)
{
    static __thread ompt_data_t data;
    return &data;
}

static void finalize_tool(void)
{
}

static ompt_interface_fn_t lookup(const char *name)
{
    static const struct {
        const char *name;
        ompt_interface_fn_t function;
    } table[] = {
        {"ompt_set_callback", (ompt_interface_fn_t)set_callback},
        {"ompt_get_task_info", (ompt_interface_fn_t)get_task_info},
        {"ompt_get_parallel_info", (ompt_interface_fn_t)get_parallel_info},
        {"ompt_get_thread_data", (ompt_interface_fn_t)get_thread_data},
        {"ompt_finalize_tool", (ompt_interface_fn_t)finalize_tool},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].function;
    return NULL;
}

EXPORT bool fake_start(const char *tool)
{
    static ompt_data_t implicit_parallel;
    void *library = dlopen(tool, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fprintf(stderr, "%s\n", dlerror()), false;
    ompt_start_tool_result_t *(*start)(unsigned, const char *) =
        (ompt_start_tool_result_t * (*)(unsigned, const char *)) dlsym(library, "ompt_start_tool");
    ompt_start_tool_result_t *result = start ? start(202011, "fake runtime of the gate") : NULL;
    if (!result || !result->initialize(lookup, 0, &result->tool_data))
        return fprintf(stderr, "%s does not start\n", tool), false;
    if (registered[ompt_callback_thread_begin])
        CALLBACK(ompt_callback_thread_begin)(ompt_thread_initial, get_thread_data());
    struct task *task = push_task(&implicit_parallel, ompt_task_initial, 0);
    if (registered[ompt_callback_implicit_task])
        CALLBACK(ompt_callback_implicit_task)
    (ompt_scope_begin, task->parallel, &task->data, 1, 1, task->flags);
    return true;
}

EXPORT bool fake_samples(int signal)
{
    return sample_find_handler(signal);
}

EXPORT void fake_time_samples(sample_timer timer)
{
    time_samples = timer;
}

EXPORT void fake_print_callbacks(void)
{
    for (int event = 0; event < MAX_EVENTS; event++)
        if (registered[event])
            printf("%d\n", event);
}

EXPORT const struct blame_calls *fake_blame_calls(void)
{
    const struct blame_calls *calls = NULL;
    if (registered[ompt_callback_control_tool])
        CALLBACK(ompt_callback_control_tool)(BLAME_COMMAND, sizeof(struct blame_calls), &calls, NULL);
    return calls;
}

SEND send_parallel_begin(struct task *task, ompt_data_t *parallel, unsigned threads, const void *codeptr)
{
    CALLBACK(ompt_callback_parallel_begin)
    (&task->data, &task->frame, parallel, threads, ompt_parallel_team, codeptr);
    KEEP_FRAME();
}

SEND send_parallel_end(struct task *task, ompt_data_t *parallel, const void *codeptr)
{
    CALLBACK(ompt_callback_parallel_end)(parallel, &task->data, ompt_parallel_team, codeptr);
    KEEP_FRAME();
}

SEND send_implicit_begin(struct task *task, unsigned threads)
{
    CALLBACK(ompt_callback_implicit_task)
    (ompt_scope_begin, task->parallel, &task->data, threads, (unsigned)task->thread_num, ompt_task_implicit);
    KEEP_FRAME();
}

SEND send_implicit_end(struct task *task, unsigned threads)
{
    CALLBACK(ompt_callback_implicit_task)
    (ompt_scope_end, NULL, &task->data, threads, (unsigned)task->thread_num, ompt_task_implicit);
    KEEP_FRAME();
}

SEND send_wait_begin(ompt_sync_region_t kind, const void *codeptr)
{
    struct task *task = current();
    TYPED(ompt_callback_sync_region_t, ompt_callback_sync_region_wait)
    (kind, ompt_scope_begin, task->parallel, &task->data, codeptr);
    KEEP_FRAME();
}

SEND send_wait_end(ompt_sync_region_t kind, const void *codeptr)
{
    struct task *task = current();
    TYPED(ompt_callback_sync_region_t, ompt_callback_sync_region_wait)
    (kind, ompt_scope_end, task->parallel, &task->data, codeptr);
    KEEP_FRAME();
}

SEND send_task_create(struct task *creator, struct task *task, const void *codeptr)
{
    if (registered[ompt_callback_task_create]) /* in creation mode only */
        CALLBACK(ompt_callback_task_create)
    (&creator->data, &creator->frame, &task->data, task->flags, 0, codeptr);
    KEEP_FRAME();
}

SEND send_task_switch(struct task *prior, struct task *next)
{
    CALLBACK(ompt_callback_task_schedule)(&prior->data, ompt_task_switch, &next->data);
    KEEP_FRAME();
}

SEND send_task_complete(struct task *prior, struct task *next)
{
    CALLBACK(ompt_callback_task_schedule)(&prior->data, ompt_task_complete, &next->data);
    KEEP_FRAME();
}

static ompt_mutex_t mutex_kind(enum fake_lock kind)
{
    static const ompt_mutex_t kinds[] = {ompt_mutex_lock, ompt_mutex_critical, ompt_mutex_ordered,
                                         ompt_mutex_nest_lock};
    return kinds[kind];
}

SEND send_mutex_acquire(ompt_mutex_t kind, unsigned long id, const void *codeptr)
{
    CALLBACK(ompt_callback_mutex_acquire)(kind, 0, 0, id, codeptr);
    KEEP_FRAME();
}

SEND send_mutex_acquired(ompt_mutex_t kind, unsigned long id, const void *codeptr)
{
    TYPED(ompt_callback_mutex_t, ompt_callback_mutex_acquired)(kind, id, codeptr);
    KEEP_FRAME();
}

SEND send_mutex_released(ompt_mutex_t kind, unsigned long id, const void *codeptr)
{
    TYPED(ompt_callback_mutex_t, ompt_callback_mutex_released)(kind, id, codeptr);
    KEEP_FRAME();
}

SEND send_work_begin(const void *codeptr)
{
    struct task *task = current();
    CALLBACK(ompt_callback_work)
    (ompt_work_loop_static, ompt_scope_begin, task->parallel, &task->data, 1000, codeptr);
    KEEP_FRAME();
}

SEND send_work_end(const void *codeptr)
{
    struct task *task = current();
    CALLBACK(ompt_callback_work)
    (ompt_work_loop_static, ompt_scope_end, task->parallel, &task->data, 1000, codeptr);
    KEEP_FRAME();
}

SEND send_nest_lock(ompt_scope_endpoint_t endpoint, unsigned long id, const void *codeptr)
{
    CALLBACK(ompt_callback_nest_lock)(endpoint, id, codeptr);
    KEEP_FRAME();
}

SEND send_lock_init(ompt_mutex_t kind, unsigned long id, const void *codeptr)
{
    TYPED(ompt_callback_mutex_acquire_t, ompt_callback_lock_init)(kind, 0, 0, id, codeptr);
    KEEP_FRAME();
}

SEND send_lock_destroy(ompt_mutex_t kind, unsigned long id, const void *codeptr)
{
    TYPED(ompt_callback_mutex_t, ompt_callback_lock_destroy)(kind, id, codeptr);
    KEEP_FRAME();
}

/* Runs the body of a task in the frame that the task says. */
static __attribute__((noinline)) void invoke(struct task *task, fake_body body)
{
    task->frame.exit_frame.ptr = __builtin_frame_address(0);
    body();
    task->frame.exit_frame.ptr = NULL;
}

static void be_waiting(int samples, fake_body inside)
{
    if (samples)
        samples_here(samples);
    if (inside)
        inside();
}

static void wait_here(ompt_sync_region_t kind, int samples, fake_body inside, const void *codeptr)
{
    send_wait_begin(kind, codeptr);
    be_waiting(samples, inside);
    send_wait_end(kind, codeptr);
}

static void execute_implicit(ompt_data_t *parallel, int thread_num, unsigned threads, fake_body body)
{
    struct task *task = push_task(parallel, ompt_task_implicit, thread_num);
    send_implicit_begin(task, threads);
    invoke(task, body);
    wait_here(ompt_sync_region_barrier_implicit_parallel, 0, NULL, NULL);
    send_implicit_end(task, threads);
    task_count--;
}

struct worker {
    ompt_data_t *parallel;
    fake_body body;
};

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    CALLBACK(ompt_callback_thread_begin)(ompt_thread_worker, get_thread_data());
    execute_implicit(worker->parallel, 1, 2, worker->body);
    CALLBACK(ompt_callback_thread_end)(get_thread_data());
    return NULL;
}

EXPORT __attribute__((noinline)) void fake_parallel(fake_body body, fake_body worker_body)
{
    ompt_data_t parallel = {0};
    struct task *task = current();
    struct worker worker = {&parallel, worker_body};
    unsigned threads = worker_body ? 2 : 1;
    pthread_t thread;
    task->frame.enter_frame.ptr = __builtin_frame_address(0);
    send_parallel_begin(task, &parallel, threads, HERE);
    if (worker_body && pthread_create(&thread, NULL, run_worker, &worker) != 0)
        abort();
    execute_implicit(&parallel, 0, threads, body);
    if (worker_body)
        pthread_join(thread, NULL);
    send_parallel_end(task, &parallel, HERE);
    task->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_barrier(int samples, fake_body inside)
{
    current()->frame.enter_frame.ptr = __builtin_frame_address(0);
    wait_here(ompt_sync_region_barrier_explicit, samples, inside, HERE);
    current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_work(int samples)
{
    current()->frame.enter_frame.ptr = __builtin_frame_address(0);
    be_waiting(samples, NULL);
    current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_taskwait(fake_body inside)
{
    current()->frame.enter_frame.ptr = __builtin_frame_address(0);
    wait_here(ompt_sync_region_taskwait, 0, inside, HERE);
    current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_task(fake_body body)
{
    struct task *creator = current();
    creator->frame.enter_frame.ptr = __builtin_frame_address(0);
    struct task *task = push_task(creator->parallel, ompt_task_explicit, creator->thread_num);
    task_count--; /* it exists, but its creator is the current task */
    send_task_create(creator, task, HERE);
    send_task_switch(creator, task);
    task_count++;
    invoke(task, body);
    task_count--;
    send_task_complete(task, creator);
    creator->frame.enter_frame.ptr = NULL;
}

/* As libomp: the new task is the current one before it is told, and has no frame of the runtime's. */
EXPORT __attribute__((noinline)) void fake_task_begin_if0(void)
{
    struct task *creator = current();
    creator->frame.enter_frame.ptr = __builtin_frame_address(0);
    int flags = ompt_task_explicit | ompt_task_undeferred;
    struct task *task = push_task(creator->parallel, flags, creator->thread_num);
    task->frame.exit_frame.ptr = creator->frame.exit_frame.ptr;
    send_task_create(creator, task, HERE);
    send_task_switch(creator, task);
    KEEP_FRAME();
}

EXPORT __attribute__((noinline)) void fake_task_complete_if0(void)
{
    struct task *task = current();
    task_count--;
    send_task_complete(task, current());
    current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_lock_init(enum fake_lock kind, unsigned long id)
{
    send_lock_init(mutex_kind(kind), id, HERE);
}

EXPORT __attribute__((noinline)) void fake_lock_destroy(enum fake_lock kind, unsigned long id)
{
    send_lock_destroy(mutex_kind(kind), id, HERE);
}

EXPORT __attribute__((noinline)) void fake_lock_acquire(enum fake_lock kind, unsigned long id)
{
    send_mutex_acquire(mutex_kind(kind), id, HERE);
    send_mutex_acquired(mutex_kind(kind), id, HERE);
}

EXPORT __attribute__((noinline)) void fake_lock_wait(enum fake_lock kind, unsigned long id, int samples,
                                                     fake_body inside)
{
    current()->frame.enter_frame.ptr = __builtin_frame_address(0);
    send_mutex_acquire(mutex_kind(kind), id, HERE);
    be_waiting(samples, inside);
    send_mutex_acquired(mutex_kind(kind), id, HERE);
    current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_lock_release(enum fake_lock kind, unsigned long id)
{
    send_mutex_released(mutex_kind(kind), id, HERE);
    KEEP_FRAME();
}

EXPORT __attribute__((noinline)) void fake_loop(void)
{
    send_work_begin(HERE);
    send_work_end(HERE);
}

EXPORT __attribute__((noinline)) void fake_lock_again(unsigned long id)
{
    send_mutex_acquire(ompt_mutex_nest_lock, id, HERE);
    send_nest_lock(ompt_scope_begin, id, HERE);
    send_nest_lock(ompt_scope_end, id, HERE);
}
