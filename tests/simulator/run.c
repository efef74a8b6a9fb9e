#include "tests/simulator/run.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os.h"
#include "ompt_tool/life/finisher.h"
#include "ompt_tool/session/session.h"
#include "tests/simulator/invariants.h"
#include "tests/simulator/machine.h"
#include "tests/simulator/other_ranks.h"
#include "tests/simulator/played.h"
#include "tests/simulator/runtime.h"

#define TRACED_SEEDS 4u /* one of so many runs has a trace */

extern ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version);

/* The measurement is read here, by the claims. */
void finisher_find(void)
{
}

bool finisher_run(const char *directory, const char *file, char *why, size_t why_bytes)
{
    (void)directory, (void)file, (void)why, (void)why_bytes;
    return true;
}

static void find_folder(char *path, size_t bytes, pid_t process)
{
    snprintf(path, bytes, "%s/blame-simulator-%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)process);
}

static void remove_files(pid_t process)
{
    char path[64], file[96];
    find_folder(path, sizeof(path), process);
    snprintf(file, sizeof(file), "%s/%s-%d.blame", path, program_invocation_short_name, (int)process);
    unlink(file);
    rmdir(path);
}

void run_remove_left(void)
{
    glob_t found;
    char pattern[64];
    find_folder(pattern, sizeof(pattern), 0);
    pattern[strlen(pattern) - 1] = '*';
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        pid_t process = atoi(strrchr(found.gl_pathv[i], '-') + 1);
        if (os_is_dead(process))
            remove_files(process);
    }
    globfree(&found);
}

static void set_options(const struct scenario *scenario, uint64_t seed, const struct sim_options *options)
{
    char rate[16], moments[16], out[64];
    snprintf(moments, sizeof(moments), "%u", (unsigned)(seed % INT_MAX));
    snprintf(rate, sizeof(rate), "%u", options->rate);
    find_folder(out, sizeof(out), getpid());
    const char *sanitizer = getenv("ASAN_OPTIONS"); /* by which the plugin knows that nobody looks for leaks */
    clearenv();
    if (sanitizer)
        setenv("ASAN_OPTIONS", sanitizer, 1);
    setenv("BLAME_OUT", out, 1);
    setenv("BLAME_RATE", rate, 1);
    setenv("BLAME_SEED", moments, 1);
    setenv("BLAME_SUMMARY", "0", 1);
    if (options->keep || (seed % TRACED_SEEDS == 0 && !scenario->chunks))
        setenv("BLAME_TRACE", "1", 1);
    setenv("BLAME_CONTEXT", options->eager ? "eager" : "deferred", 1);
    setenv("BLAME_TASKS", options->creation ? "creation" : "region", 1);
    setenv("BLAME_LOCKS", options->at_release ? "release" : "section", 1);
}

/* Ends the process if it computes for longer, or hangs. */
static void set_limit(uint32_t cpu_s)
{
    setrlimit(RLIMIT_CPU, &(struct rlimit){.rlim_cur = cpu_s, .rlim_max = RLIM_INFINITY});
    alarm(20 * cpu_s);
}

void run_here(const struct scenario *scenario, uint64_t seed, const struct sim_options *options, struct run *run)
{
    set_limit(options->limit_s);
    set_options(scenario, seed, options);
    machine_init(scenario, seed);
    machine.shuffled = options->shuffled;
    machine.creation = options->creation;
    machine.at_release = options->at_release;
    machine.stop_at = options->stop_at;
    if (options->untold)
        played_answer((ompt_callbacks_t)options->untold, ompt_set_never);
    if (options->hides_tasks)
        played_hide_tasks();
    if (scenario->libgomp)
        played_as_libgomp();
    if (!played_start(ompt_start_tool, "played")) {
        strcpy(run->failure, "the plugin does not start");
        run->done = true;
        return;
    }
    other_ranks_init();
    runtime_play();
    run->seed = seed;
    run->events = machine.events;
    run->samples = machine.samples;
    if (machine.over)
        played_finalize();
    else if (!options->stop_at)
        strcpy(run->failure, "nothing more happens, and the program has not ended");
    measured_read(scenario, session.file, machine.over, run);
    const char *broken = invariants_check_run();
    if (broken)
        strcpy(run->failure, broken);
    if (options->keep && !os_copy_over(session.file, options->keep))
        snprintf(run->failure, sizeof(run->failure), "%s cannot be written", options->keep);
    remove_files(getpid());
    run->done = true;
}

bool run_with_tool(const struct scenario *scenario, uint64_t seed, const char *tool)
{
    void *library = dlopen(tool, RTLD_NOW | RTLD_LOCAL);
    ompt_start_tool_result_t *(*start)(unsigned, const char *) =
        library ? (ompt_start_tool_result_t * (*)(unsigned, const char *)) dlsym(library, "ompt_start_tool") : NULL;
    if (!start) {
        fprintf(stderr, "simulate: %s\n", dlerror());
        return false;
    }
    machine_init(scenario, seed);
    if (!played_start(start, "played"))
        return false;
    runtime_play();
    played_finalize();
    return machine.over;
}
