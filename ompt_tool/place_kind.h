/* What kind of wait OMPT tells of, as the profile names it. */
#ifndef BLAME_OMPT_TOOL_PLACE_KIND_H
#define BLAME_OMPT_TOOL_PLACE_KIND_H

#include <stdint.h>

#include <omp-tools.h>

#include "cct/profile_format.h"

static inline uint32_t place_kind(ompt_sync_region_t kind) /* [any] */
{
    static const uint8_t kinds[] = {
        [ompt_sync_region_barrier] = PROFILE_PLACE_BARRIER,
        [ompt_sync_region_barrier_implicit] = PROFILE_PLACE_REGION_END,
        [ompt_sync_region_barrier_explicit] = PROFILE_PLACE_BARRIER,
        [ompt_sync_region_barrier_implementation] = PROFILE_PLACE_BARRIER,
        [ompt_sync_region_taskwait] = PROFILE_PLACE_TASKWAIT,
        [ompt_sync_region_taskgroup] = PROFILE_PLACE_TASKGROUP,
        [ompt_sync_region_reduction] = PROFILE_PLACE_REDUCTION,
        [ompt_sync_region_barrier_implicit_workshare] = PROFILE_PLACE_WORKSHARE,
        [ompt_sync_region_barrier_implicit_parallel] = PROFILE_PLACE_REGION_END,
        [ompt_sync_region_barrier_teams] = PROFILE_PLACE_REGION_END,
    };
    return (unsigned)kind < sizeof(kinds) ? kinds[kind] : PROFILE_PLACE_UNKNOWN;
}

#endif
