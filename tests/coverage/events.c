/* Counts the events that a runtime delivers, by kind and endpoint: an OMPT tool of its own, without blame.
 * At the end it writes, to the file that COVERAGE_EVENTS names,
 *
 *     event NAME KIND BEGIN END     counts; events without endpoints count as BEGIN, END is then `-`
 *     refused NAME RESULT           what ompt_set_callback said, where it was not ompt_set_always
 *     runtime VERSION */
#include <omp-tools.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum event {
    THREAD,
    PARALLEL,
    IMPLICIT_TASK,
    TASK_CREATE,
    TASK_SCHEDULE,
    DEPENDENCES,
    TASK_DEPENDENCE,
    WORK,
    DISPATCH,
    MASKED,
    SYNC_REGION,
    SYNC_REGION_WAIT,
    REDUCTION,
    MUTEX_ACQUIRE,
    MUTEX_ACQUIRED,
    MUTEX_RELEASED,
    LOCK_INIT,
    LOCK_DESTROY,
    NEST_LOCK,
    FLUSH,
    CANCEL,
    EVENTS
};

enum { KINDS = 32 };

static unsigned counts[EVENTS][KINDS][2];
static const char *const names[EVENTS] = {
    "thread",         "parallel",         "implicit_task", "task_create",   "task_schedule",
    "dependences",    "task_dependence",  "work",          "dispatch",      "masked",
    "sync_region",    "sync_region_wait", "reduction",     "mutex_acquire", "mutex_acquired",
    "mutex_released", "lock_init",        "lock_destroy",  "nest_lock",     "flush",
    "cancel",
};

static const char *const thread_kinds[KINDS] = {[1] = "initial", "worker", "other", "unknown"};
static const char *const parallel_kinds[KINDS] = {"team", "league"};
static const char *const implicit_kinds[KINDS] = {"implicit", "initial"};
static const char *const task_kinds[KINDS] = {"explicit", "undeferred", "untied", "final",
                                              "taskwait", "initial",    "target"};
static const char *const schedule_kinds[KINDS] = {
    [1] = "complete", "yield",        "cancel", "detach",
    "early_fulfill",  "late_fulfill", "switch", "taskwait_complete"};
static const char *const work_kinds[KINDS] = {
    [1] = "loop", "sections", "single_executor",    "single_other", "workshare",   "distribute",
    "taskloop",   "scope",    [10] = "loop_static", "loop_dynamic", "loop_guided", "loop_other"};
static const char *const dispatch_kinds[KINDS] = {
    [1] = "iteration", "section", "ws_loop_chunk", "taskloop_chunk", "distribute_chunk"};
static const char *const sync_kinds[KINDS] = {
    [1] = "barrier", "barrier_implicit", "barrier_explicit",   "barrier_implementation", "taskwait",
    "taskgroup",     "reduction",        "implicit_workshare", "implicit_parallel",      "barrier_teams"};
static const char *const mutex_kinds[KINDS] = {[1] = "lock", "test_lock", "nest_lock", "test_nest_lock",
                                               "critical",   "atomic",    "ordered"};
static const char *const cancel_kinds[KINDS] = {"parallel",  "sections", "loop",          "taskgroup",
                                                "activated", "detected", "discarded_task"};

static const char *const *const kinds[EVENTS] = {
    [THREAD] = thread_kinds,        [PARALLEL] = parallel_kinds,      [IMPLICIT_TASK] = implicit_kinds,
    [TASK_CREATE] = task_kinds,     [TASK_SCHEDULE] = schedule_kinds, [WORK] = work_kinds,
    [DISPATCH] = dispatch_kinds,    [SYNC_REGION] = sync_kinds,       [SYNC_REGION_WAIT] = sync_kinds,
    [REDUCTION] = sync_kinds,       [MUTEX_ACQUIRE] = mutex_kinds,    [MUTEX_ACQUIRED] = mutex_kinds,
    [MUTEX_RELEASED] = mutex_kinds, [LOCK_INIT] = mutex_kinds,        [LOCK_DESTROY] = mutex_kinds,
    [CANCEL] = cancel_kinds,
};
static const bool without_end[EVENTS] = {
    [TASK_CREATE] = true, [TASK_SCHEDULE] = true, [DEPENDENCES] = true,    [TASK_DEPENDENCE] = true,
    [DISPATCH] = true,    [MUTEX_ACQUIRE] = true, [MUTEX_ACQUIRED] = true, [MUTEX_RELEASED] = true,
    [LOCK_INIT] = true,   [LOCK_DESTROY] = true,  [FLUSH] = true,          [CANCEL] = true,
};

static void count(enum event event, unsigned kind, unsigned endpoint)
{
    __atomic_fetch_add(&counts[event][kind % KINDS][endpoint & 1], 1, __ATOMIC_RELAXED);
}

/* ompt_scope_beginend (3) is one that both begins and ends. */
static void count_scope(enum event event, unsigned kind, ompt_scope_endpoint_t endpoint)
{
    if (endpoint != ompt_scope_end)
        count(event, kind, 0);
    if (endpoint != ompt_scope_begin)
        count(event, kind, 1);
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t *thread)
{
    thread->value = (unsigned)type;
    count(THREAD, (unsigned)type, 0);
}

static void on_thread_end(ompt_data_t *thread)
{
    count(THREAD, (unsigned)thread->value, 1);
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                              unsigned requested, int flags, const void *codeptr)
{
    (void)task, (void)frame, (void)parallel, (void)requested, (void)codeptr;
    count(PARALLEL, (flags & ompt_parallel_league) != 0, 0);
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *codeptr)
{
    (void)parallel, (void)task, (void)codeptr;
    count(PARALLEL, (flags & ompt_parallel_league) != 0, 1);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                             unsigned threads, unsigned index, int flags)
{
    (void)parallel, (void)task, (void)threads, (void)index;
    count_scope(IMPLICIT_TASK, (flags & ompt_task_initial) != 0, endpoint);
}

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *created, int flags,
                           int has_dependences, const void *codeptr)
{
    (void)task, (void)frame, (void)created, (void)has_dependences, (void)codeptr;
    count(TASK_CREATE,
          flags & ompt_task_initial      ? 5
          : flags & ompt_task_taskwait   ? 4
          : flags & ompt_task_target     ? 6
          : flags & ompt_task_final      ? 3
          : flags & ompt_task_undeferred ? 1
          : flags & ompt_task_untied     ? 2
                                         : 0,
          0);
}

static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    (void)prior, (void)next;
    count(TASK_SCHEDULE, (unsigned)status, 0);
}

static void on_dependences(ompt_data_t *task, const ompt_dependence_t *list, int length)
{
    (void)task, (void)list, (void)length;
    count(DEPENDENCES, 0, 0);
}

static void on_task_dependence(ompt_data_t *source, ompt_data_t *sink)
{
    (void)source, (void)sink;
    count(TASK_DEPENDENCE, 0, 0);
}

static void on_work(ompt_work_t type, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                    ompt_data_t *task, uint64_t iterations, const void *codeptr)
{
    (void)parallel, (void)task, (void)iterations, (void)codeptr;
    count_scope(WORK, (unsigned)type, endpoint);
}

static void on_dispatch(ompt_data_t *parallel, ompt_data_t *task, ompt_dispatch_t kind, ompt_data_t instance)
{
    (void)parallel, (void)task, (void)instance;
    count(DISPATCH, (unsigned)kind, 0);
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                      const void *codeptr)
{
    (void)parallel, (void)task, (void)codeptr;
    count_scope(MASKED, 0, endpoint);
}

#define SYNC_CALLBACK(name, event)                                                                           \
    static void name(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,         \
                     ompt_data_t *task, const void *codeptr)                                                 \
    {                                                                                                        \
        (void)parallel, (void)task, (void)codeptr;                                                           \
        count_scope(event, (unsigned)kind, endpoint);                                                        \
    }
SYNC_CALLBACK(on_sync_region, SYNC_REGION)
SYNC_CALLBACK(on_sync_region_wait, SYNC_REGION_WAIT)
SYNC_CALLBACK(on_reduction, REDUCTION)

#define ASKING_CALLBACK(name, event)                                                                         \
    static void name(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,      \
                     const void *codeptr)                                                                    \
    {                                                                                                        \
        (void)hint, (void)implementation, (void)wait_id, (void)codeptr;                                      \
        count(event, (unsigned)kind, 0);                                                                     \
    }
ASKING_CALLBACK(on_mutex_acquire, MUTEX_ACQUIRE)
ASKING_CALLBACK(on_lock_init, LOCK_INIT)

#define MUTEX_CALLBACK(name, event)                                                                          \
    static void name(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)                         \
    {                                                                                                        \
        (void)wait_id, (void)codeptr;                                                                        \
        count(event, (unsigned)kind, 0);                                                                     \
    }
MUTEX_CALLBACK(on_mutex_acquired, MUTEX_ACQUIRED)
MUTEX_CALLBACK(on_mutex_released, MUTEX_RELEASED)
MUTEX_CALLBACK(on_lock_destroy, LOCK_DESTROY)

static void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)wait_id, (void)codeptr;
    count_scope(NEST_LOCK, 0, endpoint);
}

static void on_flush(ompt_data_t *thread, const void *codeptr)
{
    (void)thread, (void)codeptr;
    count(FLUSH, 0, 0);
}

static void on_cancel(ompt_data_t *task, int flags, const void *codeptr)
{
    (void)task, (void)codeptr;
    for (unsigned bit = 0; bit < 7; bit++)
        if (flags & (1 << bit))
            count(CANCEL, bit, 0);
}

static const struct {
    ompt_callbacks_t event;
    ompt_callback_t callback;
    const char *name;
} callbacks[] = {
    {ompt_callback_thread_begin, (ompt_callback_t)on_thread_begin, "thread_begin"},
    {ompt_callback_thread_end, (ompt_callback_t)on_thread_end, "thread_end"},
    {ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin, "parallel_begin"},
    {ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end, "parallel_end"},
    {ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task, "implicit_task"},
    {ompt_callback_task_create, (ompt_callback_t)on_task_create, "task_create"},
    {ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule, "task_schedule"},
    {ompt_callback_dependences, (ompt_callback_t)on_dependences, "dependences"},
    {ompt_callback_task_dependence, (ompt_callback_t)on_task_dependence, "task_dependence"},
    {ompt_callback_work, (ompt_callback_t)on_work, "work"},
    {ompt_callback_dispatch, (ompt_callback_t)on_dispatch, "dispatch"},
    {ompt_callback_masked, (ompt_callback_t)on_masked, "masked"},
    {ompt_callback_sync_region, (ompt_callback_t)on_sync_region, "sync_region"},
    {ompt_callback_sync_region_wait, (ompt_callback_t)on_sync_region_wait, "sync_region_wait"},
    {ompt_callback_reduction, (ompt_callback_t)on_reduction, "reduction"},
    {ompt_callback_mutex_acquire, (ompt_callback_t)on_mutex_acquire, "mutex_acquire"},
    {ompt_callback_mutex_acquired, (ompt_callback_t)on_mutex_acquired, "mutex_acquired"},
    {ompt_callback_mutex_released, (ompt_callback_t)on_mutex_released, "mutex_released"},
    {ompt_callback_lock_init, (ompt_callback_t)on_lock_init, "lock_init"},
    {ompt_callback_lock_destroy, (ompt_callback_t)on_lock_destroy, "lock_destroy"},
    {ompt_callback_nest_lock, (ompt_callback_t)on_nest_lock, "nest_lock"},
    {ompt_callback_flush, (ompt_callback_t)on_flush, "flush"},
    {ompt_callback_cancel, (ompt_callback_t)on_cancel, "cancel"},
};
enum { CALLBACKS = sizeof(callbacks) / sizeof(callbacks[0]) };

static ompt_set_result_t results[CALLBACKS];
static const char *runtime;

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)device, (void)data;
    ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    for (int i = 0; i < CALLBACKS; i++)
        results[i] = set_callback(callbacks[i].event, callbacks[i].callback);
    return 1;
}

static void write_kind(FILE *file, int event, int kind)
{
    const unsigned *pair = counts[event][kind];
    const char *name = kinds[event] ? kinds[event][kind] : "any";
    char number[16];
    snprintf(number, sizeof(number), "%d", kind);
    if (pair[0] + pair[1] == 0)
        return;
    fprintf(file, "event %s %s %u ", names[event], name ? name : number, pair[0]);
    if (without_end[event])
        fputs("-\n", file);
    else
        fprintf(file, "%u\n", pair[1]);
}

static void finalize(ompt_data_t *data)
{
    (void)data;
    const char *path = getenv("COVERAGE_EVENTS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    for (int event = 0; event < EVENTS; event++)
        for (int kind = 0; kind < KINDS; kind++)
            write_kind(file, event, kind);
    for (int i = 0; i < CALLBACKS; i++)
        if (results[i] != ompt_set_always)
            fprintf(file, "refused %s %d\n", callbacks[i].name, (int)results[i]);
    fprintf(file, "runtime %s\n", runtime);
    fclose(file);
}

EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime_version)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    (void)version;
    runtime = runtime_version;
    return &result;
}
