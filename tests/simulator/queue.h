/* What is going to happen, the earliest first. */
#ifndef BLAME_TESTS_SIMULATOR_QUEUE_H
#define BLAME_TESTS_SIMULATOR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind { EVENT_DONE, EVENT_WAKE, EVENT_TIMER, EVENT_DELIVER, EVENT_SLICE };

struct event {
    uint64_t time_ns, order;
    enum event_kind kind;
    uint32_t generation;
    struct sim_thread *thread;
};

void queue_post(enum event_kind kind, struct sim_thread *thread, uint64_t time_ns, uint32_t generation);
bool queue_is_empty(void);
struct event queue_take(void);

#endif
