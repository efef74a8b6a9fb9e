/* This file runs in the signal handler: the rules at the head of sampler.c apply. */
#include "ompt_tool/sampling/tracing.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/os.h"
#include "cct/arena.h"
#include "ompt_tool/counters/counters_plan.h"
#include "ompt_tool/session/session.h"

/* greatest gap in ns between two deliveries that count as adjacent; the bounds of a delivery's parts are
 * rounded */
#define SLACK_NS 1000u

struct tracing_window tracing_window = {UINT64_MAX, UINT64_MAX};
static bool may_switch;

void tracing_start(void)
{
    struct run_window window = {.asked = true};
    struct profile_header *header = arena_header();
    if (session.options.trace)
        run_option_trace_read(session.options.trace, &window);
    /* The times of samples are unknown if they are a counter's overflows. */
    bool counts = counters_plan_sample_period_ns() != 0;
    if (counts && !window.never && !window.asked)
        log_line_of_job("BLAME_TRACE=", session.options.trace,
                        ": samples by BLAME_SAMPLE have no times and cannot be traced", NULL);
    tracing_window = (struct tracing_window){UINT64_MAX, UINT64_MAX};
    header->trace_limit = run_option_size_read(session.options.trace_limit);
    tracer_limit(header->trace_limit);
    may_switch = !window.never && !counts;
    if (window.never || window.asked || counts)
        return;
    header->traced = window.from_ns == 0 && window.to_ns == UINT64_MAX ? PROFILE_TRACED_WHOLE : 1;
    tracing_window.to_ns = window.to_ns == UINT64_MAX ? UINT64_MAX : header->tool_start_ns + window.to_ns;
    store_release(&tracing_window.from_ns, header->tool_start_ns + window.from_ns);
}

bool tracing_switch(bool on)
{
    uint64_t from_ns = on ? 0 : UINT64_MAX;
    if (!may_switch || !arena_is_open() || load_relaxed(&tracing_window.from_ns) == from_ns)
        return false;
    arena_header()->traced = 1;
    store_relaxed(&tracing_window.to_ns, UINT64_MAX);
    store_release(&tracing_window.from_ns, from_ns);
    return true;
}

static void tracing_node_moved(struct tree *tree, uint32_t from, uint32_t into)
{
    struct thread *thread = (struct thread *)((char *)tree - offsetof(struct thread, tree));
    tracer_moved(thread->tracer, from, into);
}

/* Creates the thread's tracer if it has none. Makes one system call (mmap). */
static bool tracing_make_tracer(struct thread *thread)
{
    thread->tracer = os_map(sizeof(*thread->tracer));
    if (thread->tracer)
        thread->tree.moved = tracing_node_moved;
    return thread->tracer != NULL;
}

bool tracing_open(struct thread *thread, const struct delivery *delivery)
{
    if (delivery->clocks.ns >= load_relaxed(&tracing_window.to_ns) || (!thread->tracer && !tracing_make_tracer(thread)))
        return false;
    uint64_t length_ns = (uint64_t)delivery->p, period_ns = thread->sampling.moments.period_ns;
    /* When a period of CPU time ended is not known exactly; only that it was before its sample. */
    uint64_t slack_ns = session.options.clock == CLOCK_CPU ? length_ns + period_ns : SLACK_NS;
    tracer_begin(thread->tracer, delivery->until_ns - length_ns, period_ns, slack_ns);
    return true;
}

/* Writes successive moments of the same kind as one entry. A delivery's moments need not divide it into whole
 * periods. */
void tracing_add_idle(struct thread *thread, const struct delivery *delivery,
                      const struct idle_moment told[DELIVERY_MOMENTS])
{
    uint32_t moments = delivery_moments(delivery);
    if (!thread->traced)
        return;
    for (uint32_t end = moments, begin; end > 0; end = begin) {
        bool dispatch = told[end - 1].busy > 0;
        for (begin = end - 1; begin > 0 && (told[begin - 1].busy > 0) == dispatch;)
            begin--;
        uint64_t count = delivery->count * end / moments - delivery->count * begin / moments;
        tracer_add(thread->tracer, &thread->tree, dispatch ? (uint32_t)TRACER_DISPATCH : 0,
                   dispatch ? PROFILE_TIME_OVERHEAD : PROFILE_TIME_IDLE, count, delivery->p * (end - begin) / moments);
    }
}

void tracing_end(struct thread *thread, const struct delivery *delivery)
{
    if (unlikely(thread->traced))
        tracer_write(thread->tracer, &thread->tree, delivery->clocks.ns, thread->placeholders.count == 0);
}

void tracing_tell(struct thread *thread, enum tracer_later later, uint32_t node_idx)
{
    if (unlikely(thread->tracer != NULL))
        tracer_tell(thread->tracer, &thread->tree, later, node_idx);
}

void tracing_lose(struct thread *thread)
{
    if (unlikely(thread->tracer != NULL))
        tracer_lose(thread->tracer);
}

void tracing_flush(struct thread *thread)
{
    if (unlikely(thread->tracer != NULL))
        tracer_flush(thread->tracer, &thread->tree);
}
