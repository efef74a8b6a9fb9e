/* OMPT's entry points. A tool may call those about states, tasks, regions, threads and unique ids in a signal handler:
 * they read the interrupted thread's own records, allocate nothing and take no lock. Those about places ask libgomp. The
 * lengths of the lists of tasks bound the loops: one item for each nested region, and one for each task that the
 * thread left for another one. */
#include <sched.h>
#include <string.h>

#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct kind {
    int number;
    const char *name;
};

#define STATE(name, number) {number, #name},
static const struct kind states[] = {FOREACH_OMPT_STATE(STATE)};
static const struct kind mutexes[] = {{0, "gomp_mutex_impl_none"}, {MUTEX_FUTEX, "gomp_mutex_impl_futex"}};

/* Stores the item after `current`. Returns 0 if that is the last one, or none of the list. */
static int inquiry_next(const struct kind *kinds, size_t count, int current, int *next, const char **name)
{
    size_t i = 0;
    while (i < count && kinds[i].number != current)
        i++;
    if (i + 1 >= count)
        return 0;
    *next = kinds[i + 1].number;
    *name = kinds[i + 1].name;
    return 1;
}

static int enumerate_states(int current, int *next, const char **name)
{
    return inquiry_next(states, LENGTH(states), current, next, name);
}

static int enumerate_mutexes(int current, int *next, const char **name)
{
    return inquiry_next(mutexes, LENGTH(mutexes), current, next, name);
}

struct answer {
    ompt_callbacks_t event;
    ompt_set_result_t result;
    ompt_callback_t *place;
};

#define ANSWER(event, type, result) {ompt_callback_##event, result, (ompt_callback_t *)&callbacks.event},
static const struct answer answers[] = {PROVIDED_CALLBACKS(ANSWER)};

static const struct answer *inquiry_answer(ompt_callbacks_t event)
{
    for (size_t i = 0; i < LENGTH(answers); i++)
        if (answers[i].event == event)
            return &answers[i];
    return NULL;
}

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
    const struct answer *answer = inquiry_answer(event);
    if (!answer)
        return ompt_set_never;
    store_release(answer->place, callback);
    return answer->result;
}

static int get_callback(ompt_callbacks_t event, ompt_callback_t *callback)
{
    const struct answer *answer = inquiry_answer(event);
    if (!answer || !load_relaxed(answer->place))
        return 0;
    *callback = load_relaxed(answer->place);
    return 1;
}

/* From here on to get_unique_id(), and get_proc_id(): [handler]. All others: [any]. */
static ompt_data_t *get_thread_data(void)
{
    struct thread *thread = thread_gomp;
    return thread ? &thread->data : NULL;
}

static int get_state(ompt_wait_id_t *wait_id)
{
    struct thread *thread = thread_gomp;
    if (!thread)
        return ompt_state_undefined;
    if (wait_id)
        *wait_id = thread->wait_id;
    struct task *task = load_relaxed(&thread->task);
    int mutex_state = load_relaxed(&thread->mutex_state);
    return mutex_state ? mutex_state : task ? load_relaxed(&task->state) : ompt_state_overhead;
}

static struct task *inquiry_task(int level)
{
    struct thread *thread = thread_gomp;
    struct task *task = thread && level >= 0 ? load_relaxed(&thread->task) : NULL;
    while (task && level-- > 0)
        task = task->parent;
    return task;
}

static int get_task_info(int level, int *flags, ompt_data_t **data, ompt_frame_t **frame, ompt_data_t **parallel,
                         int *number)
{
    struct task *task = inquiry_task(level);
    if (!task)
        return 0;
    if (flags)
        *flags = task->flags;
    if (data)
        *data = &task->data;
    if (frame)
        *frame = &task->frame;
    if (parallel)
        *parallel = &task->region->data;
    if (number)
        *number = task->index;
    return 2;
}

static int get_parallel_info(int level, ompt_data_t **data, int *size)
{
    struct task *task = inquiry_task(0);
    struct region *region = task && level >= 0 ? task->region : NULL;
    while (region && level-- > 0)
        region = region->encountering ? region->encountering->region : NULL;
    if (!region)
        return 0;
    if (data)
        *data = &region->data;
    if (size)
        *size = (int)region->size;
    return 2;
}

static int get_task_memory(void **address, size_t *bytes, int block)
{
    (void)address, (void)bytes, (void)block;
    return 0;
}

/* A thread's own numbers have its number in front; those of threads without OpenMP have zero. */
static uint64_t get_unique_id(void)
{
    static uint64_t others;
    struct thread *thread = thread_gomp;
    return thread ? thread->number << 40 | ++thread->ids : fetch_add_relaxed(&others, 1) + 1;
}

static int get_num_procs(void)
{
    return real.omp_get_num_procs();
}

static int get_num_places(void)
{
    return real.omp_get_num_places();
}

static int get_place_num(void)
{
    return real.omp_get_place_num();
}

/* Returns how many there are, and stores them if they fit. */
static int get_place_proc_ids(int place, int size, int *ids)
{
    int count = real.omp_get_place_num_procs(place);
    if (count <= size && ids)
        real.omp_get_place_proc_ids(place, ids);
    return count;
}

static int get_partition_place_nums(int size, int *places)
{
    int count = real.omp_get_partition_num_places();
    if (count <= size && places)
        real.omp_get_partition_place_nums(places);
    return count;
}

static int get_proc_id(void)
{
    return sched_getcpu();
}

static int get_target_info(uint64_t *device, ompt_id_t *target, ompt_id_t *operation)
{
    (void)device, (void)target, (void)operation;
    return 0;
}

static int get_num_devices(void)
{
    return real.omp_get_num_devices();
}

#define FUNCTION(name) {"ompt_" #name, (ompt_interface_fn_t)name}
static const struct {
    const char *name;
    ompt_interface_fn_t function;
} functions[] = {
    {"ompt_enumerate_mutex_impls", (ompt_interface_fn_t)enumerate_mutexes},
    FUNCTION(enumerate_states),
    FUNCTION(set_callback),
    FUNCTION(get_callback),
    FUNCTION(get_state),
    FUNCTION(get_parallel_info),
    FUNCTION(get_task_info),
    FUNCTION(get_task_memory),
    FUNCTION(get_thread_data),
    FUNCTION(get_unique_id),
    FUNCTION(get_num_procs),
    FUNCTION(get_num_places),
    FUNCTION(get_place_proc_ids),
    FUNCTION(get_place_num),
    FUNCTION(get_partition_place_nums),
    FUNCTION(get_proc_id),
    FUNCTION(get_target_info),
    FUNCTION(get_num_devices),
};

/* Besides OMPT's entry points, a tool finds an address inside libgomp by the name ompt_runtime_behind. */
ompt_interface_fn_t inquiry_look_up(const char *name)
{
    if (strcmp(name, "ompt_runtime_behind") == 0)
        return (ompt_interface_fn_t)real.omp_get_num_threads;
    for (size_t i = 0; i < LENGTH(functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    return NULL;
}
