/* How job.blame stores the timeline. Each lane is a LANE node below the root, whose key is 1 + the lane's
 * number. A context's bins are TIME nodes, whose key is the key of their lane. All bins start at `origin_ns`
 * and have the same width (cct/profile_time.h). */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_RECORD_H
#define BLAME_COMMAND_PROFILE_TIMELINE_RECORD_H

#include "cct/profile_time.h"

/* Record of a LANE node, in a chunk of kind TIME. */
struct timeline_lane_record {
    uint8_t level, shift; /* `shift`: binary logarithm of the width, in ns, of the lane's bins */
    uint8_t cell_level, cell_shift;
    uint32_t bins; /* number of bins in this record */
    uint32_t cell_bins;
    uint32_t threads, rank, rank_record, cell_lane; /* values of these fields in struct timeline_lane */
    /* thread id of the lane's first thread, which belongs to the rank in rank_record */
    int32_t tid;
    uint64_t begin_ns; /* start of the lane's first thread */
    uint64_t origin_ns;
    uint32_t without; /* number of ranks without a timeline */
    uint32_t reserved[3];
    float ns[][PROFILE_TIME_STATES];
};

_Static_assert(sizeof(struct timeline_lane_record) == 64, "a timeline lane is as large as two units of the file");

#endif
