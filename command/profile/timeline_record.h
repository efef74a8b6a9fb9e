/* What job.blame keeps of the timeline: LANE nodes below the root, whose key is 1 + the lane's number, and TIME nodes, whose key is the same of the lane that
 * they are of. Their bins are counted from `origin_ns`, and have one width each (cct/profile_time.h). */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_RECORD_H
#define BLAME_COMMAND_PROFILE_TIMELINE_RECORD_H

#include "cct/profile_time.h"

/* At the metric of LANE nodes, in a chunk of kind TIME. */
struct timeline_lane_record {
    uint8_t level, shift; /* shift: of lanes' bins */
    uint8_t cell_level, cell_shift;
    uint32_t bins; /* of lanes, all of which are in the record */
    uint32_t cell_bins;
    uint32_t threads, rank, rank_record, cell_lane; /* as in struct timeline_lane */
    int32_t tid;                                    /* of its first thread, which is of that rank_record */
    uint64_t begin_ns;                              /* when that one began */
    uint64_t origin_ns;
    uint32_t without; /* ranks that have no timeline */
    uint32_t reserved[3];
    float ns[][PROFILE_TIME_STATES];
};

_Static_assert(sizeof(struct timeline_lane_record) == 64, "two units of the file");

#endif
