#include "tests/simulator/played.h"

#include <string.h>

#include "include/blame.h"

#define SEND        __attribute__((noinline)) void
#define MAX_EVENTS  64
#define FRAME_FLAGS (ompt_frame_runtime | ompt_frame_framepointer)

/* Nothing may be merged with, or moved over, the call before it: a frame stays a frame. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

#define CALL(type, event, ...)                                                                                         \
    do {                                                                                                               \
        if (registered[event])                                                                                         \
            ((type)registered[event])(__VA_ARGS__);                                                                    \
        KEEP_FRAME();                                                                                                  \
    } while (0)

__thread struct played_task *played_current;
__thread ompt_data_t played_thread_data;

static ompt_callback_t registered[MAX_EVENTS];
static uint8_t short_of_always[MAX_EVENTS]; /* by how much an answer is */
static bool tasks_hidden, is_libgomp;
static ompt_start_tool_result_t *tool;

void played_answer(ompt_callbacks_t event, ompt_set_result_t answer)
{
    short_of_always[event] = (uint8_t)(ompt_set_always - answer);
}

void played_hide_tasks(void)
{
    tasks_hidden = true;
}

void played_as_libgomp(void)
{
    is_libgomp = true;
}

void played_task_init(struct played_task *task, ompt_data_t *parallel, int flags, int thread_num)
{
    *task = (struct played_task){.parallel = parallel, .flags = flags, .thread_num = thread_num};
    task->frame.exit_frame_flags = task->frame.enter_frame_flags = FRAME_FLAGS;
}

void played_push(struct played_task *task)
{
    task->outer = played_current;
    played_current = task;
}

void played_pop(void)
{
    played_current = played_current->outer;
}

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
    if ((unsigned)event >= MAX_EVENTS)
        return ompt_set_error;
    ompt_set_result_t answer = ompt_set_always - short_of_always[event];
    registered[event] = answer < ompt_set_sometimes ? NULL : callback;
    return answer;
}

static int get_task_info(int ancestor, int *flags, ompt_data_t **data, ompt_frame_t **frame, ompt_data_t **parallel,
                         int *thread_num)
{
    struct played_task *task = played_current;
    while (task && ancestor-- > 0)
        task = task->outer;
    if (!task)
        return 0;
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
    for (struct played_task *task = played_current; task; task = task->outer) {
        if (task->parallel == last)
            continue;
        last = task->parallel;
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
    return &played_thread_data;
}

static void finalize_tool(void)
{
}

ompt_interface_fn_t played_lookup(const char *name)
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
        {"ompt_runtime_behind", (ompt_interface_fn_t)played_lookup},
    };
    if (!is_libgomp && strcmp(name, "ompt_runtime_behind") == 0)
        return NULL;
    if (tasks_hidden && strcmp(name, "ompt_get_task_info") == 0)
        return NULL;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].function;
    return NULL;
}

bool played_start(ompt_start_tool_result_t *(*start_tool)(unsigned, const char *), const char *name)
{
    tool = start_tool ? start_tool(202011, name) : NULL;
    return tool && tool->initialize(played_lookup, 0, &tool->tool_data);
}

void played_finalize(void)
{
    tool->finalize(&tool->tool_data);
}

ompt_callback_t played_callback(ompt_callbacks_t event)
{
    return registered[event];
}

const struct blame_calls *played_blame_calls(void)
{
    const struct blame_calls *calls = NULL;
    CALL(ompt_callback_control_tool_t, ompt_callback_control_tool, BLAME_COMMAND, sizeof(struct blame_calls), &calls,
         NULL);
    return calls;
}

SEND send_thread_begin(ompt_thread_t type)
{
    CALL(ompt_callback_thread_begin_t, ompt_callback_thread_begin, type, &played_thread_data);
}

SEND send_thread_end(void)
{
    CALL(ompt_callback_thread_end_t, ompt_callback_thread_end, &played_thread_data);
}

SEND send_parallel_begin(struct played_task *task, ompt_data_t *parallel, unsigned threads, const void *codeptr)
{
    CALL(ompt_callback_parallel_begin_t, ompt_callback_parallel_begin, &task->data, &task->frame, parallel, threads,
         ompt_parallel_team | ompt_parallel_invoker_runtime, codeptr);
}

/* libomp has given a nested team's memory away by then, and freed memory it fills with this. */
SEND send_parallel_end(struct played_task *task, const void *codeptr)
{
    ompt_data_t given_away = {.value = 0xefefefefefefefef};
    CALL(ompt_callback_parallel_end_t, ompt_callback_parallel_end, &given_away, &task->data,
         ompt_parallel_team | ompt_parallel_invoker_runtime, codeptr);
}

SEND send_implicit_begin(struct played_task *task, unsigned threads, int index)
{
    CALL(ompt_callback_implicit_task_t, ompt_callback_implicit_task, ompt_scope_begin, task->parallel, &task->data,
         threads, (unsigned)index, task->flags & (ompt_task_initial | ompt_task_implicit));
}

SEND send_implicit_end(ompt_data_t *parallel, ompt_data_t *task, unsigned threads, int thread_num, int flags)
{
    CALL(ompt_callback_implicit_task_t, ompt_callback_implicit_task, ompt_scope_end, parallel, task, threads,
         (unsigned)thread_num, flags);
}

SEND send_wait_begin(ompt_sync_region_t kind, ompt_data_t *parallel, ompt_data_t *task, const void *codeptr)
{
    CALL(ompt_callback_sync_region_t, ompt_callback_sync_region_wait, kind, ompt_scope_begin, parallel, task, codeptr);
}

SEND send_wait_end(ompt_sync_region_t kind, ompt_data_t *parallel, ompt_data_t *task, const void *codeptr)
{
    CALL(ompt_callback_sync_region_t, ompt_callback_sync_region_wait, kind, ompt_scope_end, parallel, task, codeptr);
}

SEND send_task_create(struct played_task *creator, struct played_task *task, const void *codeptr)
{
    CALL(ompt_callback_task_create_t, ompt_callback_task_create, &creator->data, &creator->frame, &task->data,
         task->flags, 0, codeptr);
}

/* libomp has one word a thread for all of them. */
static ompt_data_t taskwait_data;

SEND send_taskwait_create(struct played_task *waiter, const void *codeptr)
{
    CALL(ompt_callback_task_create_t, ompt_callback_task_create, &waiter->data, &waiter->frame, &taskwait_data,
         ompt_task_taskwait | ompt_task_undeferred | ompt_task_mergeable, 1, codeptr);
}

SEND send_taskwait_complete(void)
{
    CALL(ompt_callback_task_schedule_t, ompt_callback_task_schedule, &taskwait_data, ompt_taskwait_complete, NULL);
}

SEND send_task_switch(struct played_task *prior, struct played_task *next)
{
    CALL(ompt_callback_task_schedule_t, ompt_callback_task_schedule, &prior->data, ompt_task_switch, &next->data);
}

SEND send_task_complete(struct played_task *prior, struct played_task *next)
{
    CALL(ompt_callback_task_schedule_t, ompt_callback_task_schedule, &prior->data, ompt_task_complete, &next->data);
}

SEND send_mutex_acquire(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr)
{
    CALL(ompt_callback_mutex_acquire_t, ompt_callback_mutex_acquire, kind, 0, 0, id, codeptr);
}

SEND send_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr)
{
    CALL(ompt_callback_mutex_t, ompt_callback_mutex_acquired, kind, id, codeptr);
}

SEND send_mutex_released(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr)
{
    CALL(ompt_callback_mutex_t, ompt_callback_mutex_released, kind, id, codeptr);
}

SEND send_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t id, const void *codeptr)
{
    CALL(ompt_callback_nest_lock_t, ompt_callback_nest_lock, endpoint, id, codeptr);
}

SEND send_lock_init(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr)
{
    CALL(ompt_callback_mutex_acquire_t, ompt_callback_lock_init, kind, 0, 0, id, codeptr);
}

SEND send_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr)
{
    CALL(ompt_callback_mutex_t, ompt_callback_lock_destroy, kind, id, codeptr);
}

SEND send_work_begin(ompt_work_t kind, uint64_t pieces, const void *codeptr)
{
    CALL(ompt_callback_work_t, ompt_callback_work, kind, ompt_scope_begin, played_current->parallel,
         &played_current->data, pieces, codeptr);
}

SEND send_work_end(ompt_work_t kind, uint64_t pieces, const void *codeptr)
{
    CALL(ompt_callback_work_t, ompt_callback_work, kind, ompt_scope_end, played_current->parallel,
         &played_current->data, pieces, codeptr);
}
