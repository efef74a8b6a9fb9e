#include "cct/sums.h"

#include <stdbool.h>

#include "cct/profile_metrics.h"

void sums_add(struct profile_metric *to, const struct profile_metric *from)
{
    to->samples += from->samples;
    to->work += from->work;
    to->overhead += from->overhead;
    to->lock_wait += from->lock_wait;
    to->inverse_busy += from->inverse_busy;
    to->shared_idle += from->shared_idle;
    to->lock_wait_here += from->lock_wait_here;
    to->waits += from->waits;
    to->idle_beside += from->idle_beside;
}

void sums_add_probe(struct profile_probe *to, const struct profile_probe *from)
{
    if (from->calls == 0)
        return;
    bool first = to->calls == 0;
    to->calls += from->calls;
    to->inclusive_ns += from->inclusive_ns;
    to->exclusive_ns += from->exclusive_ns;
    to->sum_of_squares += from->sum_of_squares;
    if (first || from->shortest_ns < to->shortest_ns)
        to->shortest_ns = from->shortest_ns;
    if (from->longest_ns > to->longest_ns)
        to->longest_ns = from->longest_ns;
    if (first || from->first_begin_ns < to->first_begin_ns)
        to->first_begin_ns = from->first_begin_ns;
    if (from->last_end_ns > to->last_end_ns)
        to->last_end_ns = from->last_end_ns;
}

void sums_add_counters(struct profile_counters *to, const struct profile_counters *from)
{
    for (uint32_t i = 0; i < PROFILE_COUNTERS; i++)
        to->value[i] += from->value[i];
}

void sums_add_ranks(struct profile_ranks *to, const struct profile_ranks *from)
{
    to->blame += from->blame;
    to->named += from->named;
    to->wall += from->wall;
    to->waited += from->waited;
    to->squares += from->squares;
}

void sums_add_cores(struct profile_cores *to, const struct profile_cores *from)
{
    to->idle += from->idle;
    to->beyond += from->beyond;
    to->squares += from->squares;
}

void sums_add_woken(struct profile_woken *to, const struct profile_woken *from)
{
    to->ns += from->ns;
    to->waits += from->waits;
}
