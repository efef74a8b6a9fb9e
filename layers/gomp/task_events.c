/* The life of a task after its creation: its run, its waits, and the end of a detachable one. */
#include <pthread.h>
#include <stdlib.h>

#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"
#include "layers/gomp/tasks.h"
#include "layers/gomp/waits.h"

enum { DEPEND_IN = 1, DEPEND_OUT = 2, DEPEND_INOUT = 3, DEPEND_MUTEXINOUTSET = 4, DEPEND_INOUTSET = 5 };

/* The type of an omp_depend_t. */
static ompt_dependence_type_t task_dependence_type(uintptr_t type)
{
    switch (type) {
    case DEPEND_IN:
        return ompt_dependence_type_in;
    case DEPEND_OUT:
        return ompt_dependence_type_out;
    case DEPEND_MUTEXINOUTSET:
        return ompt_dependence_type_mutexinoutset;
    case DEPEND_INOUTSET:
        return ompt_dependence_type_inoutset;
    default:
        return ompt_dependence_type_inout;
    }
}

/* Fills the list from libgomp's array. The array begins with numbers: of all addresses, and of those of each kind;
 * a new array has a zero in front, and objects of type omp_depend_t at its end. */
static void task_list_dependences(ompt_dependence_t *list, void **depend)
{
    bool old = depend[0] != NULL;
    uintptr_t count = (uintptr_t)depend[old ? 0 : 1];
    uintptr_t out = (uintptr_t)depend[old ? 1 : 2], exclusive = old ? out : out + (uintptr_t)depend[3];
    uintptr_t in = old ? count : exclusive + (uintptr_t)depend[4];
    void **addresses = depend + (old ? 2 : 5);
    for (uintptr_t i = 0; i < count; i++) {
        void **object = addresses[i];
        list[i].variable.ptr = i < in ? (void *)object : object[0];
        list[i].dependence_type = i < out         ? ompt_dependence_type_inout
                                  : i < exclusive ? ompt_dependence_type_mutexinoutset
                                  : i < in        ? ompt_dependence_type_in
                                                  : task_dependence_type((uintptr_t)object[1]);
    }
}

NOINLINE void task_tell_dependences(struct task *task, void **depend)
{
    enum { FEW = 64 };
    ompt_dependence_t few[FEW];
    uintptr_t count = (uintptr_t)(depend[0] ? depend[0] : depend[1]);
    ompt_dependence_t *list = count <= FEW ? few : calloc(count, sizeof(*list));
    if (!list)
        return;
    task_list_dependences(list, depend);
    TELL(dependences, &task->data, list, (int)count);
    if (list != few)
        free(list);
}

/* Detachable tasks that are not complete yet. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct task *detachable;

void task_note_event(struct task *task, void *event)
{
    pthread_mutex_lock(&lock);
    task->event = event;
    task->next = detachable;
    detachable = task;
    pthread_mutex_unlock(&lock);
}

/* Takes the task with that handle out of the list. The number of detachable tasks bounds the loop. */
static struct task *task_take_event(void *event, bool *ended)
{
    pthread_mutex_lock(&lock);
    struct task **place = &detachable;
    while (*place && (*place)->event != event)
        place = &(*place)->next;
    struct task *task = *place;
    if (task) {
        *place = task->next;
        *ended = task->ended;
        task->ended = false;
        task->event = NULL;
    }
    pthread_mutex_unlock(&lock);
    return task;
}

bool task_end_detachable(struct task *task)
{
    pthread_mutex_lock(&lock);
    bool complete = !task->event;
    task->ended = !complete;
    pthread_mutex_unlock(&lock);
    return complete;
}

/* The event is told by whoever fulfils it. A thread without OpenMP stays one, as with LLVM's runtime. */
static void task_fulfil(void *event)
{
    bool ended = false;
    struct task *task = task_take_event(event, &ended);
    if (!task)
        return;
    TELL(task_schedule, &task->data, ended ? ompt_task_late_fulfill : ompt_task_early_fulfill, NULL);
    if (ended)
        task_free(thread_gomp, task);
}

EXPORT void omp_fulfill_event(void *event)
{
    task_fulfil(event);
    real.omp_fulfill_event(event);
}

EXPORT void omp_fulfill_event_(void **event)
{
    task_fulfil(*event);
    real.omp_fulfill_event_(event);
}

/* The calling task has nothing to wait for: each task that it has created ran at once, as most do while many others
 * wait. */
static inline __attribute__((always_inline)) void taskwait_for_none(struct task *task)
{
    TELL(sync_region, ompt_sync_region_taskwait, ompt_scope_begin, &task->region->data, &task->data, CODE);
    task_enter_runtime(task, FRAME);
    real.GOMP_taskwait();
    task_leave_runtime(task);
    TELL(sync_region, ompt_sync_region_taskwait, ompt_scope_end, &task->region->data, &task->data, CODE);
}

EXPORT void GOMP_taskwait(void)
{
    struct thread *thread = provider_enter();
    if (!thread) {
        real.GOMP_taskwait();
        return;
    }
    if (!thread->task->has_deferred) {
        taskwait_for_none(thread->task);
        return;
    }
    struct wait wait = wait_begin(thread, ompt_sync_region_taskwait);
    real.GOMP_taskwait();
    wait_end(&wait);
    wait.task->has_deferred = false;
}

/* A taskwait with dependences is told as an empty task that has them. */
static inline __attribute__((always_inline)) void taskwait_depend(void (*wait)(void **), void **depend,
                                                                  const void *code, void *frame)
{
    struct thread *thread = provider_enter();
    struct task *creator = thread ? thread->task : NULL;
    if (thread)
        task_enter_runtime(creator, frame);
    struct task *task =
        thread ? task_create(thread, ompt_task_taskwait | ompt_task_undeferred | ompt_task_mergeable, depend, code)
               : NULL;
    int state = thread ? creator->state : 0;
    if (thread)
        store_relaxed(&creator->state, ompt_state_wait_taskwait);
    wait(depend);
    if (!thread)
        return;
    store_relaxed(&creator->state, state);
    if (task) {
        TELL(task_schedule, &task->data, ompt_taskwait_complete, NULL);
        task_free(thread, task);
    }
    task_leave_runtime(creator);
}

EXPORT void GOMP_taskwait_depend(void **depend)
{
    taskwait_depend(real.GOMP_taskwait_depend, depend, CODE, FRAME);
}

EXPORT void GOMP_taskgroup_start(void)
{
    struct thread *thread = provider_enter();
    if (thread)
        TELL(sync_region, ompt_sync_region_taskgroup, ompt_scope_begin, &thread->task->region->data,
             &thread->task->data, CODE);
    real.GOMP_taskgroup_start();
}

EXPORT void GOMP_taskgroup_end(void)
{
    struct thread *thread = provider_enter();
    if (!thread) {
        real.GOMP_taskgroup_end();
        return;
    }
    struct wait wait = wait_begin_inner(thread, ompt_sync_region_taskgroup);
    real.GOMP_taskgroup_end();
    wait_end(&wait);
}

/* Outside all regions, libgomp makes a team of one for it. */
EXPORT void GOMP_taskgroup_reduction_register(uintptr_t *data)
{
    struct thread *thread = provider_enter();
    if (thread)
        thread->artificial = true;
    real.GOMP_taskgroup_reduction_register(data);
}
