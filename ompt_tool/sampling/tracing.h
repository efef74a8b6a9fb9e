/* Writes samples to the trace of their thread (cct/timeline/tracer.h), within the time window that
 * BLAME_TRACE or the program sets. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_TRACING_H
#define BLAME_OMPT_TOOL_SAMPLING_TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/account.h"
#include "cct/timeline/tracer.h"
#include "ompt_tool/session/thread.h"

/* Interval on CLOCK_MONOTONIC, in ns, in which deliveries are traced. */
extern struct tracing_window {
    uint64_t from_ns, to_ns;
} tracing_window;

/* Sets the interval, and the limit on the total size of all traces, at the start of a measurement. [init] */
void tracing_start(void);

/* Switches the trace on or off for the program. Returns false if that changes nothing. [owner] */
bool tracing_switch(bool on);

/* Slow path of tracing_begin(), for deliveries after the start of the interval. Creates the thread's tracer
 * if needed. Returns whether the delivery is traced. [handler] */
bool tracing_open(struct thread *thread, const struct delivery *delivery);

/* Returns whether the delivery is traced. If so, its parts are added by the next three functions, in order of
 * time. [handler] */
static inline bool tracing_begin(struct thread *thread, const struct delivery *delivery)
{
    thread->traced =
        unlikely(delivery->clocks.ns >= load_relaxed(&tracing_window.from_ns)) && tracing_open(thread, delivery);
    return thread->traced;
}

/* [handler] */
static inline void tracing_add(struct thread *thread, uint32_t node_idx, enum profile_time_state state,
                               const struct delivery *part)
{
    if (unlikely(thread->traced))
        tracer_add(thread->tracer, &thread->tree, node_idx, state, part->count, part->p);
}

/* [handler] */
static inline void tracing_skip(struct thread *thread, const struct delivery *part)
{
    if (unlikely(thread->traced))
        tracer_skip(thread->tracer, part->p);
}

/* Adds an idle thread's delivery. told[i] is what account_idle_hit() found at moment i. [handler] */
void tracing_add_idle(struct thread *thread, const struct delivery *delivery,
                      const struct idle_moment told[DELIVERY_MOMENTS]);

/* Writes the entries whose tree node is known. [handler] */
void tracing_end(struct thread *thread, const struct delivery *delivery);

/* Complete the entries that wait for their tree node (tracer_tell), or discard them (tracer_lose), if the
 * thread has a trace. [owner] */
void tracing_tell(struct thread *thread, enum tracer_later later, uint32_t node_idx);
void tracing_lose(struct thread *thread);

/* Writes all entries, even those without a node, at the end of the thread or of the measurement. [owner] */
void tracing_flush(struct thread *thread);

#endif
