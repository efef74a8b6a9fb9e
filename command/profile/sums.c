#include "command/profile/sums.h"

#include <math.h>

#include "cct/profile_format.h"
#include "cct/sums.h"

struct profile_sums profile_sums_before_start(const struct profile_header *header, struct profile_sums *no_core)
{
    double left = (double)header->before_start_ns, lost = fmin((double)header->before_no_core_ns, left);
    double scale = header->before_inverse_busy_ns > 0 && left > 0 ? fmin(header->before_inverse_busy_ns / left, 1) : 1;
    left -= lost;
    double blocked = fmin((double)header->before_blocked_ns, left);
    const uint64_t trees = ~0ull; /* in no tree's sums, so that what is known of single trees is not used */
    *no_core = (struct profile_sums){.no_core = lost, .inverse_busy = lost * scale, .trees = trees};
    struct profile_sums sums = {
        .work = left - blocked, .blocked = blocked, .inverse_busy = left * scale, .trees = trees};
    if (header->without_team) { /* one thread ran, or was ready, except while it slept */
        no_core->core_idle = (header->cores - 1) * lost;
        sums.core_idle = header->cores * left - sums.work;
    }
    return sums;
}

struct profile_sums profile_sums_of_ranks(const struct profile_ranks *ranks)
{
    return (struct profile_sums){.rank_idle = ranks->blame,
                                 .rank_named = ranks->named,
                                 .rank_wall = ranks->wall,
                                 .rank_waited = ranks->waited,
                                 .rank_squares = ranks->squares};
}

struct profile_ranks profile_ranks_of_sums(const struct profile_sums *sums)
{
    return (struct profile_ranks){.blame = sums->rank_idle,
                                  .named = sums->rank_named,
                                  .wall = sums->rank_wall,
                                  .waited = sums->rank_waited,
                                  .squares = sums->rank_squares};
}

void profile_sums_add(struct profile_sums *to, const struct profile_sums *from)
{
    sums_add(&to->metric, &from->metric);
#define FIELD(name) to->name += from->name;
    PROFILE_SUMS_BUSY(FIELD)
    PROFILE_SUMS_MORE(FIELD)
#undef FIELD
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++)
        to->beyond[i] += from->beyond[i];
    to->trees |= from->trees;
}
