/* Declares the phases, events and parameters of a program to blame. This header works in C (C99 or later) and
 * C++ (C++11 or later); there is nothing to link. Without the profiler, each call costs one predictable
 * branch.
 *
 *     blame_phase_begin("solve");              static phase: one row
 *     blame_phase_end("solve");
 *     blame_iteration_begin("step", 17);       dynamic phase: one numbered row for each execution
 *     blame_iteration_end("step");
 *     blame_event_begin("pack");               event: counted and timed exactly
 *     blame_event_end("pack");
 *     blame_parameter_begin("size", 512);      parameter: a context "size = 512"
 *     blame_parameter_end("size");
 *     blame_trace_begin();                     starts the trace: each sample is kept with its time
 *     blame_trace_end();                       stops the trace (neither has an effect with BLAME_TRACE=0)
 *
 *     blame::phase solve("solve");             C++: the same, until the end of the scope
 *     blame::iteration step("step", i);
 *     blame::event pack("pack");
 *     blame::parameter size("size", n);
 *
 * Phases, events and parameters can be nested. They belong to the thread and the task that make the call. A
 * phase that is open at the start of a parallel region applies to all threads of the region. Names are
 * compared by content. More: docs/reading-a-report.md. */
#ifndef BLAME_H
#define BLAME_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The profiler's functions, which this header calls. `name` has `bytes` bytes and need not end with 0. */
enum blame_kind { BLAME_PHASE = 13, BLAME_EVENT = 14, BLAME_PARAMETER = 15, BLAME_ITERATION = 16 };

struct blame_calls {
    uint32_t bytes; /* size of this struct; later versions of it are longer */
    /* `number` is the value of a parameter, the number of an iteration, or BLAME_NEXT; for other kinds it is
     * 0 */
    void (*begin)(const char *name, size_t bytes, enum blame_kind kind, int64_t number);
    void (*end)(const char *name, size_t bytes, enum blame_kind kind);
};

/* when passed as the number of an iteration, means: the number of earlier executions with this name */
#define BLAME_NEXT INT64_MIN
/* omp_control_tool(1, BLAME_TRACE, 0) starts the trace; omp_control_tool(2, BLAME_TRACE, 0) stops it */
#define BLAME_TRACE 0x74726163
/* omp_control_tool(BLAME_COMMAND, sizeof(struct blame_calls), &pointer) sets the pointer to the profiler's
 * table */
#define BLAME_COMMAND 0x626c616d

/* Wrappers such as blame.F90 add this to the kind. The phase, event or parameter then belongs to the caller
 * of the wrapper. */
#define BLAME_FOR_CALLER 0x100

/* Programs use the functions below, except those whose names end in _, which are internal. */
#ifdef __cplusplus
extern "C" {
#endif

/* Always inlined, so that the return address is in the program's function that makes the call, for example of
 * blame_phase_begin(). Reports show the call at its source line. */
#define BLAME_INLINE_ static __inline__ __attribute__((always_inline))
#define BLAME_ABSENT_ ((const struct blame_calls *)1)
typedef void (*blame_function_)(void);

/* The profiler's table of functions. Each program and shared library has its own pointer. NULL: the profiler
 * has not been looked for yet. */
extern const struct blame_calls *blame_table_ __attribute__((weak, visibility("hidden")));
const struct blame_calls *blame_table_;

/* dlsym(), if the program has it. The reference is weak, so that programs need not link with a library that
 * defines it. */
static blame_function_ blame_dlsym_(void *handle, const char *name) __attribute__((weakref("dlsym"), unused));

/* Returns true if the profiler may be present. Otherwise blame_ask_() must not be called, because it would
 * start an OpenMP runtime. Only libblame.so has this symbol, whereas libomp, too, exports ompt_start_tool. */
static __inline__ __attribute__((unused)) int blame_may_be_there_(void)
{
    const char *libraries = getenv("OMP_TOOL_LIBRARIES");
    return blame_dlsym_ != 0 && ((libraries && *libraries) || blame_dlsym_(0 /* RTLD_DEFAULT */, "blame_launched"));
}

/* Asks for the profiler's table and keeps the answer. If several threads ask at the same time, they get the
 * same answer. */
static __attribute__((noinline, cold, unused)) const struct blame_calls *blame_ask_(void)
{
    const struct blame_calls *calls = 0;
    if (blame_may_be_there_()) {
        /* A runtime loads its tool when it starts. This call starts the runtime. */
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

/* The empty asm statements after the calls prevent tail calls, which would leave no return address on the
 * stack. */
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

/* A phase, event or parameter that ends with the scope of the object. The name must live as long as the
 * object, as a string literal does. */
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
