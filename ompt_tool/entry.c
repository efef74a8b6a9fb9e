/* Functions that the OpenMP runtime, the dynamic loader or exit() calls in the tool. */
#include <omp-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/bind.h"
#include "base/clock.h"
#include "base/float_state.h"
#include "base/launched.h"
#include "base/leaks.h"
#include "base/log.h"
#include "base/os.h"
#include "blame/state.h"
#include "cct/arena.h"
#include "ompt_tool/callbacks.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/context/walk.h"
#include "ompt_tool/counters/counters_plan.h"
#include "ompt_tool/life/compiler.h"
#include "ompt_tool/life/finish.h"
#include "ompt_tool/life/finisher.h"
#include "ompt_tool/first_thread.h"
#include "ompt_tool/life/attach.h"
#include "ompt_tool/life/fork.h"
#include "ompt_tool/life/fuse.h"
#include "ompt_tool/life/launch.h"
#include "ompt_tool/locks/diversion.h"
#include "ompt_tool/pthreads.h"
#include "ompt_tool/ranks/mpi_wait.h"
#include "ompt_tool/probes/probes.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/life/sandbox.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/variables.h"
#include "ompt_tool/life/start.h"
#include "unwind/linked.h"
#include "unwind/loadmap.h"

/* Called by libblame-loader.so before main in a program without OpenMP, or whose runtime has not started yet. */
__attribute__((visibility("default"))) void blame_begin_without_openmp(void);

/* Called before main, after the program's runtime has started, if a library's constructor has begun the measurement before
 * by creating a thread. */
__attribute__((visibility("default"))) void blame_runtime_has_started(void);
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version,
                                                                                 const char *runtime_version);

/* Exists only in programs with AddressSanitizer or LeakSanitizer. A weak reference is used because dlsym()
 * would allocate on the program's heap if the name is missing. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

/* An entry point of libraries that report the events of a runtime without a tool interface. Its address is in
 * that runtime. */
#define BEHIND_NAME "ompt_runtime_behind"

static bool entry_is_llvm(ompt_function_lookup_t lookup)
{
    return runtime_symbol((const void *)lookup, "__kmpc_fork_call") != NULL;
}

static void ompt_look_up_entry_points(ompt_function_lookup_t lookup)
{
    runtime.set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    runtime.get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
    runtime.set_llvm_callback = entry_is_llvm(lookup) ? runtime.set_callback : NULL;
    runtime.libgomp |= lookup(BEHIND_NAME) ? LIBGOMP_FIRST : 0;
    runtime.get_max_threads = (int (*)(void))runtime_symbol((const void *)lookup, "omp_get_max_threads");
}

/* Flags the module that contains the address as the runtime. Returns its range, or NULL if it is the program,
 * into which the runtime is linked. */
static const struct loadmap_range *entry_flag_runtime(uintptr_t address)
{
    const struct loadmap_range *range = loadmap_find(address), *program = loadmap_find((uintptr_t)getauxval(AT_ENTRY));
    if (!range || (program && range->module_id == program->module_id))
        return NULL;
    loadmap_flag(address, PROFILE_MODULE_RUNTIME);
    return range;
}

static void entry_add_version(const char *version)
{
    size_t used = strlen(session.runtime);
    snprintf(session.runtime + used, sizeof(session.runtime) - used, ", GCC %s", version);
}

/* Distributions strip the compiler's name from libraries. The functions of libgomp show the version, too. */
static void entry_add_version_by_names(const struct loadmap_range *behind)
{
    static const struct {
        const char *name, *version;
    } newest[] = {{"GOMP_target_map_indirect_ptr", "14 or newer"},
                  {"GOMP_taskwait_depend_nowait", "13"},
                  {"GOMP_scope_start", "12"},
                  {"GOMP_alloc", "11"},
                  {"GOMP_taskgroup_reduction_register", "9 or 10"},
                  {"GOMP_taskloop", "6 to 8"}};
    for (size_t i = 0; i < sizeof(newest) / sizeof(newest[0]); i++)
        if (runtime_symbol((const void *)behind->start, newest[i].name)) {
            entry_add_version(newest[i].version);
            return;
        }
}

/* Notes the version and path of a runtime that another library reports for, or else the path of the runtime
 * that has the tool interface. */
static void entry_name_runtime(const struct loadmap_range *behind, const struct loadmap_range *range)
{
    char version[64];
    session.runtime_path = behind || range ? loadmap_module((behind ? behind : range)->module_id)->path : NULL;
    session.runtime_reached = blame_launched.moved ? "in place of libgomp" : "directly";
    if (!behind)
        return;
    session.runtime_reached = blame_launched.reported ? "by libblame-gomp, blame run" : "by libblame-gomp, LD_PRELOAD";
    if (compiler_version(session.runtime_path, version, sizeof(version)))
        entry_add_version(version);
    else
        entry_add_version_by_names(behind);
}

/* Flags the loaded modules that belong to the program, the tool or the C library, because call paths treat the
 * frames in these differently. */
static void entry_flag_modules(void)
{
    loadmap_flag((uintptr_t)getauxval(AT_ENTRY), PROFILE_MODULE_EXECUTABLE);
    /* Uses the address of a static function, which no other library can replace. */
    loadmap_flag((uintptr_t)&entry_flag_modules, PROFILE_MODULE_TOOL);
    loadmap_flag(blame_launched.loader, PROFILE_MODULE_TOOL);
    loadmap_flag(mpi_wait_layer(), PROFILE_MODULE_TOOL);
    loadmap_flag(pthreads_layer(), PROFILE_MODULE_TOOL);
    loadmap_flag((uintptr_t)bind_find_in_libc("read"), PROFILE_MODULE_SYSTEM);
    loadmap_flag((uintptr_t)bind_find_in_libc("__tls_get_addr"), PROFILE_MODULE_SYSTEM);
}

/* Flags the modules of the runtime, and notes its path. */
static void entry_flag_first_runtime(ompt_function_lookup_t lookup)
{
    const struct loadmap_range *range = entry_flag_runtime((uintptr_t)lookup);
    entry_name_runtime(entry_flag_runtime((uintptr_t)lookup(BEHIND_NAME)), range);
    if (range) {
        runtime.code_low = range->start;
        runtime.code_bytes = range->end - range->start;
    }
}

/* Flags the modules of a runtime that starts during the measurement. They may already be in the file, without the
 * flag. */
static void entry_note_later_runtime(ompt_function_lookup_t lookup)
{
    const uintptr_t addresses[] = {(uintptr_t)lookup, (uintptr_t)lookup(BEHIND_NAME)};
    for (size_t i = 0; i < 2; i++) {
        const struct loadmap_range *range = entry_flag_runtime(addresses[i]);
        if (range)
            arena_text("later_runtime_path", loadmap_module(range->module_id)->path);
    }
}

/* Returns the time in ns at which this program was started. `blame run` passes the exact time. /proc only has
 * the start of the process, rounded to a clock tick, and the process may first have executed another program,
 * such as a shell script that ends in exec. */
static uint64_t entry_image_start_ns(void)
{
    return blame_launched.image_start_ns ? blame_launched.image_start_ns : os_process_start_ns();
}

/* Runs in exit(). Ends the measurement here if threads that the program created may still use OpenMP.
 * Otherwise the runtime would free its tables and then call the tool, which waits for the reports. A thread
 * that began a team during that time would crash. Exit handlers and destructors that run later are therefore
 * not measured. */
static void entry_finish_at_exit(void)
{
    uint32_t own = 0;
    session.exits = true;
    fuse_put_out();
    first_thread_exits();
    if (!arena_is_open() || load_relaxed(&session.stopping)) /* a sandbox may forbid to count threads */
        return;
    for (const struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
        own += thread->record.active && (thread == thread_self || thread->ledger->kind == PROFILE_THREAD_WORKER);
    if (own != os_threads())
        finish_measuring();
}

/* Registers the callbacks. Returns false if nothing can be measured. The first event comes only after the
 * tool has started, so nothing else needs to exist yet. */
static bool entry_register_callbacks(void)
{
    char text[800];
    if (!callbacks_register(first_thread_stays(), text, sizeof(text))) {
        log_line_of_job("the OpenMP runtime (", session.runtime, ") does not report every ", text,
                        " event; nothing is measured", NULL);
        return false;
    }
    if (*text)
        log_line_of_job("the OpenMP runtime (", session.runtime, ") does not report all events: ", text, NULL);
    if (!runtime.get_task_info)
        log_line_of_job("the OpenMP runtime (", session.runtime,
                        ") offers no ompt_get_task_info: call paths inside regions may end in the runtime", NULL);
    return true;
}

static void entry_warn_of_names(void)
{
    const char *name = bind_left();
    if (name)
        log_line_of_job(
            *name ? name : "the dynamic loader's list of libraries (_r_debug) cannot be read, and the C library",
            *name ? " was not found in the library that the tool was linked with, and" : "",
            " is called by name: a function of the same name, in the program or in a preloaded library, may crash "
            "or hang the program, or falsify its figures",
            NULL);
}

/* Does what a process needs once, whether its measurement starts now or later. Returns false if no signal is
 * free. */
static bool entry_prepare(void)
{
    static bool prepared;
    if (prepared)
        return true;
    clock_ticks_init();
    counters_plan_init();
    linked_init();
    finisher_find();
    if (!sampler_init()) {
        log_line("no signal is free for sampling; nothing is measured", NULL);
        return false;
    }
    atexit(entry_finish_at_exit);
    fork_init();
    return prepared = true;
}

/* Finds out what is in the process. This takes a millisecond, so it waits until a measurement starts. A forked child
 * knows it from its parent; if a runtime may have been loaded since then, the load map is read again. Returns false if it
 * cannot be known. */
static bool entry_look_around(bool runtime)
{
    static bool looked;
    if (looked) {
        if (runtime)
            loadmap_refresh();
        return true;
    }
    entry_warn_of_names();
    modules_launched(&blame_launched);
    if (!loadmap_init()) {
        log_line("/proc/self/maps cannot be read (as after a change of the user or root), or there is no memory "
                 "for its contents; nothing is measured",
                 NULL);
        return false;
    }
    entry_flag_modules();
    start_find_interpreters();
    walk_init();
    return looked = true;
}

/* Starts the measurement. lookup: that of the runtime, NULL if there is none. */
static bool entry_start_measuring(ompt_function_lookup_t lookup)
{
    uint64_t start_ns = fork_start_ns() ? fork_start_ns() : entry_image_start_ns();
    if (!entry_prepare() || !entry_look_around(lookup != NULL))
        return false;
    if (lookup)
        entry_flag_first_runtime(lookup);
    if (!start_measuring(start_ns))
        return false;
    probes_init(fork_child_attach);
    mpi_wait_init();
    pthreads_init();
    return true;
}

/* Looks up the runtime's functions and registers the callbacks. */
static bool entry_meet_runtime(ompt_function_lookup_t lookup)
{
    ompt_look_up_entry_points(lookup);
    if (runtime.set_callback)
        return entry_register_callbacks();
    log_line_of_job("the OpenMP runtime (", session.runtime, ") offers no ompt_set_callback; nothing is measured",
                    NULL);
    return false;
}

static void entry_settle_with_runtime(ompt_function_lookup_t lookup)
{
    first_thread_init();
    if (!runtime_warn_unheard((const void *)lookup))
        runtime.set_callback(ompt_callback_work, NULL);
}

static __attribute__((noinline)) int entry_start_tool(ompt_function_lookup_t lookup)
{
    if (!entry_meet_runtime(lookup))
        return 0;
    pthreads_load();
    if (!entry_start_measuring(lookup))
        return 0;
    diversion_begin(); /* the runtime creates threads */
    entry_settle_with_runtime(lookup);
    return 1;
}

/* Lets a measurement that began without the runtime go on with its events. */
static __attribute__((noinline)) int entry_join_runtime(ompt_function_lookup_t lookup)
{
    if (!entry_meet_runtime(lookup))
        return 0;
    loadmap_refresh();
    entry_flag_first_runtime(lookup);
    entry_note_later_runtime(lookup);
    diversion_begin();
    arena_text("runtime", session.runtime);
    if (session.runtime_path)
        arena_text("runtime_path", session.runtime_path);
    arena_text("runtime_reached", session.runtime_reached);
    entry_settle_with_runtime(lookup);
    return 1;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data);
static void finalize(ompt_data_t *tool_data);

static ompt_start_tool_result_t result = {initialize, finalize, {0}};

/* Returns true if a sandbox would end the program at a system call that the tool makes. */
static bool entry_is_forbidden(bool speaks)
{
    bool may_speak;
    /* The check starts a process, for which a sandbox may kill the program. Without reports, no process is
     * ever started, so no check is needed. */
    const char *call = session.options.csv ? sandbox_ends_at(&may_speak) : NULL;
    if (call && may_speak && speaks)
        log_line_of_job("a filter of system calls (seccomp) would end this program at the call ", call,
                        ", which the tool needs; nothing is measured", NULL);
    return call != NULL;
}

/* Returns true if a runtime called the tool with the parameters of OpenMP 5.0. Before, there were two, the second of which
 * was tool_data; the third argument is then whatever its register has, which may be tool_data, too. Such a runtime's
 * callbacks have other parameters as well. */
static bool entry_speaks_openmp_5(int device, const ompt_data_t *tool_data, const ompt_start_tool_result_t *started)
{
    return tool_data == &started->tool_data && device != (int)(uintptr_t)&started->tool_data;
}

/* Starts the tool. */
static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data)
{
    struct os_write_guard guard;
    if (!entry_speaks_openmp_5(device, tool_data, &result)) {
        log_line_of_job("the OpenMP runtime (", session.runtime,
                        ") has a tool interface older than that of OpenMP 5.0; nothing is measured", NULL);
        return 0;
    }
    bool joins = arena_is_open() && !load_relaxed(&session.stopping);
    if (!joins && entry_is_forbidden(true))
        return 0;
    struct float_state floats = float_begin();
    os_guard_writes(&guard);
    int started = joins ? entry_join_runtime(lookup) : entry_start_tool(lookup);
    os_unguard_writes(&guard);
    float_end(floats);
    if (!started && !joins)
        start_refused();
    return started;
}

static int initialize_second(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data);

static void finalize_second(ompt_data_t *tool_data)
{
    (void)tool_data; /* the measurement ends with the first runtime, or with the process */
}

static ompt_start_tool_result_t second_result = {initialize_second, finalize_second, {0}};

/* Serves a second runtime of the process, for example LLVM's in a program built by GCC. Each has threads and
 * regions of its own; a region of one may be inside a region of the other. */
static int initialize_second(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data)
{
    char text[800];
    ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    if (!entry_speaks_openmp_5(device, tool_data, &second_result)) {
        log_line_of_job(
            "the second OpenMP runtime has a tool interface older than that of OpenMP 5.0; it is not measured", NULL);
        return 0;
    }
    if (!set_callback || !arena_is_open() || load_relaxed(&session.stopping))
        return 0;
    if (entry_is_llvm(lookup)) {
        runtime.set_llvm_callback = set_callback;
        runtime_warn_unheard((const void *)lookup);
    }
    if (lookup(BEHIND_NAME)) {
        store_seq_cst(&runtime.libgomp, runtime.libgomp | LIBGOMP_SECOND);
        for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
            store_seq_cst(&thread->record.usual, false);
    }
    runtime_add_second((ompt_get_task_info_t)lookup("ompt_get_task_info"));
    if (!callbacks_register_second(set_callback, first_thread_stays(), text, sizeof(text)) || *text)
        log_line_of_job("the second OpenMP runtime does not report all events: ", text, NULL);
    loadmap_refresh();
    entry_note_later_runtime(lookup);
    return 1;
}

static void finalize(ompt_data_t *tool_data)
{
    /* other runtimes than LLVM's end only with the process */
    bool may_end_before = runtime.set_llvm_callback == runtime.set_callback;
    (void)tool_data;
    callbacks_notice_exit();
    if (!session.exits && may_end_before && arena_is_open())
        log_line(
            "the program has ended the OpenMP runtime (omp_pause_resource_all, dlclose), which does not start the tool "
            "again: the rest of the run is not measured",
            NULL);
    finish_measuring();
}

/* Reads the options. Returns false if the process must not be measured. speaks: whether to say why. */
static bool entry_may_start(bool speaks)
{
    /* The program has more privileges than the user who controls the environment, and would write files with
     * them. */
    if (getauxval(AT_SECURE)) {
        if (speaks)
            log_line_of_job("this program has more privileges than its user (set-user-ID, set-group-ID, "
                            "capabilities); nothing is measured",
                            NULL);
        return false;
    }
    if (__lsan_do_leak_check && !leaks_are_off()) {
        if (speaks) {
            log_line_of_job("this program looks for memory leaks when it ends, and would report those of the OpenMP "
                            "runtime; nothing is measured; set ASAN_OPTIONS=detect_leaks=0 to measure it",
                            NULL);
            start_refused();
        }
        return false;
    }
    struct float_state floats = float_begin();
    variables_read();
    float_end(floats);
    if (session.options.disable)
        start_refused();
    return !session.options.disable;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
    static unsigned asked;
    (void)omp_version;
    log_begin();
    if (asked++ == 1 && arena_is_open() && !load_relaxed(&session.stopping)) {
        arena_text("second_runtime", runtime_version);
        return &second_result;
    }
    if (asked > 1) {
        log_line_of_job("one more OpenMP runtime (", runtime_version, ") starts in this process: it is not measured",
                        NULL);
        return NULL;
    }
    if (blame_launched.before_main)
        fuse_forbid(); /* forked children are measured from their first region on */
    else
        fuse_put_out();
    snprintf(session.runtime, sizeof(session.runtime), "%s", runtime_version ? runtime_version : "unknown");
    bool may_start = session.armed || entry_may_start(true);
    if (may_start)
        launch_restore_environment();
    return may_start ? &result : NULL;
}

/* Starts the measurement of a program without OpenMP, or before its runtime starts, and attaches the calling thread, on
 * whose stack `stack` is. */
static bool entry_start_plain(uintptr_t stack)
{
    struct os_write_guard guard;
    struct float_state floats = float_begin();
    session.plain = !blame_launched.before_main;
    os_guard_writes(&guard);
    bool started = entry_start_measuring(NULL);
    os_unguard_writes(&guard);
    float_end(floats);
    return started && attach_plain_thread(PROFILE_THREAD_INITIAL, stack);
}

void blame_begin_without_openmp(void)
{
    log_begin();
    if (!entry_may_start(false) || entry_is_forbidden(false) || !entry_prepare())
        return;
    pthreads_load();
    pthreads_init();
    /* libpapi may not be loaded in a signal handler */
    bool now = session.options.counters || session.options.sample;
    session.armed = now ? entry_start_plain((uintptr_t)__builtin_frame_address(0))
                        : thread_prepare() && fuse_light(entry_start_plain);
}

void blame_runtime_has_started(void)
{
    if (runtime.get_max_threads && !load_relaxed(&session.teams))
        store_relaxed(&state_expected, (uint32_t)runtime.get_max_threads());
}

/* Finishes the measurement if finalize() was not called: exit() in a worker thread skips it. _exit() and
 * fatal signals skip this function as well, but the measurement file is valid at any time. */
__attribute__((destructor)) static void entry_finish_late(void)
{
    finish_measuring();
}
