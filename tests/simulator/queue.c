#include "tests/simulator/queue.h"

#include <stdlib.h>

#include "tests/simulator/machine.h"

static struct {
    struct event *heap;
    size_t count, room;
    uint64_t posted;
} queue;

static bool comes_before(const struct event *a, const struct event *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void put(size_t at, const struct event *event)
{
    for (; at > 0 && comes_before(event, &queue.heap[(at - 1) / 2]); at = (at - 1) / 2)
        queue.heap[at] = queue.heap[(at - 1) / 2];
    queue.heap[at] = *event;
}

void queue_post(enum event_kind kind, struct sim_thread *thread, uint64_t time_ns, uint32_t generation)
{
    if (queue.count == queue.room) {
        queue.room = queue.room ? 2 * queue.room : 1024;
        queue.heap = realloc(queue.heap, queue.room * sizeof(*queue.heap));
    }
    uint64_t order = machine.shuffled ? random_next(&machine.shuffling) : queue.posted;
    struct event event = {time_ns, order, kind, generation, thread};
    queue.posted++;
    put(queue.count++, &event);
}

bool queue_is_empty(void)
{
    return queue.count == 0;
}

struct event queue_take(void)
{
    struct event first = queue.heap[0], last = queue.heap[--queue.count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < queue.count; at = child) {
        if (child + 1 < queue.count && comes_before(&queue.heap[child + 1], &queue.heap[child]))
            child++;
        if (!comes_before(&queue.heap[child], &last))
            break;
        queue.heap[at] = queue.heap[child];
    }
    queue.heap[at] = last;
    return first;
}

void queue_stand_still(uint64_t now_ns, uint64_t until_ns)
{
    for (size_t i = 0; i < queue.count; i++) { /* those before it are a heap */
        struct event event = queue.heap[i];
        bool by_clock = event.kind == EVENT_TIMER || event.kind == EVENT_TICK || event.kind == EVENT_WAKE;
        if (!by_clock)
            event.time_ns += until_ns - now_ns;
        else if (event.time_ns < until_ns)
            event.time_ns = until_ns;
        put(i, &event);
    }
}
