/* tests/simulator/played.c sends the events and answers the tool's requests. In the simulator, the stack is
 * simulated too; here it is real. */
#include "base/kernel.h"
#include "benchmarks/gate/fake_runtime.h"
#include "benchmarks/gate/sample.h"
#include "tests/simulator/played.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT    __attribute__((visibility("default")))
#define HERE      __builtin_extract_return_addr(__builtin_return_address(0))
#define CALLBACKS 64
#define PIECES    1000

/* Keeps the compiler from moving or merging code across this line. The call before it is therefore not a tail
 * call, and its frame stays on the stack. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

static struct played_task *fake_current(void)
{
    return played_current;
}

EXPORT bool fake_start(const char *tool)
{
    static ompt_data_t implicit_parallel;
    static struct played_task initial;
    void *library = dlopen(tool, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fprintf(stderr, "%s\n", dlerror()), false;
    ompt_start_tool_result_t *(*start)(unsigned, const char *) =
        (ompt_start_tool_result_t * (*)(unsigned, const char *)) dlsym(library, "ompt_start_tool");
    if (!played_start(start, "fake runtime of the gate"))
        return fprintf(stderr, "%s does not start\n", tool), false;
    send_thread_begin(ompt_thread_initial);
    played_task_init(&initial, &implicit_parallel, ompt_task_initial, 0);
    played_push(&initial);
    send_implicit_begin(&initial, 1, 1);
    return true;
}

static int timers, timer_signal;

/* Replaces timer_create by a function whose timers never expire. With real timers, the number of samples
 * would depend on the speed of the machine. */
EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    (void)clock;
    *timer = (timer_t)(uintptr_t)++timers;
    timer_signal = event->sigev_signo;
    return 0;
}

EXPORT int timer_settime(timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    (void)timer, (void)flags, (void)value, (void)old;
    return 0;
}

EXPORT int timer_delete(timer_t timer)
{
    (void)timer;
    return 0;
}

/* Replaces syscall. The numbers that the kernel counts for a thread never change, so no sample finds that its
 * thread has lost its core. They always have the same number of digits. */
EXPORT long syscall(long number, ...)
{
    static const char counted[] = "1234567890 12345678 1234\n";
    long words[6], result;
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(arguments, long);
    va_end(arguments);
    result = kernel_call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (number == SYS_pread64 && result > 0) {
        memcpy((void *)words[1], counted, sizeof(counted) - 1);
        return sizeof(counted) - 1;
    }
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

EXPORT int fake_signal(void)
{
    return timers == 1 && gate_find_sample_handler(timer_signal) ? timer_signal : 0;
}

EXPORT void fake_time_samples(sample_timer timer)
{
    time_samples = timer;
}

EXPORT void fake_print_callbacks(void)
{
    for (int event = 0; event < CALLBACKS; event++)
        if (played_callback(event))
            printf("%d\n", event);
}

EXPORT const struct blame_calls *fake_blame_calls(void)
{
    return played_blame_calls();
}

static ompt_mutex_t fake_mutex_kind(enum fake_lock kind)
{
    static const ompt_mutex_t kinds[] = {ompt_mutex_lock, ompt_mutex_critical, ompt_mutex_ordered,
                                         ompt_mutex_nest_lock};
    return kinds[kind];
}

/* Runs the body of a task. The frame of this function is the task's exit frame. */
static __attribute__((noinline)) void invoke(struct played_task *task, fake_body body)
{
    task->frame.exit_frame.ptr = __builtin_frame_address(0);
    body();
    task->frame.exit_frame.ptr = NULL;
}

static void fake_be_waiting(int samples, fake_body inside)
{
    if (samples)
        gate_samples_here(samples);
    if (inside)
        inside();
}

static void fake_wait_here(ompt_sync_region_t kind, int samples, fake_body inside, const void *codeptr)
{
    struct played_task *task = fake_current();
    send_wait_begin(kind, task->parallel, &task->data, codeptr);
    fake_be_waiting(samples, inside);
    send_wait_end(kind, task->parallel, &task->data, codeptr);
}

static void fake_execute_implicit(ompt_data_t *parallel, int thread_num, unsigned threads, fake_body body)
{
    struct played_task task;
    played_task_init(&task, parallel, ompt_task_implicit, thread_num);
    played_push(&task);
    send_implicit_begin(&task, threads, thread_num);
    invoke(&task, body);
    fake_wait_here(ompt_sync_region_barrier_implicit_parallel, 0, NULL, NULL);
    send_implicit_end(NULL, &task.data, threads, thread_num, ompt_task_implicit);
    played_pop();
}

struct worker {
    ompt_data_t *parallel;
    fake_body body;
    unsigned threads;
    int number;
    pthread_t thread;
};

static void *fake_run_worker(void *argument)
{
    struct worker *worker = argument;
    send_thread_begin(ompt_thread_worker);
    fake_execute_implicit(worker->parallel, worker->number, worker->threads, worker->body);
    send_thread_end();
    return NULL;
}

EXPORT __attribute__((noinline)) void fake_parallel(unsigned threads, fake_body body, fake_body worker_body)
{
    ompt_data_t parallel = {0};
    struct played_task *task = fake_current();
    struct worker workers[FAKE_THREADS];
    task->frame.enter_frame.ptr = __builtin_frame_address(0);
    send_parallel_begin(task, &parallel, threads, HERE);
    for (unsigned i = 1; i < threads; i++) {
        workers[i] = (struct worker){&parallel, worker_body, threads, (int)i, 0};
        if (pthread_create(&workers[i].thread, NULL, fake_run_worker, &workers[i]) != 0)
            abort();
    }
    fake_execute_implicit(&parallel, 0, threads, body);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    send_parallel_end(task, HERE);
    task->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_barrier(int samples, fake_body inside)
{
    fake_current()->frame.enter_frame.ptr = __builtin_frame_address(0);
    fake_wait_here(ompt_sync_region_barrier_explicit, samples, inside, HERE);
    fake_current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_work(int samples)
{
    fake_current()->frame.enter_frame.ptr = __builtin_frame_address(0);
    fake_be_waiting(samples, NULL);
    fake_current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_taskwait(fake_body inside)
{
    fake_current()->frame.enter_frame.ptr = __builtin_frame_address(0);
    fake_wait_here(ompt_sync_region_taskwait, 0, inside, HERE);
    fake_current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_task(fake_body body)
{
    struct played_task *creator = fake_current(), task;
    creator->frame.enter_frame.ptr = __builtin_frame_address(0);
    played_task_init(&task, creator->parallel, ompt_task_explicit, creator->thread_num);
    /* at this point, the task exists, but its creator is still the current task */
    send_task_create(creator, &task, HERE);
    send_task_switch(creator, &task);
    played_push(&task);
    invoke(&task, body);
    played_pop();
    send_task_complete(&task, creator);
    creator->frame.enter_frame.ptr = NULL;
}

/* As in libomp, the new task becomes the current one before the tool gets the event, and the runtime has no
 * frame on the stack. */
EXPORT __attribute__((noinline)) void fake_task_begin_if0(void)
{
    static __thread struct played_task task; /* task of the thread, which has only one such task at a time */
    struct played_task *creator = fake_current();
    creator->frame.enter_frame.ptr = __builtin_frame_address(0);
    played_task_init(&task, creator->parallel, ompt_task_explicit | ompt_task_undeferred, creator->thread_num);
    played_push(&task);
    task.frame.exit_frame.ptr = creator->frame.exit_frame.ptr;
    send_task_create(creator, &task, HERE);
    send_task_switch(creator, &task);
    KEEP_FRAME();
}

EXPORT __attribute__((noinline)) void fake_task_complete_if0(void)
{
    struct played_task *task = fake_current();
    played_pop();
    send_task_complete(task, fake_current());
    fake_current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_lock_init(enum fake_lock kind, unsigned long id)
{
    send_lock_init(fake_mutex_kind(kind), id, HERE);
}

EXPORT __attribute__((noinline)) void fake_lock_destroy(enum fake_lock kind, unsigned long id)
{
    send_lock_destroy(fake_mutex_kind(kind), id, HERE);
}

EXPORT __attribute__((noinline)) void fake_lock_acquire(enum fake_lock kind, unsigned long id)
{
    send_mutex_acquire(fake_mutex_kind(kind), id, HERE);
    send_mutex_acquired(fake_mutex_kind(kind), id, HERE);
}

EXPORT __attribute__((noinline)) void fake_lock_wait(enum fake_lock kind, unsigned long id, int samples,
                                                     fake_body inside)
{
    fake_current()->frame.enter_frame.ptr = __builtin_frame_address(0);
    send_mutex_acquire(fake_mutex_kind(kind), id, HERE);
    fake_be_waiting(samples, inside);
    send_mutex_acquired(fake_mutex_kind(kind), id, HERE);
    fake_current()->frame.enter_frame.ptr = NULL;
}

EXPORT __attribute__((noinline)) void fake_lock_release(enum fake_lock kind, unsigned long id)
{
    send_mutex_released(fake_mutex_kind(kind), id, HERE);
    KEEP_FRAME();
}

EXPORT __attribute__((noinline)) void fake_loop(void)
{
    send_work_begin(ompt_work_loop_static, PIECES, HERE);
    send_work_end(ompt_work_loop_static, PIECES, HERE);
}

EXPORT __attribute__((noinline)) void fake_lock_again(unsigned long id)
{
    send_mutex_acquire(ompt_mutex_nest_lock, id, HERE);
    send_nest_lock(ompt_scope_begin, id, HERE);
    send_nest_lock(ompt_scope_end, id, HERE);
}
