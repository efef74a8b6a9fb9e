/* A measurement as readers see it: the threads' trees merged into one. */
#ifndef BLAME_COMMAND_PROFILE_PROFILE_H
#define BLAME_COMMAND_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"
#include "command/profile/balance_record.h"
#include "command/profile/sums.h"
#include "command/profile/timeline.h"

/* A node of the merged tree. Node 0 is the program's root, and parents have smaller indices than their
 * children. */
struct merged_node {
    uint64_t key;
    uint32_t parent;
    /* enum profile_node_kind: ROOT (node 0 only), FRAME, RUNTIME, LOCK, PSEUDO, WAITERS, PHASE, EVENT,
     * PARAMETER, INSTANCE, MPI, RANKS */
    uint8_t kind;
    uint64_t threads; /* one bit for each tree (number modulo 64) with busy time here */
    /* exclusive sums over all threads; for WAITERS a struct profile_idle; for RANKS only the rank_...
     * fields */
    struct profile_sums metric;
};

/* Waits for one lock with one initialiser, summed over all threads. */
struct profile_lock {
    uint64_t key;         /* PROFILE_LOCK_KEY */
    uint64_t initialiser; /* address (a PROFILE_KEY) inside the call that initialised the lock; 0: unknown */
    uint64_t variable;    /* PROFILE_KEY of a critical section's variable; 0: unknown */
    double sum_ns, longest_ns;
    uint64_t waits;
};

/* What the threads of one tree measured of a phase, event, parameter or instance. */
struct merged_probe {
    uint32_t node; /* the merged node */
    uint32_t tree;
    struct profile_probe probe;
    struct profile_counters counters; /* counted from begin to end */
};

/* How one time of a node differs between the ranks of a job. */
struct merged_spread {
    uint32_t node;
    uint32_t key; /* PROFILE_SPREAD_KEY */
    struct profile_spread spread;
};

/* What a job's ranks are charged for others' waiting in collective calls. */
struct merged_balance {
    uint32_t node;
    uint32_t key; /* enum profile_balance_key */
    struct profile_balance balance;
};

struct merged_counters {
    uint32_t node;
    struct profile_counters counters; /* counted at samples; exclusive, summed over all threads */
};

struct profile {
    char *path; /* path of the measurement file */
    struct profile_header header;
    struct merged_node *nodes;
    size_t node_count;
    struct profile_thread *threads; /* sorted by start */
    size_t thread_count;
    struct profile_module *modules; /* module id m is modules[m - 1] */
    size_t module_count;
    struct profile_rank *ranks; /* the ranks of a merged job */
    size_t rank_count;
    struct profile_lock *locks; /* in no particular order */
    size_t lock_count;
    struct profile_name *names; /* name number n is names[n - 1] */
    size_t name_count;
    struct merged_probe *probes; /* sorted by node and tree */
    size_t probe_count;
    struct merged_counters *counters; /* by node */
    size_t counters_count;
    struct merged_spread *spreads; /* sorted by node and key; only in a merged job */
    size_t spread_count;
    const char *counter_name[PROFILE_COUNTERS];
    size_t counter_count; /* entries of counter_name */
    char *counter_text;   /* their text */
    char *text;           /* "key\0value\0" pairs */
    size_t text_bytes;
    double unresolved_ns; /* threads' time below <unresolved> */
    uint64_t tree;        /* number of the only tree that was read; 0: all trees, merged */
    /* sorted by node and key; only in a merged job whose ranks did not all see each other */
    struct merged_balance *balances;
    size_t balance_count;
    /* samples and bytes of the file's trace, see command/profile/trace.h */
    uint64_t trace_samples, trace_bytes;
    struct timeline timeline;
    /* time for which a signal or a debugger had stopped the process; in a job, the sum over processes */
    double stopped_ns;
};

void profile_free(struct profile *profile);

/* Returns the part of stopped_ns that no node's inverse_busy contains, because fewer threads than threads_max
 * existed. */
double profile_stopped_beside_ns(const struct profile *profile);

/* Returns the value stored under a key ("command", "host", "runtime", ...), or NULL. */
const char *profile_text(const struct profile *profile, const char *key);
/* Returns the next value of a key that may occur many times: the one after `after`, or the first if `after`
 * is NULL. NULL: no more. */
const char *profile_text_next(const struct profile *profile, const char *key, const char *after);

/* Returns the name of a phase, event or parameter, or of an instance's phase; NULL if the file has none. */
const struct profile_name *profile_name_of(const struct profile *profile, const struct merged_node *node);

/* Returns the number of the executable's module; 0 if unknown. */
uint32_t profile_program(const struct profile *profile);

/* Returns the time at which a thread ended or was last seen. */
uint64_t thread_end_ns(const struct profile_thread *thread);
/* Return a thread's lifetime since the tool's start, before which nothing is sampled, and the part of the
 * lifetime in which samples arrived. */
double thread_life_ns(const struct profile *profile, const struct profile_thread *thread);
double thread_sampled_ns(const struct profile *profile, const struct profile_thread *thread);
/* Returns the samples a second of the thread sampled least often. Equals the requested rate unless there were
 * many threads. */
double profile_least_rate(const struct profile *profile);

/* Names of enum profile_drop in run.json and the summary; NULL for unused values. */
extern const char *const profile_drop_name[PROFILE_DROP_REASONS];

#define PROFILE_IDENTITY_BYTES 17

/* Writes 16 hexadecimal digits that identify a run; they do not change while it runs. They are a hash of
 * host, process number, start and options (including the seed); for a job, of its identity and its first
 * rank. */
void profile_identity(const struct profile *profile, char text[PROFILE_IDENTITY_BYTES]);

#endif
