/* A thread's open probes: phases, events and parameters (include/blame.h). Walks and samples read this stack,
 * because a sample's walk ends at the innermost probe that its task has open (capture.c). ompt_tool/probes/
 * maintains it. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_PROBE_STACK_H
#define BLAME_OMPT_TOOL_CONTEXT_PROBE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "cct/deferred/region.h"
#include "ompt_tool/context/levels.h"

#define PROBES_OPEN  256u  /* greatest number of open probes of a thread */
#define PROBE_TEXTS  256u  /* entries of a thread's cache of names, which is indexed by the text's address */
#define PROBE_PLACES 1024u /* entries of a thread's cache of contexts */

/* The task that a probe belongs to, and the node below which its context begins. */
struct probe_task {
    struct region *region; /* region of the task */
    int32_t kind;          /* kind of the task (task_level.kind) */
    bool has_level;        /* the task has a level (levels.h) */
    bool from_root;        /* the context begins at the root, even if the task has a region */
};

struct probe_open {
    uintptr_t stack; /* stack pointer of the function that began the probe, at its call */
    struct probe_task task;
    uint64_t begin_ticks;
    uint64_t begin_paused; /* session_paused_ticks() when the probe began */
    uint64_t inner_ticks;  /* ticks spent in probes that were begun inside this one */
    uintptr_t place;       /* return address of the call that began the probe */
    uint32_t name;
    uint32_t context; /* trie node of the probe's context, which ends in the probe; 0: none was captured */
    /* the context's node below that of the region; 0: not looked up. Valid while tree.grafts equals `grafts`. */
    uint32_t node_idx;
    uint32_t grafts;
    uint32_t known;   /* index of the probe's context in probes.known */
    bool not_counted; /* the probe began while the measurement was paused */
};

/* An entry of the cache of names. */
struct probe_text {
    const char *text;
    uint64_t number; /* value of a parameter; hash of the text of an excluded event */
    uint32_t kind, name;
};

/* An entry of the cache of contexts: the trie node of the probe `name` (instance `number`) below `parent`. */
struct probe_known {
    uint32_t parent, name;
    uint64_t number;
    uint32_t context;
    uint32_t instance; /* instance of the region when the record was found */
    uint32_t grafts;   /* tree.grafts when the record was found */
    const struct region *region;
    struct profile_counters *counters; /* record of exact counts, next to `record` */
    /* record of exact times at the context's node below the region; NULL: not looked up */
    struct profile_probe *record;
};

struct probes {
    /* number of open probes; raised after a new entry is complete, lowered before it is removed */
    uint32_t count;
    bool finishing; /* the measurement is ending: records may be written although thread_enter_tool() fails */
    /* the thread is in a begin or end call; a call from a signal handler would find an inconsistent state */
    bool busy;
    uint32_t depth_lost;  /* begins beyond PROBES_OPEN that have not ended yet */
    uintptr_t lost_stack; /* highest stack pointer of the functions that made these lost begin calls */
    /* the current task, while the thread's level is `place` and is marked LEVEL_PROBED */
    struct task_level level;
    const struct level *place;
    bool has_level;
    struct clock_reading clocks; /* a recent reading of the clocks, for converting ticks to ns */
    struct probe_open open[PROBES_OPEN];
    int64_t counted[PROBES_OPEN][PROFILE_COUNTERS]; /* counter values at the start of each open probe */
    struct probe_text texts[PROBE_TEXTS];
    struct probe_known known[PROBE_PLACES];
};

#endif
