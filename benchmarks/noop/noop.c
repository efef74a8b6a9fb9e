/* The floor: an OMPT tool that registers the same callbacks as blame and does nothing in them. (`make gate`
 * checks that the callbacks are the same.) What a program loses with this tool is what OMPT costs in the
 * runtime; every tool has that cost. Like blame, it registers task_create only with BLAME_TASKS=creation.
 * (blame also registers it for programs with taskwait depend, which no kernel uses.) With NOOP_RATE=n, each
 * thread also gets n signals per second, whose handler does nothing. This is what signals cost any sampling
 * profiler. */
#define _GNU_SOURCE
#include <omp-tools.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))
#define EXPORT __attribute__((visibility("default")))

static long rate;
static __thread timer_t timer;
static __thread int has_timer;

static void noop_on_signal(UNUSED int signal, UNUSED siginfo_t *info, UNUSED void *context)
{
}

static void noop_on_thread_begin(UNUSED ompt_thread_t type, UNUSED ompt_data_t *thread)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX};
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    if (rate == 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return;
    long period_ns = 1000000000 / rate;
    struct timespec period = {period_ns / 1000000000, period_ns % 1000000000};
    struct itimerspec times = {period, period};
    has_timer = timer_settime(timer, 0, &times, NULL) == 0;
}

static void noop_on_thread_end(UNUSED ompt_data_t *thread)
{
    if (has_timer)
        timer_delete(timer);
    has_timer = 0;
}

/* Installs a handler that blocks all signals while it runs, as blame's does. */
static void noop_prepare_signals(void)
{
    struct sigaction action = {.sa_sigaction = noop_on_signal, .sa_flags = SA_RESTART | SA_SIGINFO};
    const char *text = getenv("NOOP_RATE");
    sigfillset(&action.sa_mask);
    rate = text != NULL ? atol(text) : 0;
    if (rate > 0)
        sigaction(SIGRTMAX, &action, NULL);
}

/* Handles all other events. It declares no parameters, because the caller removes the arguments from the
 * stack. */
static void noop_on_event(void)
{
}

/* 1: ignored. */
static int noop_on_control_tool(UNUSED uint64_t command, UNUSED uint64_t modifier, UNUSED void *argument,
                                UNUSED const void *codeptr)
{
    return 1;
}

static int noop_initialize(ompt_function_lookup_t lookup, UNUSED int device, UNUSED ompt_data_t *tool)
{
    static const ompt_callbacks_t events[] = {
        ompt_callback_parallel_begin, ompt_callback_parallel_end,   ompt_callback_implicit_task,
        ompt_callback_mutex_acquire,  ompt_callback_mutex_acquired, ompt_callback_mutex_released,
        ompt_callback_lock_init,      ompt_callback_lock_destroy,   ompt_callback_nest_lock,
        ompt_callback_work,           ompt_callback_task_schedule,  ompt_callback_sync_region_wait,
    };
    ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    if (set_callback == NULL)
        return 0;
    noop_prepare_signals();
    const char *tasks = getenv("BLAME_TASKS");
    set_callback(ompt_callback_thread_begin, (ompt_callback_t)noop_on_thread_begin);
    set_callback(ompt_callback_thread_end, (ompt_callback_t)noop_on_thread_end);
    set_callback(ompt_callback_control_tool, (ompt_callback_t)noop_on_control_tool);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        set_callback(events[i], noop_on_event);
    if (tasks != NULL && strcmp(tasks, "creation") == 0)
        set_callback(ompt_callback_task_create, noop_on_event);
    return 1; /* stay active */
}

static void noop_finalize(UNUSED ompt_data_t *tool)
{
}

EXPORT ompt_start_tool_result_t *ompt_start_tool(UNUSED unsigned int omp_version, UNUSED const char *runtime_version)
{
    static ompt_start_tool_result_t result = {noop_initialize, noop_finalize, {0}};
    return &result;
}
