/* Samples into their thread's trace (cct/timeline/tracer.h), in the window that BLAME_TRACE or the program asks for. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_TRACING_H
#define BLAME_OMPT_TOOL_SAMPLING_TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/account.h"
#include "cct/timeline/tracer.h"
#include "ompt_tool/session/thread.h"

/* Deliveries from then to then are traced. */
extern struct tracing_window {
    uint64_t from_ns, to_ns;
} tracing_window;

/* A measurement begins: the window, and the room for all traces. [init] */
void tracing_start(void);

/* The program's wish, from now on; false if that changes nothing. [owner] */
bool tracing_switch(bool on);

/* As tracing_begin() where it is due. [handler] */
bool tracing_open(struct thread *thread, const struct delivery *delivery);

/* Whether the delivery is traced; what it is of comes by the next three, in time's order. [handler] */
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

/* An idle thread's; told: as account_idle_hit() does. [handler] */
void tracing_add_idle(struct thread *thread, const struct delivery *delivery,
                      const struct idle_moment told[DELIVERY_MOMENTS]);

/* Writes what waits and is ready. [handler] */
void tracing_end(struct thread *thread, const struct delivery *delivery);

/* As tracer_tell() and tracer_lose(). [owner] */
void tracing_tell(struct thread *thread, enum tracer_later later, uint32_t node_idx);
void tracing_lose(struct thread *thread);

/* The thread, or the measurement, ends. [owner] */
void tracing_flush(struct thread *thread);

#endif
