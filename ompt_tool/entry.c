/* Where the runtime, or the loader, meets the tool. */
#include <dlfcn.h>
#include <omp-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/os.h"
#include "cct/profile_format.h"
#include "ompt_tool/callbacks.h"
#include "ompt_tool/counters.h"
#include "ompt_tool/finish.h"
#include "ompt_tool/fork.h"
#include "ompt_tool/runtime.h"
#include "ompt_tool/sampler.h"
#include "ompt_tool/session.h"
#include "ompt_tool/thread.h"
#include "ompt_tool/walk.h"
#include "unwind/loadmap.h"

__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version,
                                                                                 const char *runtime_version);

#define LOADING_NS 100000000ull /* what the loader may take before our constructor runs */

static void look_up_entry_points(ompt_function_lookup_t lookup)
{
    runtime.set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    runtime.get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
    runtime.get_parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
    runtime.finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
    runtime.get_max_threads = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_max_threads");
}

/* What kind of code each module holds decides what a frame in it means. */
static void flag_modules(ompt_function_lookup_t lookup)
{
    const struct loadmap_range *runtime_range = loadmap_find((uintptr_t)lookup);
    const struct loadmap_range *program_range = loadmap_find((uintptr_t)getauxval(AT_ENTRY));
    loadmap_flag((uintptr_t)getauxval(AT_ENTRY), PROFILE_MODULE_EXECUTABLE);
    loadmap_flag((uintptr_t)&flag_modules, PROFILE_MODULE_TOOL); /* a symbol that nobody can interpose */
    loadmap_flag((uintptr_t)dlsym(RTLD_DEFAULT, "read"), PROFILE_MODULE_SYSTEM);
    loadmap_flag((uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr"), PROFILE_MODULE_SYSTEM);
    /* Linked into the program itself, the runtime cannot be told from user code by its address range. */
    if (runtime_range && (!program_range || runtime_range->module_id != program_range->module_id)) {
        loadmap_flag((uintptr_t)lookup, PROFILE_MODULE_RUNTIME);
        runtime.code_low = runtime_range->start;
        runtime.code_bytes = runtime_range->end - runtime_range->start;
    }
}

static uint64_t loaded_ns; /* when `blame run` had the loader run our constructor */

/* When this program's image started. /proc tells when the process did, to a clock tick, but another program
 * may have run in it before (a shell script that ends in exec). `blame run` leaves the time of its own exec;
 * if that was long before our constructor, it was the start of something else. */
static uint64_t image_start_ns(void)
{
    const char *text = secure_getenv("BLAME_START_NS");
    uint64_t told_ns = text ? strtoull(text, NULL, 10) : 0;
    if (!loaded_ns)
        return os_process_start_ns();
    return told_ns < loaded_ns && loaded_ns - told_ns < LOADING_NS ? told_ns : loaded_ns;
}

static int start(ompt_function_lookup_t lookup)
{
    uint64_t start_ns = image_start_ns();
    look_up_entry_points(lookup);
    if (!runtime.set_callback) {
        log_line("the OpenMP runtime (", session.runtime,
                 ") offers no ompt_set_callback; nothing is measured", NULL);
        return 0;
    }
    if (!loadmap_init()) {
        log_line("/proc/self/maps cannot be read or there is no memory for it; nothing is measured", NULL);
        return 0;
    }
    clock_ticks_init();
    flag_modules(lookup);
    walk_init();
    if (!sampler_init()) {
        log_line("no signal is free to sample by; nothing is measured", NULL);
        return 0;
    }
    counters_init();
    if (!session_start(start_ns))
        return 0;
    fork_init();
    if (callbacks_register())
        log_line("the OpenMP runtime (", session.runtime,
                 ") does not deliver all events; blame may be incomplete", NULL);
    return 1;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data)
{
    struct os_write_guard guard;
    (void)device, (void)tool_data;
    os_guard_writes(&guard);
    int started = start(lookup);
    os_unguard_writes(&guard);
    return started;
}

static void finalize(ompt_data_t *tool_data)
{
    (void)tool_data;
    finish();
}

ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    (void)omp_version;
    snprintf(session.runtime, sizeof(session.runtime), "%s", runtime_version ? runtime_version : "unknown");
    /* The environment is its user's, files would be written with its privileges. */
    if (getauxval(AT_SECURE)) {
        log_line("this program has privileges beyond its user's (set-user-ID, set-group-ID, capabilities); nothing is "
                 "measured",
                 NULL);
        return NULL;
    }
    options_read(&session.options);
    return session.options.disable ? NULL : &result;
}

/* Loaded by `blame run`, before main: any omp_ call starts the runtime, and with it the tool. Without the
 * launcher the program decides when its runtime starts. */
__attribute__((constructor)) static void start_early(void)
{
    const char *preload = secure_getenv("BLAME_PRELOADED");
    if (!preload || strcmp(preload, "1") != 0)
        return;
    loaded_ns = clock_now_ns();
    int (*get_max_threads)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    if (get_max_threads)
        get_max_threads();
}

/* exit() from a worker thread skips finalize; _exit and signals skip this too: the file is readable all the
 * same. */
__attribute__((destructor)) static void finish_late(void)
{
    finish();
}
