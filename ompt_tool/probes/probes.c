/* In the common case, a begin or end call uses only the thread's own memory. It looks up the name by the
 * text's address, and compares the text. It looks up the context below that of the enclosing probe, if both
 * probes were begun in one frame, and the record of exact times by the context. Of the data that the handler
 * uses, it changes only the stack of open probes, where an entry is complete before the count includes it.
 * Everything else happens between thread_enter_tool() and thread_leave_tool(), in probe_context.c. */
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

/* number of ticks for which a reading of the clocks is used; this is a few ms */
#define REFRESH_TICKS (1u << 23)

#define KIND(kind) ((enum blame_kind)((kind) & ~BLAME_FOR_CALLER))

static struct thread *(*attach_child)(void);

void probes_init(struct thread *(*attach)(void))
{
    attach_child = attach;
}

/* Attaches a thread that the runtime does not know yet. Any call of the runtime makes it known to the
 * runtime. */
static __attribute__((noinline)) struct thread *probes_attach_thread(void)
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

static __attribute__((noinline)) void probes_read_clocks(struct probes *probes)
{
    probes->clocks = clock_read();
}

static __attribute__((noinline)) bool probes_make(struct thread *thread)
{
    struct probes *probes = os_map(sizeof(*probes));
    if (!probes) {
        probe_count_lost();
        return false;
    }
    struct float_state floats = float_begin();
    probes_read_clocks(probes);
    float_end(floats);
    store_release(&thread->probes, probes);
    return true;
}

static inline struct thread *probing_thread(void)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread) && !(thread = probes_attach_thread()))
        return NULL;
    if (unlikely(!thread->probes) && !probes_make(thread))
        return NULL;
    return likely(!load_relaxed(&session.stopping)) ? thread : NULL;
}

/* Marks the thread as inside a begin or end call. Returns false if it is already inside such a call or inside
 * a callback. The new call then comes from a signal handler, which must not make such calls. It does nothing,
 * because it would wait for ever for a lock, or find tables in the middle of a change. */
static inline bool probes_enter(const struct thread *thread)
{
    if (unlikely(thread->probes->busy || load_relaxed(&thread->inside.tool)))
        return false;
    thread->probes->busy = true;
    signal_fence();
    return true;
}

static inline void probes_leave(const struct thread *thread)
{
    signal_fence();
    thread->probes->busy = false;
}

/* Returns true if both probes were begun in the same frame. The new probe is then directly below the open
 * one, and no walk is needed. */
static inline bool probe_begins_in_frame_of(const struct probe_open *around, const struct probe_begin *begin)
{
    return around->stack == begin->stack && around->context;
}

static inline void probes_push(struct probes *probes, const struct probe_open *fresh)
{
    probes->open[probes->count] = *fresh;
    signal_fence();
    store_relaxed(&probes->count, probes->count + 1);
}

/* Counts a begin call for which there was no room. */
static __attribute__((noinline)) void probes_count_lost_begin(struct probes *probes, uintptr_t stack)
{
    if (!probes->depth_lost++ || probes->lost_stack < stack)
        probes->lost_stack = stack;
    probe_count_lost();
}

static inline void probe_begin_innermost(struct thread *thread, struct probe_begin *begin)
{
    if (unlikely(begin->for_caller))
        probe_for_caller(thread, begin);
    struct probes *probes = thread->probes;
    if (unlikely(probes->count == PROBES_OPEN)) {
        probes_count_lost_begin(probes, begin->stack);
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
    if (likely(around) && probe_begins_in_frame_of(around, begin)) {
        fresh.task = around->task;
        probe_context_below(thread, around->context, begin, &fresh);
    } else {
        probe_context_find(thread, begin, &fresh);
    }
    counters_read(thread, probes->counted[probes->count]);
    fresh.not_counted = load_relaxed(&session.paused);
    fresh.begin_ticks = clock_ticks();
    fresh.begin_paused = session_paused_ticks(fresh.begin_ticks);
    probes_push(probes, &fresh);
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
    if (unlikely(!probes_enter(thread))) {
        probe_count_lost();
        return;
    }
    probe_begin_innermost(thread, &begin);
    probes_leave(thread);
}

/* Adds the times of an ended probe to its record. */
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

static inline void probe_throttle_if_short(const struct profile_probe *record, uint32_t name)
{
    const struct run_options *options = &session.options;
    if (unlikely(record->calls > options->events_throttle.calls) &&
        record->inclusive_ns < (double)record->calls * (double)options->events_throttle.ns)
        probe_throttle(name, record->calls);
}

/* Adds to `counters` what has been counted since the innermost probe began. */
static __attribute__((noinline)) void probe_add_counters(struct thread *thread, struct profile_counters *counters)
{
    const int64_t *begun = thread->probes->counted[thread->probes->count - 1];
    int64_t now[PROFILE_COUNTERS];
    if (!counters_read(thread, now))
        return;
    for (uint32_t i = 0; i < PROFILE_COUNTERS; i++)
        counters->value[i] += (double)(now[i] - begun[i]);
}

static __attribute__((noinline)) void probe_book_innermost(struct thread *thread, uint64_t end_ticks)
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
        probe_add_counters(thread, counters);
    if (likely(record)) {
        add_probe_times(probes, record, ended, end_ticks, ticks);
        probe_throttle_if_short(record, ended->name);
    }
    store_relaxed(&probes->count, probes->count - 1);
    signal_fence();
    if (probes->count)
        probes->open[probes->count - 1].inner_ticks += record ? ticks : 0;
    else
        thread->ledger->probed_exact += (double)ticks * probes->clocks.ns_per_tick;
}

static void probe_end_innermost(struct thread *thread, uint64_t end_ticks)
{
    struct float_state floats = float_begin();
    probe_book_innermost(thread, end_ticks);
    float_end(floats);
}

/* Handles the end of a probe that is not the innermost one, or is not open. Also ends the probes that began
 * inside it, and reports each name once. */
static __attribute__((noinline)) void probe_end_other(struct thread *thread, const struct probe_begin *end,
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
        probe_end_innermost(thread, end_ticks);
    }
    probe_end_innermost(thread, end_ticks);
}

/* Returns true if the call ends a probe for which there was no room. Such probes normally end before the
 * probes around them. However, a function that is left by longjmp() or an exception never ends its probes. So
 * if an end call from a frame further outward ends an open probe of that frame, all of them are over. */
static __attribute__((noinline)) bool probe_is_end_of_lost(struct probes *probes, const struct probe_begin *end)
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
    if (!thread || !probes_enter(thread))
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
    if (unlikely(probes->depth_lost) && probe_is_end_of_lost(probes, &end))
        ; /* the probe was already counted as lost when it began */
    else if (likely(probes->count) && likely(probe_is_ended_by(&probes->open[probes->count - 1], &end)))
        probe_end_innermost(thread, end_ticks);
    else
        probe_end_other(thread, &end, end_ticks);
    probes_leave(thread);
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
        probe_end_innermost(thread, now_ticks);
    }
}

void probes_end_all(struct thread *thread)
{
    uint64_t now_ticks = clock_ticks();
    while (thread->probes && thread->probes->count)
        probe_end_innermost(thread, now_ticks);
}

void probes_finish(struct thread *thread)
{
    if (!thread->record.active || !thread->probes)
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
