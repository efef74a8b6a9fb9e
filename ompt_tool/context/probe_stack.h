/* Phases, events and parameters that a thread has open, as walks and samples meet them: a sample's walk ends at the
 * innermost one that its task has open (capture.c). They are kept by ompt_tool/probes/. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_PROBE_STACK_H
#define BLAME_OMPT_TOOL_CONTEXT_PROBE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "cct/deferred/region.h"
#include "ompt_tool/context/levels.h"

#define PROBES_OPEN  256u  /* most that a thread has open */
#define PROBE_TEXTS  256u  /* names that a thread finds by their address */
#define PROBE_PLACES 1024u /* contexts that a thread finds at once */

/* Whose it is, and what its context is below. */
struct probe_task {
    struct region *region; /* that its task belongs to */
    int32_t kind;          /* of its task (struct task_level) */
    bool has_level;        /* its task has an entry in the runtime's chain */
    bool from_root;        /* context is below the root, whatever the region */
};

struct probe_open {
    uintptr_t stack; /* stack pointer of the function that began it: its frame is the one around */
    struct probe_task task;
    uint64_t begin_ticks;
    uint64_t begin_paused; /* session_paused_ticks() then */
    uint64_t inner_ticks;  /* taken by those begun inside */
    uintptr_t place;       /* return address of the call that began it */
    uint32_t name;
    uint32_t context;  /* of the trie, with itself; 0: none could be had */
    uint32_t node_idx; /* the same below the region's context, as long as grafts is the tree's; 0: not known */
    uint32_t grafts;
    uint32_t known;   /* the place in probes.known where its context came from */
    bool not_counted; /* begun in a pause */
};

/* A name that was looked up before. */
struct probe_text {
    const char *text;
    uint64_t number; /* a parameter's value */
    uint32_t kind, name;
};

/* A context that was found before: the probe `name` (instance `number`) below parent. */
struct probe_known {
    uint32_t parent, name;
    uint64_t number;
    uint32_t context;
    uint32_t instance; /* of the region */
    uint32_t grafts;   /* the tree's, when record was found */
    const struct region *region;
    struct profile_counters *counters; /* exact ones, beside record */
    struct profile_probe *record;      /* of the node below that region; NULL: not looked up */
};

struct probes {
    uint32_t count;          /* open ones; raised when the entry is complete, lowered before it goes */
    bool finishing;          /* the measurement ends, and other threads with it */
    bool busy;               /* in begin or end: a signal handler's find nothing as it should be */
    uint32_t depth_lost;     /* begins beyond PROBES_OPEN that have not ended */
    uintptr_t lost_stack;    /* the highest stack pointer of the functions that began them */
    struct task_level level; /* the current task, as long as its place is that and marked LEVEL_PROBED */
    const struct level *place;
    bool has_level;
    struct clock_reading clocks; /* of late, to convert ticks */
    struct probe_open open[PROBES_OPEN];
    int64_t counted[PROBES_OPEN][PROFILE_COUNTERS]; /* by the counters when it began */
    struct probe_text texts[PROBE_TEXTS];
    struct probe_known known[PROBE_PLACES];
};

#endif
