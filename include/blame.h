/* Marks the phases, events and parameters of a program for blame. Header-only, for C (C99 or later) and C++
 * (C++11 or later); there is nothing to link. Without the profiler each call costs one predictable branch.
 *
 *     blame_phase_begin("solve");              static phase: one row
 *     blame_phase_end("solve");
 *     blame_iteration_begin("step", 17);       dynamic phase: one numbered row per execution
 *     blame_iteration_end("step");
 *     blame_event_begin("pack");               event: counted and timed exactly
 *     blame_event_end("pack");
 *     blame_parameter_begin("size", 512);      parameter: a context "size = 512"
 *     blame_parameter_end("size");
 *     blame_trace_begin();                     starts recording the samples in order of time,
 *     blame_trace_end();                       stops it (unless BLAME_TRACE=0); see blame export
 *
 *     blame::phase solve("solve");             C++: the same, until the end of the scope
 *     blame::iteration step("step", i);
 *     blame::event pack("pack");
 *     blame::parameter size("size", n);
 *
 * The marks nest. They belong to the thread and the task that make the call. A phase that is open at the
 * start of a parallel region holds for all threads of the region. Names are compared by content. More:
 * docs/reading-a-report.md. */
#ifndef BLAME_H
#define BLAME_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The interface to the profiler. A name has `bytes` bytes and needs no terminator. */
enum blame_kind { BLAME_PHASE = 13, BLAME_EVENT = 14, BLAME_PARAMETER = 15, BLAME_ITERATION = 16 };

struct blame_calls {
    uint32_t bytes; /* size of this struct; later versions are longer */
    /* number: a parameter's value, an iteration's number or BLAME_NEXT; 0 for all others */
    void (*begin)(const char *name, size_t bytes, enum blame_kind kind, int64_t number);
    void (*end)(const char *name, size_t bytes, enum blame_kind kind);
};

#define BLAME_NEXT    INT64_MIN  /* the next number of this name */
#define BLAME_TRACE   0x74726163 /* omp_control_tool(1 or 2, BLAME_TRACE, 0) starts or pauses the trace */
#define BLAME_COMMAND 0x626c616d /* omp_control_tool(BLAME_COMMAND, sizeof(struct blame_calls), &pointer) */

/* Added to a kind by wrappers such as blame.F90. The mark then belongs to the wrapper's caller. */
#define BLAME_FOR_CALLER 0x100

/* The rest is for the program. Names that end in _ are internal. */
#ifdef __cplusplus
extern "C" {
#endif

/* Always inlined: the profiler finds the phase's function by the return address. Reports count the call to
 * its source line. */
#define BLAME_INLINE_ static __inline__ __attribute__((always_inline))
#define BLAME_ABSENT_ ((const struct blame_calls *)1)
typedef void (*blame_function_)(void);

/* One table per program or shared library. NULL: nobody has asked for the profiler yet. */
extern const struct blame_calls *blame_table_ __attribute__((weak, visibility("hidden")));
const struct blame_calls *blame_table_;

/* dlsym(), if the program has it. The weak reference leaves nothing to link. */
static blame_function_ blame_dlsym_(void *handle, const char *name) __attribute__((weakref("dlsym"), unused));

/* Returns true if the profiler may be present, to avoid starting an OpenMP runtime for nothing. The symbol is
 * in libblame only; libomp also exports ompt_start_tool. */
static __inline__ __attribute__((unused)) int blame_may_be_there_(void)
{
    const char *libraries = getenv("OMP_TOOL_LIBRARIES");
    return blame_dlsym_ != 0 && ((libraries && *libraries) || blame_dlsym_(0 /* RTLD_DEFAULT */, "blame_launched"));
}

/* Asks for the profiler's table and keeps the answer. Threads that ask at the same time get the same answer. */
static __attribute__((noinline, cold, unused)) const struct blame_calls *blame_ask_(void)
{
    const struct blame_calls *calls = 0;
    if (blame_may_be_there_()) {
        /* A runtime knows of no tool until it starts. This call starts it. */
        int (*begin)(void) = (int (*)(void))blame_dlsym_(0, "omp_get_max_threads");
        int (*control)(int, int, void *) = (int (*)(int, int, void *))blame_dlsym_(0, "omp_control_tool");
        if (begin && control) {
            begin();
            if (control(BLAME_COMMAND, (int)sizeof(struct blame_calls), &calls) != 0 ||
                (calls && calls->bytes < sizeof(struct blame_calls)))
                calls = 0;
        }
    }
    if (!calls)
        calls = BLAME_ABSENT_;
    __atomic_store_n(&blame_table_, calls, __ATOMIC_RELEASE);
    return calls;
}

/* The empty statements after the calls prevent tail calls, which would leave no return address. */
BLAME_INLINE_ void blame_begin_(const char *name, enum blame_kind kind, int64_t number)
{
    const struct blame_calls *calls = __atomic_load_n(&blame_table_, __ATOMIC_ACQUIRE);
    if (__builtin_expect(calls == BLAME_ABSENT_, 1))
        return;
    if (!calls && (calls = blame_ask_()) == BLAME_ABSENT_)
        return;
    calls->begin(name, __builtin_strlen(name), kind, number);
    __asm__ __volatile__("");
}

BLAME_INLINE_ void blame_end_(const char *name, enum blame_kind kind)
{
    const struct blame_calls *calls = __atomic_load_n(&blame_table_, __ATOMIC_ACQUIRE);
    if (__builtin_expect(calls == BLAME_ABSENT_, 1))
        return;
    if (!calls && (calls = blame_ask_()) == BLAME_ABSENT_)
        return;
    calls->end(name, __builtin_strlen(name), kind);
    __asm__ __volatile__("");
}

BLAME_INLINE_ void blame_phase_begin(const char *name)
{
    blame_begin_(name, BLAME_PHASE, 0);
}

BLAME_INLINE_ void blame_phase_end(const char *name)
{
    blame_end_(name, BLAME_PHASE);
}

BLAME_INLINE_ void blame_iteration_begin(const char *name, int64_t number)
{
    blame_begin_(name, BLAME_ITERATION, number);
}

BLAME_INLINE_ void blame_iteration_end(const char *name)
{
    blame_end_(name, BLAME_ITERATION);
}

BLAME_INLINE_ void blame_event_begin(const char *name)
{
    blame_begin_(name, BLAME_EVENT, 0);
}

BLAME_INLINE_ void blame_event_end(const char *name)
{
    blame_end_(name, BLAME_EVENT);
}

BLAME_INLINE_ void blame_parameter_begin(const char *name, int64_t value)
{
    blame_begin_(name, BLAME_PARAMETER, value);
}

BLAME_INLINE_ void blame_parameter_end(const char *name)
{
    blame_end_(name, BLAME_PARAMETER);
}

static __inline__ __attribute__((unused)) void blame_trace_(int command)
{
    const struct blame_calls *calls = __atomic_load_n(&blame_table_, __ATOMIC_ACQUIRE);
    if (calls == BLAME_ABSENT_ || (!calls && blame_ask_() == BLAME_ABSENT_))
        return;
    ((int (*)(int, int, void *))blame_dlsym_(0, "omp_control_tool"))(command, BLAME_TRACE, 0);
}

BLAME_INLINE_ void blame_trace_begin(void)
{
    blame_trace_(1);
}

BLAME_INLINE_ void blame_trace_end(void)
{
    blame_trace_(2);
}

#ifdef __cplusplus
}

#if __cplusplus >= 202002L
#define BLAME_KEEP_ [[nodiscard]]
#else
#define BLAME_KEEP_
#endif
#define BLAME_MEMBER_ __attribute__((always_inline)) inline

/* The mark lasts until the end of the scope. The name must live as long as the object; a string literal is
 * best. */
namespace blame
{

class phase
{
  public:
    BLAME_KEEP_ BLAME_MEMBER_ explicit phase(const char *name) : name_(name)
    {
        blame_phase_begin(name);
    }
    BLAME_MEMBER_ ~phase()
    {
        blame_phase_end(name_);
    }
    phase(const phase &) = delete;
    phase &operator=(const phase &) = delete;

  private:
    const char *name_;
};

class iteration
{
  public:
    BLAME_KEEP_ BLAME_MEMBER_ explicit iteration(const char *name, int64_t number = BLAME_NEXT) : name_(name)
    {
        blame_iteration_begin(name, number);
    }
    BLAME_MEMBER_ ~iteration()
    {
        blame_iteration_end(name_);
    }
    iteration(const iteration &) = delete;
    iteration &operator=(const iteration &) = delete;

  private:
    const char *name_;
};

class event
{
  public:
    BLAME_KEEP_ BLAME_MEMBER_ explicit event(const char *name) : name_(name)
    {
        blame_event_begin(name);
    }
    BLAME_MEMBER_ ~event()
    {
        blame_event_end(name_);
    }
    event(const event &) = delete;
    event &operator=(const event &) = delete;

  private:
    const char *name_;
};

class parameter
{
  public:
    BLAME_KEEP_ BLAME_MEMBER_ parameter(const char *name, int64_t value) : name_(name)
    {
        blame_parameter_begin(name, value);
    }
    BLAME_MEMBER_ ~parameter()
    {
        blame_parameter_end(name_);
    }
    parameter(const parameter &) = delete;
    parameter &operator=(const parameter &) = delete;

  private:
    const char *name_;
};

} // namespace blame
#endif

#endif
