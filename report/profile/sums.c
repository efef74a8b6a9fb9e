#include "report/profile/sums.h"

#include "cct/sums.h"

void profile_sums_add(struct profile_sums *to, const struct profile_sums *from)
{
    sums_add(&to->metric, &from->metric);
    to->no_core += from->no_core;
    to->blocked += from->blocked;
    to->blocked_idle += from->blocked_idle;
    to->own_elsewhere += from->own_elsewhere;
}
