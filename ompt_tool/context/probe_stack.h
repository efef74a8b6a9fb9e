/* A thread's open probes: the phases, events and parameters that the program has begun (include/blame.h).
 * Walks and samples read this stack, because a sample's walk ends at the innermost open probe of its task
 * (capture.c). ompt_tool/probes/ changes it. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_PROBE_STACK_H
#define BLAME_OMPT_TOOL_CONTEXT_PROBE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "cct/deferred/region.h"
#include "ompt_tool/context/levels.h"

#define PROBES_OPEN 256u /* maximum number of open probes of a thread */
/* number of entries in a thread's cache of names, which is indexed by the text's address */
#define PROBE_TEXTS  256u
#define PROBE_PLACES 1024u /* number of entries in a thread's cache of contexts */

/* The task to which a probe belongs, and the node below which the task's context begins. */
struct probe_task {
    struct region *region; /* region of the task */
    int32_t kind;          /* kind of the task, as in task_level.kind */
    bool has_level;        /* true if the task has a level (levels.h) */
    bool from_root;        /* true if the context begins at the root although the task has a region */
};

struct probe_open {
    uintptr_t stack; /* stack pointer of the function that began the probe, at that function's call */
    struct probe_task task;
    uint64_t begin_ticks;
    uint64_t begin_paused; /* session_paused_ticks() at the start of the probe */
    uint64_t inner_ticks;  /* ticks spent in probes that began inside this one */
    uintptr_t place;       /* return address of the call that began the probe */
    uint32_t name;
    uint32_t context; /* trie node of the probe's context, which includes the probe; 0: none was captured */
    /* node of the same context below the region's context; 0: not looked up. Valid while tree.grafts equals
     * `grafts`. */
    uint32_t node_idx;
    uint32_t grafts;
    uint32_t known;   /* index of the probe's context in probes.known */
    bool not_counted; /* true if the probe began while the measurement was paused */
};

/* An entry of the cache of names. */
struct probe_text {
    const char *text;
    uint64_t number; /* value of a parameter; for an excluded event, hash of its text */
    uint32_t kind, name;
};

/* An entry of the cache of contexts: the trie node below `parent` for the probe `name`, or for its execution
 * `number`. */
struct probe_known {
    uint32_t parent, name;
    uint64_t number;
    uint32_t context;
    uint32_t instance; /* instance of the region (region.h) when the record was found */
    uint32_t grafts;   /* tree.grafts when the record was found */
    const struct region *region;
    struct profile_counters *counters; /* record of exact counts at the same node as `record` */
    /* record of exact times at the context's node below the region; NULL: not looked up */
    struct profile_probe *record;
};

struct probes {
    /* number of open probes; raised after a new entry is complete, lowered before an entry is removed */
    uint32_t count;
    /* true at the end of the measurement: records may then be written although thread_enter_tool() fails */
    bool finishing;
    /* true while the thread is in a begin or end call, when a call from a signal handler would find an
     * inconsistent state */
    bool busy;
    uint32_t depth_lost;  /* number of begin calls, beyond PROBES_OPEN, whose probes have not ended yet */
    uintptr_t lost_stack; /* highest stack pointer of the functions that made those calls */
    /* description of the current task; valid while the thread's level is `place` and is marked LEVEL_PROBED */
    struct task_level level;
    const struct level *place;
    bool has_level;
    struct clock_reading clocks; /* a recent reading of the clocks, used to convert ticks to ns */
    struct probe_open open[PROBES_OPEN];
    int64_t counted[PROBES_OPEN][PROFILE_COUNTERS]; /* counter values at the start of each open probe */
    struct probe_text texts[PROBE_TEXTS];
    struct probe_known known[PROBE_PLACES];
};

#endif
