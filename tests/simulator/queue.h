/* What is going to happen, the earliest first. */
#ifndef BLAME_TESTS_SIMULATOR_QUEUE_H
#define BLAME_TESTS_SIMULATOR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
    EVENT_DONE,
    EVENT_WAKE,
    EVENT_TIMER,
    EVENT_TICK,
    EVENT_ARRIVE,
    EVENT_DELIVER,
    EVENT_SLICE,
    EVENT_STALL,
    EVENT_STOP,
    EVENT_RANK
};

struct event {
    uint64_t time_ns, order;
    enum event_kind kind;
    uint32_t generation;
    struct sim_thread *thread;
};

void queue_post(enum event_kind kind, struct sim_thread *thread, uint64_t time_ns, uint32_t generation);
bool queue_is_empty(void);
struct event queue_take(void);

/* Nothing happens from now on until then: what clocks tell comes at the end, what runs is as much later. */
void queue_stand_still(uint64_t now_ns, uint64_t until_ns);

#endif
