#include "tests/simulator/contexts.h"

#include <stdlib.h>

static struct {
    struct context {
        uint32_t parent, function, depth, first_child, next_sibling;
    } *of;
    uint32_t count, room;
} contexts;

uint32_t context_child(uint32_t parent, uint32_t function)
{
    if (!contexts.count) {
        contexts.of = calloc(contexts.room = 64, sizeof(*contexts.of));
        contexts.count = 1;
    }
    for (uint32_t child = contexts.of[parent].first_child; child; child = contexts.of[child].next_sibling)
        if (contexts.of[child].function == function)
            return child;
    if (contexts.count == contexts.room)
        contexts.of = realloc(contexts.of, (contexts.room *= 2) * sizeof(*contexts.of));
    struct context *above = &contexts.of[parent];
    uint32_t child = contexts.count++;
    contexts.of[child] = (struct context){parent, function, above->depth + 1, 0, above->first_child};
    above->first_child = child;
    return child;
}

uint32_t context_parent(uint32_t context)
{
    return contexts.of[context].parent;
}

uint32_t context_function(uint32_t context)
{
    return contexts.of[context].function;
}

uint32_t context_count(void)
{
    return contexts.count;
}
