/* For what threads wait that others keep waiting: for their code, or for a core that they lacked (docs/accounting.md, "Whom others wait for"). */
#ifndef BLAME_TESTS_SIMULATOR_CAUSES_H
#define BLAME_TESTS_SIMULATOR_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

/* A thread that waits in a region: since when, and how long it had lacked a core between that wait and the one before. */
struct waiting {
    uint64_t since_ns, lost_ns;
};

/* A busy thread: how long it has lacked a core since its last wait; it has none. */
struct awaited {
    uint64_t lost_ns;
    bool no_core;
};

/* Some time passes. While it is alone, no other thread being in use, nobody waits for it, nor will later. */
void causes_pass(struct awaited *awaited, bool alone, uint64_t ns);

/* Which part of the idleness of these threads the missing core of that one answers for, in an interval in which nobody's state changes. */
double causes_part_of_core(const struct awaited *awaited, const struct waiting *waiting, uint32_t count,
                           uint64_t begin_ns, uint64_t end_ns);

/* The first end in the interval of what one of them waits for. */
uint64_t causes_end(const struct awaited *awaited, const struct waiting *waiting, uint32_t count, uint64_t begin_ns,
                    uint64_t end_ns);

#endif
