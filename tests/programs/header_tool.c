/* A runtime and a tool in one, for programs that use include/blame.h: says what it is asked and told, and by
 * which function. HEADER_TOOL: `refuses`, `silent` (says yes, gives nothing), `short` (a table of an older
 * version). With RUNTIME_ALONE there is no tool in it. */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/blame.h"

#define EXPORTED __attribute__((visibility("default")))

#ifndef RUNTIME_ALONE
EXPORTED int blame_launched; /* what the header knows the tool by */
#endif

static int begun;

static const char *function_at(void *const *frames, int kind)
{
    Dl_info info;
    void *address = frames[kind & BLAME_FOR_CALLER ? 2 : 1];
    return dladdr((char *)address - 1, &info) && info.dli_sname ? info.dli_sname : "?";
}

static __attribute__((noinline)) void begin(const char *name, size_t bytes, enum blame_kind kind, int64_t number)
{
    void *frames[4] = {0};
    backtrace(frames, 4);
    printf("begin '%.*s' %d %lld in %s\n", (int)bytes, name, (int)kind & ~BLAME_FOR_CALLER, (long long)number,
           function_at(frames, (int)kind));
}

static __attribute__((noinline)) void end(const char *name, size_t bytes, enum blame_kind kind)
{
    void *frames[4] = {0};
    backtrace(frames, 4);
    printf("end '%.*s' %d in %s\n", (int)bytes, name, (int)kind & ~BLAME_FOR_CALLER, function_at(frames, (int)kind));
}

/* libomp exports one itself. */
EXPORTED void *ompt_start_tool(void)
{
    return NULL;
}

EXPORTED int omp_get_max_threads(void)
{
    begun = 1;
    return 1;
}

/* As libomp's: knows of no tool before it has begun. */
EXPORTED int omp_control_tool(int command, int bytes, void *argument)
{
    static struct blame_calls calls = {sizeof(calls), begin, end};
    const char *mode = getenv("HEADER_TOOL");
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("asked");
    if (!begun || command != BLAME_COMMAND || bytes != (int)sizeof(calls))
        return -2;
    if (mode && strcmp(mode, "refuses") == 0)
        return -1;
    if (mode && strcmp(mode, "short") == 0)
        calls.bytes = sizeof(calls) - 1;
    if (!mode || strcmp(mode, "silent") != 0)
        *(const struct blame_calls **)argument = &calls;
    return 0;
}
