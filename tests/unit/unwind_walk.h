/* Walks for the tests of what is strange: one unwinder a thread, the first addresses of a path. */
#ifndef BLAME_TESTS_UNIT_UNWIND_WALK_H
#define BLAME_TESTS_UNIT_UNWIND_WALK_H

#include "tests/unit/unit.h"

#include <ucontext.h>

#include "base/atomics.h"
#include "unwind/unwind.h"

#define MOST_FRAMES 5000u

struct walk {
    uint32_t count;
    enum unwind_result end;
    uintptr_t ips[64]; /* the first of them */
    const struct loadmap_module *modules[64];
};

static __thread struct unwinder unwinder; /* each thread's own */

static void walk_on(struct walk *walk)
{
    struct unwind_frame frame;
    walk->count = 0;
    while (walk->count < MOST_FRAMES && (walk->end = unwinder_next(&unwinder, &frame)) == UNWIND_FRAME) {
        if (walk->count < 64) {
            walk->ips[walk->count] = frame.ip;
            walk->modules[walk->count] = frame.module;
        }
        walk->count++;
    }
}

__attribute__((noinline, unused)) static void walk_here(struct walk *walk)
{
    unwinder_start_here(&unwinder);
    walk_on(walk);
    signal_fence();
}

__attribute__((unused)) static void walk_at(struct walk *walk, const ucontext_t *context)
{
    unwinder_start_at(&unwinder, context);
    walk_on(walk);
}

/* True if the walk has a frame inside the function, which is smaller than `bytes`. */
__attribute__((unused)) static bool meets(const struct walk *walk, const void *function, size_t bytes)
{
    for (uint32_t i = 0; i < walk->count && i < 64; i++)
        if (walk->ips[i] - (uintptr_t)function < bytes)
            return true;
    return false;
}

static void attach(void)
{
    assert_true(unwinder_init(&unwinder));
    unwinder_attach(&unwinder, (uintptr_t)__builtin_frame_address(0));
}

#endif
