#include "report/profile/sums.h"

void profile_sums_add(struct profile_sums *to, const struct profile_sums *from)
{
    to->samples += from->samples;
    to->work += from->work;
    to->overhead += from->overhead;
    to->lock_wait += from->lock_wait;
    to->inverse_busy += from->inverse_busy;
    to->shared_idle += from->shared_idle;
    to->lock_wait_here += from->lock_wait_here;
    to->waits += from->waits;
    to->no_core += from->no_core;
    to->blocked += from->blocked;
    to->own_elsewhere += from->own_elsewhere;
}

struct profile_sums profile_sums_of(const struct profile_metric *metric)
{
    return (struct profile_sums){.samples = metric->samples,
                                 .work = metric->work,
                                 .overhead = metric->overhead,
                                 .lock_wait = metric->lock_wait,
                                 .inverse_busy = metric->inverse_busy,
                                 .shared_idle = metric->shared_idle,
                                 .lock_wait_here = metric->lock_wait_here,
                                 .waits = metric->waits};
}
