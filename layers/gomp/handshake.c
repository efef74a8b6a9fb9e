/* The start and end of a tool, as OpenMP 5 describes them: OMP_TOOL, a tool in the process, OMP_TOOL_LIBRARIES.
 *
 * The provider starts in its constructor, so that a tool sees the whole program. If the process has no libgomp by
 * then (LD_PRELOAD is inherited by every child process), it starts with the first call of a GOMP_ or omp_ function
 * that it stands before. It ends in its destructor. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/kernel.h"
#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"

#define OMP_VERSION     202011 /* of the tool interface */
#define RUNTIME_VERSION "GNU libgomp"

/* Once `mode` is PLAIN, there is no tool, and there will be none. */
enum { NOT_STARTED, STARTING, PLAIN, WITH_TOOL, FINALIZED };

static int mode;
static long starter;           /* the process that starts the tool; 0: none yet */
static __thread bool starting; /* this thread is in handshake_start() */
static ompt_start_tool_result_t *tool;

typedef ompt_start_tool_result_t *start_tool(unsigned version, const char *runtime);

static ompt_start_tool_result_t *handshake_ask(void *library)
{
    start_tool *start = NULL;
    void *found = dlsym(library, "ompt_start_tool");
    memcpy(&start, &found, sizeof(found));
    return start ? start(OMP_VERSION, RUNTIME_VERSION) : NULL;
}

/* The first library of the list that has a tool which wants to run. */
static ompt_start_tool_result_t *handshake_load(const char *list)
{
    ompt_start_tool_result_t *result = NULL;
    char *names = list ? strdup(list) : NULL, *rest = NULL;
    for (char *name = names ? strtok_r(names, ":", &rest) : NULL; name && !result; name = strtok_r(NULL, ":", &rest)) {
        void *library = dlopen(name, RTLD_LAZY);
        result = library ? handshake_ask(library) : NULL;
        if (library && !result)
            dlclose(library);
    }
    free(names);
    return result;
}

/* The entry points that a tool may look up. */
static ompt_interface_fn_t handshake_look_up(const char *name)
{
    if (strcmp(name, "ompt_finalize_tool") == 0)
        return handshake_finalize;
    return inquiry_look_up(name);
}

static bool handshake_wanted(void)
{
    const char *wish = getenv("OMP_TOOL");
    if (!wish || !*wish || strcmp(wish, "enabled") == 0)
        return true;
    if (strcmp(wish, "disabled") != 0)
        real_say("libblame-gomp: OMP_TOOL=%s: the values are enabled and disabled; no tool is started\n", wish);
    return false;
}

static bool handshake_find_tool(void)
{
    if (!handshake_wanted() || !real_is_whole() || real_has_interface())
        return false;
    /* Under blame run, a tool inside the program stays as silent as it is on libgomp alone. */
    tool = real_is_given() ? NULL : handshake_ask(RTLD_DEFAULT);
    if (!tool)
        tool = handshake_load(getenv("OMP_TOOL_LIBRARIES"));
    return tool && tool->initialize(handshake_look_up, 0, &tool->tool_data);
}

static void handshake_decide(void)
{
    bool found = handshake_find_tool();
    store_relaxed(&provider_passes_on, !found);
    store_release(&mode, found ? WITH_TOOL : PLAIN);
}

static void handshake_start(void)
{
    int found = NOT_STARTED;
    if (!compare_exchange(&mode, &found, STARTING))
        return;
    store_relaxed(&starter, kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0));
    starting = true;
    if (!real_find_all())
        store_release(&mode, NOT_STARTED);
    else
        handshake_decide();
    starting = false;
}

/* A process that was forked while another thread started the tool has no such thread, and no tool. */
static void handshake_await(void)
{
    static const struct timespec pause = {.tv_nsec = 100000};
    long parent = load_relaxed(&starter);
    if (parent && parent != kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0)) {
        store_relaxed(&provider_passes_on, true);
        store_release(&mode, PLAIN);
        return;
    }
    kernel_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
}

/* The bound of the loop is the time that another thread needs to start the tool. */
bool handshake_has_tool(void)
{
    int now = load_acquire(&mode);
    if (likely(now == PLAIN) || starting)
        return false;
    if (now == NOT_STARTED)
        handshake_start();
    while ((now = load_acquire(&mode)) == STARTING)
        handshake_await();
    return now == WITH_TOOL;
}

static void handshake_end_thread(struct thread *thread)
{
    struct task *task = &thread->initial_task;
    if (thread->kind != ompt_thread_initial || thread->task != task)
        return;
    TELL(implicit_task, ompt_scope_end, &thread->initial_region.data, &task->data, 0, 1, ompt_task_initial);
    TELL(thread_end, &thread->data);
}

void handshake_finalize(void)
{
    int with_tool = WITH_TOOL;
    if (!compare_exchange(&mode, &with_tool, FINALIZED))
        return;
    if (thread_gomp)
        handshake_end_thread(thread_gomp);
#define FORGET(event, type, answer) store_relaxed(&callbacks.event, NULL);
    PROVIDED_CALLBACKS(FORGET)
    store_relaxed(&provider_passes_on, true);
    if (tool->finalize)
        tool->finalize(&tool->tool_data);
}
