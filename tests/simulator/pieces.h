/* Times by the periods in which samples come. */
#ifndef BLAME_TESTS_SIMULATOR_PIECES_H
#define BLAME_TESTS_SIMULATOR_PIECES_H

#include "tests/simulator/machine.h"

struct piece {
    uint64_t period, ns;
};

/* The parts of a time that are not whole periods; what changes nothing in a whole one has no variance. */
static inline int pieces_cut(uint64_t begin_ns, uint64_t end_ns, uint64_t period_ns, struct piece pieces[2])
{
    uint64_t first = (begin_ns - machine.start_ns) / period_ns, last = (end_ns - machine.start_ns) / period_ns;
    uint64_t first_end_ns = machine.start_ns + (first + 1) * period_ns;
    if (first == last) {
        pieces[0] = (struct piece){first, end_ns - begin_ns};
        return 1;
    }
    pieces[0] = (struct piece){first, first_end_ns - begin_ns};
    pieces[1] = (struct piece){last, (end_ns - machine.start_ns) % period_ns};
    return 2;
}

#endif
