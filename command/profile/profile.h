/* A measurement as readers have it: the threads' trees merged into one. */
#ifndef BLAME_COMMAND_PROFILE_PROFILE_H
#define BLAME_COMMAND_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"
#include "command/profile/balance_record.h"
#include "command/profile/sums.h"
#include "command/profile/timeline.h"

/* A node of the merged tree. Node 0 is the program's root; a parent's index is smaller than its children's. */
struct merged_node {
    uint64_t key;
    uint32_t parent;
    uint8_t kind;     /* enum profile_node_kind: ROOT (node 0 only), FRAME, RUNTIME, LOCK, PSEUDO, WAITERS, PHASE,
                     EVENT, PARAMETER, INSTANCE, MPI, RANKS */
    uint64_t threads; /* a bit for each tree (its number modulo 64) with busy time here */
    struct profile_sums
        metric; /* exclusive, all threads summed; of WAITERS: struct profile_idle; of RANKS: rank_... alone */
};

/* The waits for one lock while the same call had initialised it, all threads together. */
struct profile_lock {
    uint64_t key;         /* PROFILE_LOCK_KEY */
    uint64_t initialiser; /* address (a PROFILE_KEY) in the call that had initialised it, 0: none known */
    uint64_t variable;    /* PROFILE_KEY of the variable of a critical section, 0: none known */
    double sum_ns, longest_ns;
    uint64_t waits;
};

/* What the threads of one tree measured of a phase, event, parameter or instance. */
struct merged_probe {
    uint32_t node; /* the merged node */
    uint32_t tree;
    struct profile_probe probe;
    struct profile_counters counters; /* from begin to end */
};

/* How one time of a node's differs between a job's ranks. */
struct merged_spread {
    uint32_t node;
    uint32_t key; /* PROFILE_SPREAD_KEY */
    struct profile_spread spread;
};

/* What a job's ranks wait for in collective calls, by their sums. */
struct merged_balance {
    uint32_t node;
    uint32_t key; /* enum profile_balance_key */
    struct profile_balance balance;
};

struct merged_counters {
    uint32_t node;
    struct profile_counters counters; /* at samples, exclusive, all threads summed */
};

struct profile {
    char *path; /* of the file */
    struct profile_header header;
    struct merged_node *nodes;
    size_t node_count;
    struct profile_thread *threads; /* in order of their start */
    size_t thread_count;
    struct profile_module *modules; /* module id m is modules[m - 1] */
    size_t module_count;
    struct profile_rank *ranks; /* of a job that was merged */
    size_t rank_count;
    struct profile_lock *locks; /* in no order */
    size_t lock_count;
    struct profile_name *names; /* name number n is names[n - 1] */
    size_t name_count;
    struct merged_probe *probes; /* by node and tree */
    size_t probe_count;
    struct merged_counters *counters; /* by node */
    size_t counters_count;
    struct merged_spread *spreads; /* by node and key; of a job that was merged */
    size_t spread_count;
    const char *counter_name[PROFILE_COUNTERS];
    size_t counter_count; /* of these names */
    char *counter_text;   /* their text */
    char *text;           /* "key\0value\0" pairs */
    size_t text_bytes;
    double unresolved_ns; /* time of threads below <unresolved> */
    uint64_t tree;        /* the tree that was read, 0: all of them, merged */
    struct merged_balance
        *balances; /* by node and key; of a job that was merged, some of whose ranks did not see each other */
    size_t balance_count;
    uint64_t trace_samples, trace_bytes; /* that the file's trace has: command/profile/trace.h */
    struct timeline timeline;
    double stopped_ns; /* for how long the process was, by a signal or a debugger; of a job the sum of its processes' */
};

void profile_free(struct profile *profile);

/* The part of stopped_ns that is in no node's inverse_busy: there were fewer threads than at most. */
double profile_stopped_beside_ns(const struct profile *profile);

/* The value stored under key ("command", "host", "runtime", ...), or NULL. */
const char *profile_text(const struct profile *profile, const char *key);
/* The next value under a key that may occur many times, behind `after` (NULL: the first); NULL: no more. */
const char *profile_text_next(const struct profile *profile, const char *key, const char *after);

/* The name of a phase, event or parameter, or of an instance's phase; NULL: the file has none. */
const struct profile_name *profile_name_of(const struct profile *profile, const struct merged_node *node);

/* The number of the module that the process was started with; 0: not known. */
uint32_t profile_program(const struct profile *profile);

/* When a thread ended, or was last seen. */
uint64_t thread_end_ns(const struct profile_thread *thread);
/* How long it lived since the tool's start, before which nothing is sampled; and how long of that samples came. */
double thread_life_ns(const struct profile *profile, const struct profile_thread *thread);
double thread_sampled_ns(const struct profile *profile, const struct profile_thread *thread);
/* Samples a second of the thread that was sampled least often; the asked rate unless there were many threads. */
double profile_least_rate(const struct profile *profile);

/* Names of enum profile_drop, as run.json and the summary print them; PROFILE_DROP_REASONS entries, NULL
 * unused. */
extern const char *const profile_drop_name[PROFILE_DROP_REASONS];

#define PROFILE_IDENTITY_BYTES 17

/* 16 hexadecimal digits that no other run has: made of the process's host, number, start and seed, of a job of its identity and its first
 * rank. The same while the run goes on and after it. */
void profile_identity(const struct profile *profile, char text[PROFILE_IDENTITY_BYTES]);

#endif
