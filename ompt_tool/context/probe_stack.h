/* The open phases, events and parameters of a thread, for walks and samples: a sample's walk ends at the
 * innermost one that its task has open (capture.c). ompt_tool/probes/ keeps them. */
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

/* The task that a probe belongs to, and where its context hangs. */
struct probe_task {
    struct region *region; /* region of its task */
    int32_t kind;          /* kind of its task (struct task_level) */
    bool has_level;        /* its task has an entry in the runtime's chain */
    bool from_root;        /* the context is below the root, whatever the region */
};

struct probe_open {
    uintptr_t stack; /* stack pointer of the function that began it, inside the caller's frame */
    struct probe_task task;
    uint64_t begin_ticks;
    uint64_t begin_paused; /* session_paused_ticks() at its start */
    uint64_t inner_ticks;  /* ticks in probes begun inside it */
    uintptr_t place;       /* return address of the call that began it */
    uint32_t name;
    uint32_t context;  /* trie node that includes the probe; 0: none could be captured */
    uint32_t node_idx; /* the same below the region's context, valid while grafts is the tree's; 0: unknown */
    uint32_t grafts;
    uint32_t known;   /* index of its context in probes.known */
    bool not_counted; /* begun in a pause */
};

/* A name that was looked up before. */
struct probe_text {
    const char *text;
    uint64_t number; /* a parameter's value */
    uint32_t kind, name;
};

/* A known context: the probe `name` (instance `number`) below parent. */
struct probe_known {
    uint32_t parent, name;
    uint64_t number;
    uint32_t context;
    uint32_t instance; /* instance of the region */
    uint32_t grafts;   /* the tree's grafts when record was found */
    const struct region *region;
    struct profile_counters *counters; /* exact counters, beside record */
    struct profile_probe *record;      /* record of the node below that region; NULL: not looked up */
};

struct probes {
    uint32_t count; /* open probes; raised after the entry is complete, lowered before it goes */
    bool finishing; /* the measurement ends, and other threads with it */
    /* in a begin or end call: calls from a signal handler find an inconsistent state */
    bool busy;
    uint32_t depth_lost;     /* begins beyond PROBES_OPEN that have not ended */
    uintptr_t lost_stack;    /* highest stack pointer of the functions that began them */
    struct task_level level; /* the current task, valid while `place` is its level, marked LEVEL_PROBED */
    const struct level *place;
    bool has_level;
    struct clock_reading clocks; /* a recent reading, to convert ticks */
    struct probe_open open[PROBES_OPEN];
    int64_t counted[PROBES_OPEN][PROFILE_COUNTERS]; /* the counters' values when each probe began */
    struct probe_text texts[PROBE_TEXTS];
    struct probe_known known[PROBE_PLACES];
};

#endif
