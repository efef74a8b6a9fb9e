/* Threads. A thread is an initial one, unless its first call is the body of a region that another thread has
 * encountered. */
#include <pthread.h>

#include "layers/gomp/implicit.h"
#include "layers/gomp/provider.h"

static struct thread *free_threads; /* of threads that have ended; under `lock` */
static uint64_t threads;            /* records made so far; under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t ends;
static pthread_once_t ends_made = PTHREAD_ONCE_INIT;

/* At the thread's end, by the C library. libgomp ends threads of its pool that it no longer needs. */
static void thread_end(void *argument)
{
    struct thread *thread = argument;
    if (thread->late)
        implicit_tell_late_end(thread, &thread->initial_region);
    if (thread->kind == ompt_thread_initial && thread->task == &thread->initial_task)
        TELL(implicit_task, ompt_scope_end, &thread->initial_region.data, &thread->initial_task.data, 0, 1,
             ompt_task_initial);
    TELL(thread_end, &thread->data);
    thread_gomp = NULL;
    signal_fence();
    pthread_mutex_lock(&lock);
    thread->next = free_threads;
    free_threads = thread;
    pthread_mutex_unlock(&lock);
}

/* Another thread may have had the lock. The list is whole at every moment. */
static void thread_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
}

static void thread_make_key(void)
{
    pthread_key_create(&ends, thread_end);
    pthread_atfork(NULL, NULL, thread_after_fork);
}

static struct thread *thread_record(void)
{
    pthread_mutex_lock(&lock);
    struct thread *thread = free_threads;
    if (thread)
        free_threads = thread->next;
    uint64_t number = thread ? thread->number : ++threads;
    pthread_mutex_unlock(&lock);
    if (!thread)
        thread = memory_of_records(sizeof(*thread));
    if (thread)
        thread->number = number;
    return thread;
}

static void thread_reset(struct thread *thread, ompt_thread_t kind)
{
    struct task *task = &thread->initial_task;
    struct region *region = &thread->initial_region;
    thread->data.value = region->data.value = 0;
    thread->kind = kind;
    thread->mutex_state = 0;
    thread->late = thread->artificial = false;
    region->size = 1;
    region->primary = thread;
    task->frame.enter_frame_flags = task->frame.exit_frame_flags = FRAME_FLAGS;
    task->owner = thread;
    task->parent = NULL;
    task->index = 0;
    task->data.value = 0;
    task->frame.enter_frame.ptr = task->frame.exit_frame.ptr = NULL;
    task->region = region;
    task->flags = ompt_task_initial;
    task->state = ompt_state_work_serial;
    task->work = 0;
    task->has_deferred = false;
    thread->task = kind == ompt_thread_initial ? task : NULL;
}

/* Slow path: the thread's first call, or there is no tool. */
NOINLINE struct thread *thread_attach(ompt_thread_t kind)
{
    if (!handshake_has_tool())
        return NULL;
    pthread_once(&ends_made, thread_make_key);
    struct thread *thread = thread_record();
    if (!thread)
        return NULL;
    thread_reset(thread, kind);
    signal_fence();
    thread_gomp = thread;
    pthread_setspecific(ends, thread);
    TELL(thread_begin, kind, &thread->data);
    if (kind == ompt_thread_initial)
        TELL(implicit_task, ompt_scope_begin, &thread->initial_region.data, &thread->initial_task.data, 1, 1,
             ompt_task_initial);
    return thread;
}
