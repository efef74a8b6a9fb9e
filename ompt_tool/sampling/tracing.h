/* Writes samples to their thread's trace (cct/timeline/tracer.h), within the window that BLAME_TRACE or the
 * program sets. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_TRACING_H
#define BLAME_OMPT_TOOL_SAMPLING_TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/account.h"
#include "cct/timeline/tracer.h"
#include "ompt_tool/session/thread.h"

/* The traced deliveries are those of this time. */
extern struct tracing_window {
    uint64_t from_ns, to_ns;
} tracing_window;

/* Sets the window and the size limit of all traces, at the start of a measurement. [init] */
void tracing_start(void);

/* Switches tracing on or off for the program; returns false if that changes nothing. [owner] */
bool tracing_switch(bool on);

/* Slow path of tracing_begin(): opens the trace for a delivery inside the window. [handler] */
bool tracing_open(struct thread *thread, const struct delivery *delivery);

/* Returns whether the delivery is traced. The next three functions then add what it consists of, in order of
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

/* Adds an idle thread's delivery; told: the moments as account_idle_hit() judged them. [handler] */
void tracing_add_idle(struct thread *thread, const struct delivery *delivery,
                      const struct idle_moment told[DELIVERY_MOMENTS]);

/* Writes the waiting entries that are ready. [handler] */
void tracing_end(struct thread *thread, const struct delivery *delivery);

/* Set the nodes of waiting entries, or give the entries up: tracer_tell() and tracer_lose(). [owner] */
void tracing_tell(struct thread *thread, enum tracer_later later, uint32_t node_idx);
void tracing_lose(struct thread *thread);

/* Writes all that waits, at the end of the thread or of the measurement. [owner] */
void tracing_flush(struct thread *thread);

#endif
