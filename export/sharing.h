/* Whom idle threads waited for, by a trace: at each moment the busy threads of a process have equal shares of each idle thread's time, as
 * docs/accounting.md divides it at samples. Busy are those that work or wait for a lock or for other ranks, as there. */
#ifndef BLAME_EXPORT_SHARING_H
#define BLAME_EXPORT_SHARING_H

#include "report/profile/trace.h"
#include "report/rows/row.h"

#define SHARING_MOST   5     /* named; the rest are summed */
#define SHARING_LEVELS 8192u /* of a counter, at most */

struct culprit {
    const struct row_label *label; /* a function of the program's own code */
    bool waits;                    /* not what it did, but its threads' waiting for a lock or for other ranks */
    double ns;                     /* idle thread time that it is blamed for */
};

/* Of one idle span, in nanoseconds: together its length. */
struct idle_share {
    float culprit[SHARING_MOST], others, nobody;
};

/* Threads, on average over a window. */
struct culprit_level {
    double busy, blamed, culprit[SHARING_MOST]; /* idle while somebody was busy, and the parts */
};

/* Of the lanes of one process. */
struct sharing {
    struct culprit top[SHARING_MOST]; /* the largest first */
    size_t count;
    double others_ns, nobody_ns;
    struct idle_share *share; /* of idle spans, by lane and time */
    size_t share_count;
    uint64_t begin_ns, end_ns, window_ns;
    struct culprit_level *level;
    size_t level_count;
};

void sharing_find(struct sharing *sharing, const struct rows *rows, const struct trace_lane *lanes, size_t lane_count);
/* Adds the share of an idle span to the sum and moves on to that of the next one; of other spans nothing. */
void sharing_add_share(const struct trace_span *span, const struct idle_share **share, struct idle_share *sum);
void sharing_free(struct sharing *sharing);

/* What stands at that offset of a window's struct culprit_level. */
static inline double sharing_level(const struct sharing *sharing, size_t window, size_t offset)
{
    return *(const double *)((const char *)&sharing->level[window] + offset);
}

/* "refine", "refine (waiting)"; malloc'ed. */
char *culprit_name(const struct culprit *culprit);

#endif
