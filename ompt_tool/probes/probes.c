/* The common path through begin and end touches the thread's own memory only. The name is found by its
 * address and compared. The context is found by that of the probe around, if both begin in one frame, and the
 * record of exact times by the context. The path changes nothing that the handler uses except the stack of
 * open probes, entry first. Everything else happens inside thread_enter_tool(), in probe_context.c. */
#include "ompt_tool/probes/probes.h"

#include <omp-tools.h>
#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "base/float_state.h"
#include "base/os.h"
#include "cct/arena.h"
#include "include/blame.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/probes/probe_context.h"
#include "ompt_tool/probes/probe_names.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"

#define REFRESH_TICKS (1u << 23) /* how long a reading of the clocks is used: some milliseconds */

#define KIND(kind) ((enum blame_kind)((kind) & ~BLAME_FOR_CALLER))

static struct thread *(*attach_child)(void);

void probes_init(struct thread *(*attach)(void))
{
    attach_child = attach;
}

/* Attaches a thread that the runtime has not met: any call of the runtime makes the thread known to it. */
static __attribute__((noinline)) struct thread *introduce(void)
{
    struct thread *child = attach_child();
    if (child)
        return child;
    if (!thread_self && !thread_has_ended && arena_is_open() && runtime.get_max_threads)
        runtime.get_max_threads();
    if (!thread_self)
        probe_count_lost();
    return thread_self;
}

static __attribute__((noinline)) void read_clocks(struct probes *probes)
{
    probes->clocks = clock_read();
}

static __attribute__((noinline)) bool make_probes(struct thread *thread)
{
    struct probes *probes = os_map(sizeof(*probes));
    if (!probes) {
        probe_count_lost();
        return false;
    }
    struct float_state floats = float_begin();
    read_clocks(probes);
    float_end(floats);
    store_release(&thread->probes, probes);
    return true;
}

static inline struct thread *probing_thread(void)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread) && !(thread = introduce()))
        return NULL;
    if (unlikely(!thread->probes) && !make_probes(thread))
        return NULL;
    return likely(!load_relaxed(&session.stopping)) ? thread : NULL;
}

/* Marks the thread as inside begin or end; returns false if it is inside already. Begin and end must not be
 * called from a signal handler. One that has interrupted this thread's begin or end, or another callback,
 * would find a lock held for ever and tables half changed: its calls do nothing. */
static inline bool make_busy(const struct thread *thread)
{
    if (unlikely(thread->probes->busy || load_relaxed(&thread->in_tool)))
        return false;
    thread->probes->busy = true;
    signal_fence();
    return true;
}

static inline void make_idle(const struct thread *thread)
{
    signal_fence();
    thread->probes->busy = false;
}

/* Returns whether the probe is directly below the one around, begun in the same frame: nothing to walk. */
static inline bool continues(const struct probe_open *around, const struct probe_begin *begin)
{
    return around->stack == begin->stack && around->context;
}

static inline void push_probe(struct probes *probes, const struct probe_open *fresh)
{
    probes->open[probes->count] = *fresh;
    signal_fence();
    store_relaxed(&probes->count, probes->count + 1);
}

/* Counts a begin that found no room. */
static __attribute__((noinline)) void add_lost(struct probes *probes, uintptr_t stack)
{
    if (!probes->depth_lost++ || probes->lost_stack < stack)
        probes->lost_stack = stack;
    probe_count_lost();
}

static inline void begin_innermost(struct thread *thread, struct probe_begin *begin)
{
    if (unlikely(begin->for_caller))
        probe_for_caller(thread, begin);
    struct probes *probes = thread->probes;
    if (unlikely(probes->count == PROBES_OPEN)) {
        add_lost(probes, begin->stack);
        return;
    }
    struct probe_open fresh = {.stack = begin->stack, .place = begin->place};
    fresh.name = probe_find_text(probes, begin);
    if (unlikely(!fresh.name) && !(fresh.name = probe_look_up(thread, begin)))
        return;
    if (unlikely(probe_is_off(fresh.name)))
        return;
    if (begin->kind == BLAME_ITERATION)
        begin->number = probe_instance(fresh.name, begin->number);
    const struct probe_open *around = probes->count ? &probes->open[probes->count - 1] : NULL;
    if (likely(around) && continues(around, begin)) {
        fresh.task = around->task;
        probe_context_below(thread, around->context, begin, &fresh);
    } else {
        probe_context_find(thread, begin, &fresh);
    }
    counters_read(thread, probes->counted[probes->count]);
    fresh.not_counted = load_relaxed(&session.paused);
    fresh.begin_ticks = clock_ticks();
    fresh.begin_paused = session_paused_ticks(fresh.begin_ticks);
    push_probe(probes, &fresh);
}

static void begin_probe(const char *name, size_t bytes, enum blame_kind kind, int64_t number)
{
    struct probe_begin begin = {
        .text = name,
        .bytes = bytes,
        .kind = KIND(kind),
        .for_caller = kind & BLAME_FOR_CALLER,
        .number = (uint64_t)number,
        .place = (uintptr_t)__builtin_return_address(0),
        .stack = (uintptr_t)__builtin_dwarf_cfa(),
    };
    struct thread *thread = probing_thread();
    if (!thread)
        return;
    if (unlikely(!make_busy(thread))) {
        probe_count_lost();
        return;
    }
    begin_innermost(thread, &begin);
    make_idle(thread);
}

/* Adds the times of a probe that has ended. */
static void add_probe_times(struct probes *probes, struct profile_probe *record, const struct probe_open *ended,
                            uint64_t end_ticks, uint64_t ticks)
{
    double ns = (double)ticks * probes->clocks.ns_per_tick;
    double inner_ns = (double)ended->inner_ticks * probes->clocks.ns_per_tick;
    if (unlikely(!record->calls)) {
        record->first_begin_ns = clock_ticks_ns(&probes->clocks, ended->begin_ticks);
        record->shortest_ns = ns;
    }
    record->calls++;
    record->inclusive_ns += ns;
    record->exclusive_ns += ns > inner_ns ? ns - inner_ns : 0;
    record->sum_of_squares += ns * ns;
    if (ns < record->shortest_ns)
        record->shortest_ns = ns;
    if (ns > record->longest_ns)
        record->longest_ns = ns;
    record->last_end_ns = clock_ticks_ns(&probes->clocks, end_ticks);
}

static inline void throttle(const struct profile_probe *record, uint32_t name)
{
    const struct run_options *options = &session.options;
    if (unlikely(record->calls > options->events_throttle.calls) &&
        record->inclusive_ns < (double)record->calls * (double)options->events_throttle.ns)
        probe_throttle(name, record->calls);
}

/* Adds what the counters counted since the innermost probe began. */
static __attribute__((noinline)) void add_counters(struct thread *thread, struct profile_counters *counters)
{
    const int64_t *begun = thread->probes->counted[thread->probes->count - 1];
    int64_t now[PROFILE_COUNTERS];
    if (!counters_read(thread, now))
        return;
    for (uint32_t i = 0; i < PROFILE_COUNTERS; i++)
        counters->value[i] += (double)(now[i] - begun[i]);
}

static __attribute__((noinline)) void book_innermost(struct thread *thread, uint64_t end_ticks)
{
    struct probes *probes = thread->probes;
    struct probe_open *ended = &probes->open[probes->count - 1];
    uint64_t ticks = end_ticks - ended->begin_ticks;
    uint64_t paused = session_paused_ticks(end_ticks) - ended->begin_paused;
    ticks = likely(ticks >= paused) ? ticks - paused : 0;
    if (unlikely(end_ticks - probes->clocks.ticks > REFRESH_TICKS))
        probes->clocks = clock_read();
    struct profile_probe *record = NULL;
    struct profile_counters *counters = NULL;
    if (likely(!ended->not_counted) && ended->context)
        record = probe_record(thread, ended, &counters);
    if (unlikely(counters != NULL))
        add_counters(thread, counters);
    if (likely(record)) {
        add_probe_times(probes, record, ended, end_ticks, ticks);
        throttle(record, ended->name);
    }
    store_relaxed(&probes->count, probes->count - 1);
    signal_fence();
    if (probes->count)
        probes->open[probes->count - 1].inner_ticks += record ? ticks : 0;
    else
        thread->ledger->probed_exact += (double)ticks * probes->clocks.ns_per_tick;
}

/* Ends the innermost probe. */
static void end_innermost(struct thread *thread, uint64_t end_ticks)
{
    struct float_state floats = float_begin();
    book_innermost(thread, end_ticks);
    float_end(floats);
}

/* Ends a probe that is not the innermost, or none: ends what is still open inside it, too, and reports each
 * once. */
static __attribute__((noinline)) void end_other(struct thread *thread, const struct probe_begin *end,
                                                uint64_t end_ticks)
{
    struct probes *probes = thread->probes;
    uint32_t left = probes->count;
    while (left && !probe_is_ended_by(&probes->open[left - 1], end))
        left--;
    if (!left) {
        probe_unmatched(thread, end);
        return;
    }
    uint32_t outer = probes->open[left - 1].name;
    while (probes->count > left) {
        const struct probe_open *inner = &probes->open[probes->count - 1];
        probe_misnested(thread, inner->name, inner->place, outer, end->place);
        end_innermost(thread, end_ticks);
    }
    end_innermost(thread, end_ticks);
}

/* Returns whether the call ends a probe that found no room, while there are such. They end before the probes
 * around them. But functions left by longjmp() or an exception never end theirs; an end of a probe around
 * them then counts. */
static __attribute__((noinline)) bool is_end_of_lost(struct probes *probes, const struct probe_begin *end)
{
    for (uint32_t i = probes->count; probes->lost_stack < end->stack && i > 0; i--) {
        const struct probe_open *open = &probes->open[i - 1];
        if (open->stack == end->stack && probe_is_ended_by(open, end)) {
            probes->depth_lost = 0;
            return false;
        }
    }
    probes->depth_lost--;
    return true;
}

static void end_probe(const char *name, size_t bytes, enum blame_kind kind)
{
    uint64_t end_ticks = clock_ticks();
    struct thread *thread = probing_thread();
    if (!thread || !make_busy(thread))
        return;
    struct probe_begin end = {
        .text = name,
        .bytes = bytes,
        .kind = KIND(kind),
        .for_caller = kind & BLAME_FOR_CALLER,
        .place = (uintptr_t)__builtin_return_address(0),
        .stack = (uintptr_t)__builtin_dwarf_cfa(),
    };
    struct probes *probes = thread->probes;
    if (unlikely(probes->depth_lost) && is_end_of_lost(probes, &end))
        ; /* was counted when it began */
    else if (likely(probes->count) && likely(probe_is_ended_by(&probes->open[probes->count - 1], &end)))
        end_innermost(thread, end_ticks);
    else
        end_other(thread, &end, end_ticks);
    make_idle(thread);
}

const struct blame_calls probes_calls = {sizeof(struct blame_calls), begin_probe, end_probe};

void probes_end_region(struct thread *thread, const struct region *region)
{
    struct probes *probes = thread->probes;
    uint64_t now_ticks = clock_ticks();
    while (probes && probes->count) {
        const struct probe_open *inner = &probes->open[probes->count - 1];
        if (region && inner->task.region != region)
            return;
        probe_misnested(thread, inner->name, inner->place, PROBE_NAME_REGION, 0);
        probes->depth_lost = 0;
        end_innermost(thread, now_ticks);
    }
}

void probes_end_all(struct thread *thread)
{
    uint64_t now_ticks = clock_ticks();
    while (thread->probes && thread->probes->count)
        end_innermost(thread, now_ticks);
}

void probes_finish(struct thread *thread)
{
    if (!thread->active || !thread->probes)
        return;
    thread->probes->finishing = true;
    probes_end_all(thread);
}

void probes_attach(struct thread *thread)
{
    thread_has_ended = false;
    if (thread->probes) {
        thread->probes->count = thread->probes->depth_lost = 0;
        thread->probes->busy = false;
    }
}
