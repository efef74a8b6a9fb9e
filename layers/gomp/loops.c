/* Worksharing: loops that libgomp divides among threads, sections, single and scope.
 *
 * The first call of a construct begins the work, and a call that names no kind ends it: so the task keeps the kind.
 * GCC divides static loops in line, without a call; they are told only if they have reductions of tasks or `ordered`.
 * `single` has no call for its end. */
#include "layers/gomp/loops.h"

#include <stdarg.h>
#include <string.h>

#include "layers/gomp/real.h"
#include "layers/gomp/waits.h"

/* libgomp's numbers of schedules, without the bit for monotonic ones */
enum { SCHEDULE_RUNTIME, SCHEDULE_STATIC, SCHEDULE_DYNAMIC, SCHEDULE_GUIDED, SCHEDULE_AUTO, SCHEDULE_MASK = 0xff };

/* Returns the ompt_work_t of a schedule; 0: it is chosen at run time. */
static int loop_kind(long schedule)
{
    switch (schedule & SCHEDULE_MASK) {
    case SCHEDULE_DYNAMIC:
        return ompt_work_loop_dynamic;
    case SCHEDULE_GUIDED:
        return ompt_work_loop_guided;
    case SCHEDULE_RUNTIME:
        return 0;
    default: /* libgomp takes auto as static */
        return ompt_work_loop_static;
    }
}

int loop_kind_at_run_time(void)
{
    int schedule = 0, chunk;
    real.omp_get_schedule(&schedule, &chunk);
    int kind = loop_kind(schedule);
    return kind ? kind : ompt_work_loop_other;
}

/* Tells the chunk that libgomp gave to the calling thread. */
static NOINLINE void loop_tell_chunk(int64_t from, int64_t to)
{
    struct task *task = thread_gomp->task;
    int64_t step = task->step ? task->step : 1;
    ompt_dispatch_chunk_t chunk = {(uint64_t)from, (uint64_t)(to - from + step - (step > 0 ? 1 : -1)) / (uint64_t)step};
    if (step < 0)
        chunk.iterations = ((uint64_t)from - (uint64_t)to + (uint64_t)-step - 1) / (uint64_t)-step;
    TELL(dispatch, &task->region->data, &task->data, ompt_dispatch_ws_loop_chunk, (ompt_data_t){.ptr = &chunk});
}

/* Ends a function with what libgomp's function, `call`, returns. That has stored the chunk before it is told, and none
 * if `from` is NULL. */
#define RETURN_CHUNK(call)                                                                                             \
    do {                                                                                                               \
        if (likely(!TOLD(dispatch)))                                                                                   \
            return call;                                                                                               \
        bool given = call;                                                                                             \
        if (given && from && thread_gomp)                                                                              \
            loop_tell_chunk((int64_t)*from, (int64_t)*to);                                                             \
        return given;                                                                                                  \
    } while (0)

/* The work of a loop begins. kind: its ompt_work_t; 0: chosen at run time. */
static inline struct thread *loop_begin(int kind, uint64_t iterations, int64_t step, const void *code)
{
    struct thread *thread = provider_enter();
    if (thread)
        work_begin(thread, kind ? kind : loop_kind_at_run_time(), iterations, step, code);
    return thread;
}

#define DEFINE_START(name, version, kind)                                                                              \
    EXPORT bool name(ITERATIONS, long chunk, CHUNK)                                                                    \
    {                                                                                                                  \
        loop_begin(kind, loop_iterations(start, end, step), step, CODE);                                               \
        RETURN_CHUNK(real.name(start, end, step, chunk, from, to));                                                    \
    }
#define DEFINE_RUNTIME_START(name, version, kind)                                                                      \
    EXPORT bool name(ITERATIONS, CHUNK)                                                                                \
    {                                                                                                                  \
        loop_begin(kind, loop_iterations(start, end, step), step, CODE);                                               \
        RETURN_CHUNK(real.name(start, end, step, from, to));                                                           \
    }
/* The thread has called a function for the start before. */
#define DEFINE_NEXT(name, version, kind)                                                                               \
    EXPORT bool name(CHUNK)                                                                                            \
    {                                                                                                                  \
        RETURN_CHUNK(real.name(from, to));                                                                             \
    }
#define DEFINE_ULL_START(name, version, kind)                                                                          \
    EXPORT bool name(UP_AND_ITERATIONS, ull chunk, ULL_CHUNK)                                                          \
    {                                                                                                                  \
        loop_begin(kind, loop_ull_iterations(up, start, end, step), (int64_t)step, CODE);                              \
        RETURN_CHUNK(real.name(up, start, end, step, chunk, from, to));                                                \
    }
#define DEFINE_ULL_RUNTIME_START(name, version, kind)                                                                  \
    EXPORT bool name(UP_AND_ITERATIONS, ULL_CHUNK)                                                                     \
    {                                                                                                                  \
        loop_begin(kind, loop_ull_iterations(up, start, end, step), (int64_t)step, CODE);                              \
        RETURN_CHUNK(real.name(up, start, end, step, from, to));                                                       \
    }
#define DEFINE_ULL_NEXT(name, version, kind)                                                                           \
    EXPORT bool name(ULL_CHUNK)                                                                                        \
    {                                                                                                                  \
        RETURN_CHUNK(real.name(from, to));                                                                             \
    }
GOMP_LOOP_STARTS(DEFINE_START)
GOMP_RUNTIME_LOOP_STARTS(DEFINE_RUNTIME_START)
GOMP_LOOP_NEXTS(DEFINE_NEXT)
GOMP_ULL_LOOP_STARTS(DEFINE_ULL_START)
GOMP_ULL_RUNTIME_LOOP_STARTS(DEFINE_ULL_RUNTIME_START)
GOMP_ULL_LOOP_NEXTS(DEFINE_ULL_NEXT)

/* With `from` NULL it is a static loop with reductions, which GCC divides in line. Reductions outside all regions
 * make libgomp create a team of one. */
#define DEFINE_LOOP_START(name)                                                                                        \
    EXPORT bool name(ITERATIONS, long schedule, long chunk, CHUNK, SHARED)                                             \
    {                                                                                                                  \
        struct thread *thread = loop_begin(loop_kind(schedule), loop_iterations(start, end, step), step, CODE);        \
        if (thread && reductions)                                                                                      \
            thread->artificial = true;                                                                                 \
        RETURN_CHUNK(real.name(start, end, step, schedule, chunk, from, to, reductions, memory));                      \
    }
#define DEFINE_ULL_LOOP_START(name)                                                                                    \
    EXPORT bool name(UP_AND_ITERATIONS, long schedule, ull chunk, ULL_CHUNK, SHARED)                                   \
    {                                                                                                                  \
        struct thread *thread =                                                                                        \
            loop_begin(loop_kind(schedule), loop_ull_iterations(up, start, end, step), (int64_t)step, CODE);           \
        if (thread && reductions)                                                                                      \
            thread->artificial = true;                                                                                 \
        RETURN_CHUNK(real.name(up, start, end, step, schedule, chunk, from, to, reductions, memory));                  \
    }
DEFINE_LOOP_START(GOMP_loop_start)
DEFINE_LOOP_START(GOMP_loop_ordered_start)
DEFINE_ULL_LOOP_START(GOMP_loop_ull_start)
DEFINE_ULL_LOOP_START(GOMP_loop_ull_ordered_start)

/* The most nested loops of a doacross loop whose dependences are told. */
enum { MOST_LOOPS = 64 };
/* The thread's doacross loop with the most nested loops had so many. */
static __thread unsigned deepest;

/* Loops with ordered(n): their waits have as many parameters as there are loops. libgomp divides the outermost. */
static struct thread *doacross_begin(int kind, unsigned loops, uint64_t iterations, const void *code)
{
    struct thread *thread = loop_begin(kind, iterations, 1, code);
    if (thread)
        thread->task->loops = loops;
    if (loops > deepest)
        deepest = loops;
    return thread;
}

#define DEFINE_DOACROSS(name, integer, kind)                                                                           \
    EXPORT bool name(unsigned loops, integer *counts, integer chunk, integer *from, integer *to)                       \
    {                                                                                                                  \
        doacross_begin(kind, loops, (uint64_t)counts[0], CODE);                                                        \
        RETURN_CHUNK(real.name(loops, counts, chunk, from, to));                                                       \
    }
#define DEFINE_RUNTIME_DOACROSS(name, integer)                                                                         \
    EXPORT bool name(unsigned loops, integer *counts, integer *from, integer *to)                                      \
    {                                                                                                                  \
        doacross_begin(0, loops, (uint64_t)counts[0], CODE);                                                           \
        RETURN_CHUNK(real.name(loops, counts, from, to));                                                              \
    }
#define DEFINE_DOACROSS_START(name, integer)                                                                           \
    EXPORT bool name(unsigned loops, integer *counts, long schedule, integer chunk, integer *from, integer *to,        \
                     SHARED)                                                                                           \
    {                                                                                                                  \
        struct thread *thread = doacross_begin(loop_kind(schedule), loops, (uint64_t)counts[0], CODE);                 \
        if (thread && reductions)                                                                                      \
            thread->artificial = true;                                                                                 \
        RETURN_CHUNK(real.name(loops, counts, schedule, chunk, from, to, reductions, memory));                         \
    }
DEFINE_DOACROSS(GOMP_loop_doacross_static_start, long, ompt_work_loop_static)
DEFINE_DOACROSS(GOMP_loop_doacross_dynamic_start, long, ompt_work_loop_dynamic)
DEFINE_DOACROSS(GOMP_loop_doacross_guided_start, long, ompt_work_loop_guided)
DEFINE_DOACROSS(GOMP_loop_ull_doacross_static_start, ull, ompt_work_loop_static)
DEFINE_DOACROSS(GOMP_loop_ull_doacross_dynamic_start, ull, ompt_work_loop_dynamic)
DEFINE_DOACROSS(GOMP_loop_ull_doacross_guided_start, ull, ompt_work_loop_guided)
DEFINE_RUNTIME_DOACROSS(GOMP_loop_doacross_runtime_start, long)
DEFINE_RUNTIME_DOACROSS(GOMP_loop_ull_doacross_runtime_start, ull)
DEFINE_DOACROSS_START(GOMP_loop_doacross_start, long)
DEFINE_DOACROSS_START(GOMP_loop_ull_doacross_start, ull)

/* The end of the work, and the barrier behind it. */
static inline __attribute__((always_inline)) void work_end_and_wait(void (*end)(void), struct thread *thread)
{
    if (!thread) {
        end();
        return;
    }
    work_end(thread, CODE);
    struct wait wait = wait_begin(thread, ompt_sync_region_barrier_implicit_workshare);
    end();
    wait_end(&wait);
}

static inline __attribute__((always_inline)) bool work_end_and_wait_cancel(bool (*end)(void), struct thread *thread,
                                                                           int flag)
{
    if (!thread)
        return end();
    work_end(thread, CODE);
    struct wait wait = wait_begin(thread, ompt_sync_region_barrier_implicit_workshare);
    bool cancelled = end();
    wait_end(&wait);
    if (cancelled) {
        TELL(cancel, &thread->task->data, flag | ompt_cancel_detected, CODE);
    }
    return cancelled;
}

EXPORT void GOMP_loop_end(void)
{
    struct thread *thread = provider_enter();
    work_end_and_wait(real.GOMP_loop_end, thread);
}

EXPORT bool GOMP_loop_end_cancel(void)
{
    struct thread *thread = provider_enter();
    return work_end_and_wait_cancel(real.GOMP_loop_end_cancel, thread, ompt_cancel_loop);
}

EXPORT void GOMP_loop_end_nowait(void)
{
    struct thread *thread = provider_enter();
    if (thread)
        work_end(thread, CODE);
    real.GOMP_loop_end_nowait();
}

EXPORT void GOMP_sections_end(void)
{
    struct thread *thread = provider_enter();
    work_end_and_wait(real.GOMP_sections_end, thread);
}

EXPORT bool GOMP_sections_end_cancel(void)
{
    struct thread *thread = provider_enter();
    return work_end_and_wait_cancel(real.GOMP_sections_end_cancel, thread, ompt_cancel_sections);
}

EXPORT void GOMP_sections_end_nowait(void)
{
    struct thread *thread = provider_enter();
    if (thread)
        work_end(thread, CODE);
    real.GOMP_sections_end_nowait();
}

/* Tells the section that the thread executes next; 0: none is left. */
static inline unsigned section_given(struct thread *thread, unsigned section, const void *code)
{
    if (thread && section)
        TELL(dispatch, &thread->task->region->data, &thread->task->data, ompt_dispatch_section,
             (ompt_data_t){.ptr = (void *)code});
    return section;
}

EXPORT unsigned GOMP_sections_start(unsigned count)
{
    struct thread *thread = loop_begin(ompt_work_sections, count, 1, CODE);
    return section_given(thread, real.GOMP_sections_start(count), CODE);
}

EXPORT unsigned GOMP_sections2_start(unsigned count, SHARED)
{
    struct thread *thread = loop_begin(ompt_work_sections, count, 1, CODE);
    if (thread && reductions)
        thread->artificial = true;
    return section_given(thread, real.GOMP_sections2_start(count, reductions, memory), CODE);
}

EXPORT unsigned GOMP_sections_next(void)
{
    struct thread *thread = provider_enter();
    return section_given(thread, real.GOMP_sections_next(), CODE);
}

EXPORT bool GOMP_single_start(void)
{
    struct thread *thread = provider_enter();
    bool executes = real.GOMP_single_start();
    if (!thread || !TOLD(work))
        return executes;
    struct task *task = thread->task;
    ompt_data_t *region = &task->region->data;
    ompt_work_t kind = executes ? ompt_work_single_executor : ompt_work_single_other;
    TELL(work, kind, ompt_scope_begin, region, &task->data, 1, CODE);
    if (!executes)
        TELL(work, kind, ompt_scope_end, region, &task->data, 1, CODE);
    return executes;
}

/* With copyprivate, libgomp does not say who executes before the others have waited for it. So GOMP_single_start
 * decides that, and barriers stand for libgomp's own, which are the same. GCC adds a barrier behind the copies:
 * until then nobody writes the pointer again. All threads of a team must do the same: once the tool has ended, new
 * threads have no records, and so all leave it to libgomp. */
EXPORT void *GOMP_single_copy_start(void)
{
    struct thread *thread = provider_enter();
    if (!thread || load_relaxed(&provider_passes_on) || real.omp_get_num_threads() == 1)
        return real.GOMP_single_copy_start();
    struct task *task = thread->task;
    struct region *region = task->region;
    bool executes = real.GOMP_single_start();
    task->copies = executes;
    ompt_work_t kind = executes ? ompt_work_single_executor : ompt_work_single_other;
    TELL(work, kind, ompt_scope_begin, &region->data, &task->data, 1, CODE);
    if (executes)
        return NULL;
    TELL(work, kind, ompt_scope_end, &region->data, &task->data, 1, CODE);
    struct wait wait = wait_begin(thread, ompt_sync_region_barrier_implementation);
    real.GOMP_barrier();
    wait_end(&wait);
    return load_relaxed(&region->copies);
}

EXPORT void GOMP_single_copy_end(void *data)
{
    struct thread *thread = provider_enter();
    struct task *task = thread ? thread->task : NULL;
    if (!task || !task->copies) {
        real.GOMP_single_copy_end(data);
        return;
    }
    task->copies = false;
    store_relaxed(&task->region->copies, data);
    TELL(work, ompt_work_single_executor, ompt_scope_end, &task->region->data, &task->data, 1, CODE);
    struct wait wait = wait_begin(thread, ompt_sync_region_barrier_implementation);
    real.GOMP_barrier();
    wait_end(&wait);
}

/* Only a scope with reductions of tasks calls libgomp, and its end is the end of these reductions. */
EXPORT void GOMP_scope_start(uintptr_t *reductions)
{
    struct thread *thread = loop_begin(ompt_work_scope, 1, 1, CODE);
    if (thread)
        thread->artificial = true;
    real.GOMP_scope_start(reductions);
}

EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    struct thread *thread = provider_enter();
    if (!thread) {
        real.GOMP_workshare_task_reduction_unregister(cancelled);
        return;
    }
    if (thread->task->work == ompt_work_scope)
        work_end(thread, CODE);
    struct wait wait = wait_begin(thread, ompt_sync_region_barrier_implementation);
    real.GOMP_workshare_task_reduction_unregister(cancelled);
    wait_end(&wait);
}

/* Tells that an iteration is done (source), or that another one has been waited for (sink). */
static NOINLINE void doacross_tell(struct thread *thread, const void *counts, unsigned loops,
                                   ompt_dependence_type_t type)
{
    ompt_dependence_t list[MOST_LOOPS];
    struct task *task = thread->task;
    for (unsigned i = 0; i < loops; i++)
        list[i] = (ompt_dependence_t){{((const uint64_t *)counts)[i]}, type};
    TELL(dependences, &task->data, list, (int)loops);
}

/* Calls libgomp's function with the words as its parameters: those that registers hold, and behind them the words for the
 * stack, whose number is even. */
HIDDEN void doacross_call(void (*function)(void), const void *words, size_t on_stack);
#if defined(__x86_64__)
enum { REGISTERS = 6 };
__asm__(".text\n"
        ".type doacross_call, @function\n"
        "doacross_call: .cfi_startproc\n"
        "push %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "mov %rdi, %r11\n"
        "mov %rsi, %r10\n"
        "1: test %rdx, %rdx\n"
        "je 2f\n"
        "push 40(%r10, %rdx, 8)\n"
        "dec %rdx\n"
        "jmp 1b\n"
        "2: mov (%r10), %rdi\n"
        "mov 8(%r10), %rsi\n"
        "mov 16(%r10), %rdx\n"
        "mov 24(%r10), %rcx\n"
        "mov 32(%r10), %r8\n"
        "mov 40(%r10), %r9\n"
        "xor %eax, %eax\n"
        "call *%r11\n"
        "leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size doacross_call, . - doacross_call\n");
#elif defined(__aarch64__)
enum { REGISTERS = 8 };
__asm__(".text\n"
        ".type doacross_call, @function\n"
        "doacross_call: .cfi_startproc\n"
        "stp x29, x30, [sp, -16]!\n"
        ".cfi_adjust_cfa_offset 16\n"
        ".cfi_rel_offset x29, 0\n"
        ".cfi_rel_offset x30, 8\n"
        "mov x29, sp\n"
        ".cfi_def_cfa_register x29\n"
        "mov x9, x0\n"
        "mov x10, x1\n"
        "sub sp, sp, x2, lsl 3\n"
        "add x11, x10, 64\n"
        "mov x12, sp\n"
        "1: cbz x2, 2f\n"
        "ldr x13, [x11], 8\n"
        "str x13, [x12], 8\n"
        "sub x2, x2, 1\n"
        "b 1b\n"
        "2: ldp x0, x1, [x10]\n"
        "ldp x2, x3, [x10, 16]\n"
        "ldp x4, x5, [x10, 32]\n"
        "ldp x6, x7, [x10, 48]\n"
        "blr x9\n"
        "mov sp, x29\n"
        "ldp x29, x30, [sp], 16\n"
        ".cfi_def_cfa sp, 0\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size doacross_call, . - doacross_call\n");
#endif

/* The real functions have as many parameters as the loop nest has loops. Without a tool the number is unknown, but as many
 * words of the caller's stack as it can be are passed on. */
#define DEFINE_DOACROSS_WAIT(name, integer)                                                                            \
    EXPORT void name(integer first, ...)                                                                               \
    {                                                                                                                  \
        struct thread *thread = provider_enter();                                                                      \
        unsigned known = thread ? thread->task->loops : 0, loops = known ? known : deepest;                            \
        size_t on_stack = loops > REGISTERS ? (loops - REGISTERS + 1) & ~1u : 0;                                       \
        integer wanted[REGISTERS + on_stack];                                                                          \
        va_list rest;                                                                                                  \
        memset(wanted, 0, sizeof(wanted));                                                                             \
        wanted[0] = first;                                                                                             \
        va_start(rest, first);                                                                                         \
        for (unsigned i = 1; i < loops; i++)                                                                           \
            wanted[i] = va_arg(rest, integer);                                                                         \
        va_end(rest);                                                                                                  \
        if (thread)                                                                                                    \
            store_relaxed(&thread->mutex_state, ompt_state_wait_ordered);                                              \
        doacross_call((void (*)(void))real.name, wanted, on_stack);                                                    \
        if (thread)                                                                                                    \
            store_relaxed(&thread->mutex_state, 0);                                                                    \
        if (known && known <= MOST_LOOPS && TOLD(dependences))                                                         \
            doacross_tell(thread, wanted, known, ompt_dependence_type_sink);                                           \
    }
#define DEFINE_DOACROSS_POST(name, integer)                                                                            \
    EXPORT void name(integer *counts)                                                                                  \
    {                                                                                                                  \
        struct thread *thread = provider_enter();                                                                      \
        unsigned loops = thread ? thread->task->loops : 0;                                                             \
        if (thread && loops <= MOST_LOOPS && TOLD(dependences))                                                        \
            doacross_tell(thread, counts, loops, ompt_dependence_type_source);                                         \
        real.name(counts);                                                                                             \
    }
DEFINE_DOACROSS_POST(GOMP_doacross_post, long)
DEFINE_DOACROSS_POST(GOMP_doacross_ull_post, ull)
DEFINE_DOACROSS_WAIT(GOMP_doacross_wait, long)
DEFINE_DOACROSS_WAIT(GOMP_doacross_ull_wait, ull)
