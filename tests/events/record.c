/* Writes down what a runtime tells its tool, event by event: an OMPT tool of its own, without blame. Played
 * runtimes (benchmarks/gate, tests/simulator) are recorded by it like real ones. A line, to the file that
 * EVENTS_RECORD names (else to stdout), in the order in which the events came:
 *
 *     THREAD EVENT KIND POINT [KEY=VALUE ...]        POINT is begin, end or -
 *
 * THREAD and the values of thread, parallel, task, new, prior, next and in are the identities that the
 * runtime's data got here:
 *
 *     -     no data (NULL)            0     data whose word nobody has set
 *     +7    data that the runtime makes with this event: now 7; +7* when its word was not zero before
 *     7     the same data later on    7'    a copy of it, at another address
 *
 * `in` is the current task as ompt_get_task_info says it. A code is `-`, program:ADDRESS or runtime:ADDRESS
 * (inside the runtime's module), a wait is the runtime's number of the lock or `-`, a frame which of its two
 * addresses are set. `refused EVENT RESULT` comes first for a callback that the runtime does not promise
 * always to call.
 *
 * With EVENTS_END_EARLY, the tool ends after the first region.
 *
 * sequence.py takes from it what is the same in every run. */
#include <dlfcn.h>
#include <omp-tools.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT        __attribute__((visibility("default")))
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum { HOMES = 1 << 20 };

static const char *const thread_kinds[] = {[1] = "initial", "worker", "other", "unknown"};
static const char *const schedule_kinds[] = {[1] = "complete", "yield",        "cancel", "detach",
                                             "early_fulfill",  "late_fulfill", "switch", "taskwait_complete"};
static const char *const work_kinds[] = {
    [1] = "loop", "sections", "single_executor",    "single_other", "workshare",   "distribute",
    "taskloop",   "scope",    [10] = "loop_static", "loop_dynamic", "loop_guided", "loop_other"};
static const char *const dispatch_kinds[] = {
    [1] = "iteration", "section", "ws_loop_chunk", "taskloop_chunk", "distribute_chunk"};
static const char *const sync_kinds[] = {
    [1] = "barrier", "barrier_implicit", "barrier_explicit",   "barrier_implementation", "taskwait",
    "taskgroup",     "reduction",        "implicit_workshare", "implicit_parallel",      "barrier_teams"};
static const char *const mutex_kinds[] = {[1] = "lock", "test_lock", "nest_lock", "test_nest_lock",
                                          "critical",   "atomic",    "ordered"};

static FILE *out;
static const void *runtime_base;
static ompt_get_thread_data_t get_thread_data;
static ompt_get_task_info_t get_task_info;
static ompt_finalize_tool_t finalize_tool; /* NULL: the tool ends with the process */
static unsigned long identities;
static const void *homes[HOMES]; /* of identities: where their word is */

/* Texts of values, each in a place of its own that lasts as long as the callback's block. */
#define TEXT              (char[64]){0}
#define WORD(data)        word(TEXT, data)
#define NEW(data)         fresh(TEXT, data)
#define CODE(ptr)         code(TEXT, ptr)
#define WAIT(id)          wait_text(TEXT, id)
#define IN                current(TEXT)
#define NAME(table, kind) name_of(TEXT, table, LENGTH(table), (unsigned)(kind))

static const char *word(char *text, const ompt_data_t *data)
{
    if (!data)
        return "-";
    bool copy = data->value && homes[data->value % HOMES] != data;
    sprintf(text, "%lu%s", data->value, copy ? "'" : "");
    return text;
}

static const char *fresh(char *text, ompt_data_t *data)
{
    if (!data)
        return "-";
    bool stale = data->value != 0;
    data->value = __atomic_add_fetch(&identities, 1, __ATOMIC_RELAXED);
    homes[data->value % HOMES] = data;
    sprintf(text, "+%lu%s", data->value, stale ? "*" : "");
    return text;
}

static const char *code(char *text, const void *address)
{
    Dl_info module;
    if (!address)
        return "-";
    bool in_runtime = runtime_base && dladdr(address, &module) && module.dli_fbase == runtime_base;
    sprintf(text, "%s:%p", in_runtime ? "runtime" : "program", address);
    return text;
}

static const char *wait_text(char *text, ompt_wait_id_t id)
{
    if (!id)
        return "-";
    sprintf(text, "%lx", id);
    return text;
}

static const char *current(char *text)
{
    ompt_data_t *data = NULL;
    return get_task_info(0, NULL, &data, NULL, NULL, NULL) ? word(text, data) : "-";
}

static const char *frame_text(const ompt_frame_t *frame)
{
    if (!frame)
        return "-";
    if (frame->exit_frame.ptr)
        return frame->enter_frame.ptr ? "exit+enter" : "exit";
    return frame->enter_frame.ptr ? "enter" : "none";
}

static const char *name_of(char *text, const char *const *table, size_t length, unsigned kind)
{
    if (kind < length && table[kind])
        return table[kind];
    sprintf(text, "%u", kind);
    return text;
}

/* stdio's lock makes the order. */
__attribute__((format(printf, 2, 3))) static void tell(const ompt_data_t *thread, const char *format, ...)
{
    char line[512];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof(line), format, values);
    va_end(values);
    fprintf(out, "%lu %s\n", thread ? thread->value : 0, line);
}

#define TELL(...) tell(get_thread_data(), __VA_ARGS__)

static const char *point(ompt_scope_endpoint_t endpoint)
{
    static const char *const names[] = {[ompt_scope_begin] = "begin", "end", "beginend"};
    return names[endpoint];
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t *thread)
{
    (void)NEW(thread);
    tell(thread, "thread %s begin", NAME(thread_kinds, type));
}

static void on_thread_end(ompt_data_t *thread)
{
    tell(thread, "thread any end");
}

static const char *parallel_kind(int flags)
{
    return flags & ompt_parallel_league ? "league" : "team";
}

static const char *invoker(int flags)
{
    return flags & ompt_parallel_invoker_runtime ? "runtime" : flags & ompt_parallel_invoker_program ? "program" : "-";
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                              int flags, const void *codeptr)
{
    const char *begun = NEW(parallel);
    TELL("parallel %s begin task=%s parallel=%s in=%s requested=%u invoker=%s frame=%s code=%s", parallel_kind(flags),
         WORD(task), begun, IN, requested, invoker(flags), frame_text(frame), CODE(codeptr));
}

/* The region's word is given away by then: docs/call-paths.md. */
static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *codeptr)
{
    (void)parallel;
    TELL("parallel %s end task=%s in=%s code=%s", parallel_kind(flags), WORD(task), IN, CODE(codeptr));
    if (finalize_tool)
        finalize_tool();
}

/* An initial task's region begins with it. */
static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned threads,
                             unsigned index, int flags)
{
    const char *kind = flags & ompt_task_initial ? "initial" : "implicit";
    bool begins = endpoint == ompt_scope_begin;
    bool own_region = begins && (flags & ompt_task_initial) && parallel && !parallel->value;
    const char *region = own_region ? NEW(parallel) : WORD(parallel), *named = begins ? NEW(task) : WORD(task);
    TELL("implicit_task %s %s parallel=%s task=%s in=%s size=%u index=%u", kind, point(endpoint), region, named, IN,
         threads, index);
}

static const char *task_kind(int flags)
{
    return flags & ompt_task_initial      ? "initial"
           : flags & ompt_task_taskwait   ? "taskwait"
           : flags & ompt_task_target     ? "target"
           : flags & ompt_task_final      ? "final"
           : flags & ompt_task_undeferred ? "undeferred"
           : flags & ompt_task_untied     ? "untied"
                                          : "explicit";
}

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *created, int flags,
                           int has_dependences, const void *codeptr)
{
    const char *named = NEW(created);
    TELL("task_create %s - task=%s new=%s in=%s flags=%x depend=%d frame=%s code=%s", task_kind(flags), WORD(task),
         named, IN, (unsigned)flags, has_dependences, frame_text(frame), CODE(codeptr));
}

static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    TELL("task_schedule %s - prior=%s next=%s in=%s", NAME(schedule_kinds, status), WORD(prior), WORD(next), IN);
}

static void on_dependences(ompt_data_t *task, const ompt_dependence_t *list, int length)
{
    (void)list;
    TELL("dependences any - task=%s count=%d", WORD(task), length);
}

static void on_task_dependence(ompt_data_t *source, ompt_data_t *sink)
{
    TELL("task_dependence any - prior=%s next=%s", WORD(source), WORD(sink));
}

static void on_work(ompt_work_t type, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                    uint64_t count, const void *codeptr)
{
    TELL("work %s %s parallel=%s task=%s in=%s count=%lu code=%s", NAME(work_kinds, type), point(endpoint),
         WORD(parallel), WORD(task), IN, count, CODE(codeptr));
}

static void on_dispatch(ompt_data_t *parallel, ompt_data_t *task, ompt_dispatch_t kind, ompt_data_t instance)
{
    const ompt_dispatch_chunk_t *chunk = kind == ompt_dispatch_ws_loop_chunk ? instance.ptr : NULL;
    if (chunk)
        TELL("dispatch %s - parallel=%s task=%s chunk=%lu+%lu", NAME(dispatch_kinds, kind), WORD(parallel), WORD(task),
             chunk->start, chunk->iterations);
    else
        TELL("dispatch %s - parallel=%s task=%s", NAME(dispatch_kinds, kind), WORD(parallel), WORD(task));
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *codeptr)
{
    TELL("masked any %s parallel=%s task=%s code=%s", point(endpoint), WORD(parallel), WORD(task), CODE(codeptr));
}

#define SYNC_CALLBACK(event)                                                                                           \
    static void on_##event(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,             \
                           ompt_data_t *task, const void *codeptr)                                                     \
    {                                                                                                                  \
        TELL(#event " %s %s parallel=%s task=%s in=%s code=%s", NAME(sync_kinds, kind), point(endpoint),               \
             WORD(parallel), WORD(task), IN, CODE(codeptr));                                                           \
    }
SYNC_CALLBACK(sync_region)
SYNC_CALLBACK(sync_region_wait)
SYNC_CALLBACK(reduction)

#define ASKING_CALLBACK(event)                                                                                         \
    static void on_##event(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,          \
                           const void *codeptr)                                                                        \
    {                                                                                                                  \
        (void)hint, (void)implementation;                                                                              \
        TELL(#event " %s - wait=%s code=%s", NAME(mutex_kinds, kind), WAIT(wait_id), CODE(codeptr));                   \
    }
ASKING_CALLBACK(mutex_acquire)
ASKING_CALLBACK(lock_init)

#define MUTEX_CALLBACK(event)                                                                                          \
    static void on_##event(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)                             \
    {                                                                                                                  \
        TELL(#event " %s - wait=%s code=%s", NAME(mutex_kinds, kind), WAIT(wait_id), CODE(codeptr));                   \
    }
MUTEX_CALLBACK(mutex_acquired)
MUTEX_CALLBACK(mutex_released)
MUTEX_CALLBACK(lock_destroy)

static void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait_id, const void *codeptr)
{
    TELL("nest_lock any %s wait=%s code=%s", point(endpoint), WAIT(wait_id), CODE(codeptr));
}

static void on_flush(ompt_data_t *thread, const void *codeptr)
{
    (void)thread, (void)codeptr;
    TELL("flush any -");
}

static void on_cancel(ompt_data_t *task, int flags, const void *codeptr)
{
    static const char *const kinds[] = {"parallel",  "sections", "loop",          "taskgroup",
                                        "activated", "detected", "discarded_task"};
    (void)codeptr;
    for (unsigned bit = 0; bit < LENGTH(kinds); bit++)
        if (flags & (1 << bit))
            TELL("cancel %s - task=%s", kinds[bit], WORD(task));
}

#define CALLBACK(event) {ompt_callback_##event, (ompt_callback_t)on_##event, #event}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    static const struct {
        ompt_callbacks_t event;
        ompt_callback_t callback;
        const char *name;
    } callbacks[] = {
        CALLBACK(thread_begin),  CALLBACK(thread_end),       CALLBACK(parallel_begin),
        CALLBACK(parallel_end),  CALLBACK(implicit_task),    CALLBACK(task_create),
        CALLBACK(task_schedule), CALLBACK(dependences),      CALLBACK(task_dependence),
        CALLBACK(work),          CALLBACK(dispatch),         CALLBACK(masked),
        CALLBACK(sync_region),   CALLBACK(sync_region_wait), CALLBACK(reduction),
        CALLBACK(mutex_acquire), CALLBACK(mutex_acquired),   CALLBACK(mutex_released),
        CALLBACK(lock_init),     CALLBACK(lock_destroy),     CALLBACK(nest_lock),
        CALLBACK(flush),         CALLBACK(cancel),
    };
    Dl_info module;
    const char *path = getenv("EVENTS_RECORD");
    (void)device, (void)data;
    out = path ? fopen(path, "w") : stdout;
    if (!out)
        return 0;
    ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    get_thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
    get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
    if (getenv("EVENTS_END_EARLY"))
        finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
    if (dladdr((const void *)(uintptr_t)lookup, &module))
        runtime_base = module.dli_fbase;
    for (size_t i = 0; i < LENGTH(callbacks); i++) {
        ompt_set_result_t result = set_callback(callbacks[i].event, callbacks[i].callback);
        if (result != ompt_set_always)
            fprintf(out, "refused %s %d\n", callbacks[i].name, (int)result);
    }
    return 1;
}

/* Not closed: threads of the runtime may still have something to say. */
static void finalize(ompt_data_t *data)
{
    (void)data;
    fflush(out);
}

EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime_version)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    (void)version, (void)runtime_version;
    return &result;
}
