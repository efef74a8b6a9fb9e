#include "report/profile/sums.h"

#include <math.h>

#include "cct/sums.h"

struct profile_sums profile_sums_before_start(const struct profile_header *header,
                                              struct profile_sums *no_core)
{
    double left = (double)header->before_start_ns, lost = fmin((double)header->before_no_core_ns, left);
    left -= lost;
    double blocked = fmin((double)header->before_blocked_ns, left);
    *no_core = (struct profile_sums){.no_core = lost, .inverse_busy = lost};
    return (struct profile_sums){.work = left - blocked, .blocked = blocked, .inverse_busy = left};
}

void profile_sums_add(struct profile_sums *to, const struct profile_sums *from)
{
    sums_add(&to->metric, &from->metric);
    to->no_core += from->no_core;
    to->blocked += from->blocked;
    to->blocked_idle += from->blocked_idle;
    to->mpi_wait += from->mpi_wait;
    to->mpi_calls += from->mpi_calls;
    to->mpi_ranks += from->mpi_ranks;
    to->mpi_bytes += from->mpi_bytes;
    to->own_elsewhere += from->own_elsewhere;
}
