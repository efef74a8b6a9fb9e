/* A measurement as reports see it, with the trees of all threads merged into one. */
#ifndef BLAME_COMMAND_PROFILE_PROFILE_H
#define BLAME_COMMAND_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"
#include "cct/profile_tree.h"
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
    /* bit mask of the trees with busy time at this node; tree n has bit n modulo 64 */
    uint64_t threads;
    /* exclusive sums over all threads; a WAITERS node stores a struct profile_idle here, and a RANKS node
     * uses only the rank_... fields */
    struct profile_sums metric;
};

/* The waits of all threads for one lock. Two locks are different if their keys or their initialisers differ. */
struct profile_lock {
    uint64_t key;         /* PROFILE_LOCK_KEY */
    uint64_t initialiser; /* address (a PROFILE_KEY) in the call that initialised the lock; 0: unknown */
    uint64_t variable;    /* PROFILE_KEY of a critical section's variable; 0: unknown */
    double sum_ns, longest_ns;
    uint64_t waits;
};

/* Measurements of one phase, event, parameter or instance, by the threads of one tree. */
struct merged_probe {
    uint32_t node; /* index of the merged node */
    uint32_t tree;
    struct profile_probe probe;
    struct profile_counters counters; /* counts between the probe's begin and end */
};

/* How much one of a node's times differs between the ranks of a job. */
struct merged_spread {
    uint32_t node;
    uint32_t key; /* PROFILE_SPREAD_KEY */
    struct profile_spread spread;
};

/* Waits of threads in one context that a thread in another context ended. The waiting is blocked time of the first. */
struct merged_wake {
    uint32_t waiter, waker; /* nodes of the two contexts */
    enum profile_wake wake;
    double ns, waits;
};

/* Waiting in collective calls that is charged to ranks of a job, at one node. */
struct merged_balance {
    uint32_t node;
    uint32_t key; /* enum profile_balance_key */
    struct profile_balance balance;
};

struct merged_counters {
    uint32_t node;
    struct profile_counters counters; /* exclusive counts, taken at samples and summed over all threads */
};

/* What the trees whose numbers are equal modulo PROFILE_TREE_SETS have together. */
struct profile_tree_set {
    struct profile_sums sums;                 /* of their nodes, except WAITERS */
    double variance[PROFILE_NEIGHBOURS_SUMS]; /* as in struct profile */
};

struct profile {
    char *path; /* path of the measurement file */
    struct profile_header header;
    struct merged_node *nodes;
    size_t node_count;
    struct profile_thread *threads; /* the threads, sorted by start */
    size_t thread_count;
    struct profile_module *modules; /* module id m is modules[m - 1] */
    size_t module_count;
    struct profile_rank *ranks; /* ranks of a merged job */
    size_t rank_count;
    struct profile_lock *locks; /* locks in no particular order */
    size_t lock_count;
    struct profile_name *names; /* name number n is names[n - 1] */
    size_t name_count;
    struct merged_probe *probes; /* probes sorted by node and tree */
    size_t probe_count;
    struct merged_counters *counters; /* counters sorted by node */
    size_t counters_count;
    /* how times differ between the ranks of a merged job, sorted by node and key */
    struct merged_spread *spreads;
    size_t spread_count;
    const char *counter_name[PROFILE_COUNTERS];
    size_t counter_count; /* number of entries in counter_name */
    char *counter_text;   /* text that counter_name points into */
    char *text;           /* "key\0value\0" pairs */
    size_t text_bytes;
    uint32_t others_max;  /* the most threads at once that header.threads_max does not count */
    double unresolved_ns; /* ns of thread time in contexts below <unresolved> */
    uint64_t tree;        /* number of the tree if only one was read; 0: all trees were read and merged */
    /* charges of a merged job whose ranks did not all see one another, sorted by node and key */
    struct merged_balance *balances;
    size_t balance_count;
    struct merged_wake *wakes; /* sorted by waiter, waker and kind */
    size_t wake_count;
    /* samples and bytes of the file's trace, see command/profile/trace.h */
    uint64_t trace_samples, trace_bytes;
    struct timeline timeline;
    /* ns during which a signal or a debugger had stopped the process; for a job, the sum over its processes */
    double stopped_ns;
    /* the NEIGHBOURS nodes of all trees, in ns^2, by enum profile_neighbours_sum; has_variance: whether there are
     * any of each record */
    double variance[PROFILE_NEIGHBOURS_SUMS];
    bool has_variance[PROFILE_NEIGHBOURS_RECORDS];
    struct profile_tree_set *tree_sets; /* PROFILE_TREE_SETS of them; NULL in a merged file and in a job */
};

void profile_free(struct profile *profile);

/* Returns the part of stopped_ns, in ns, that is in no node's inverse_busy. There is such a part if fewer
 * threads than threads_max existed during a stop. */
double profile_stopped_beside_ns(const struct profile *profile);

/* Returns whether the process had no OpenMP runtime that could be measured. False for a job if a rank had one. */
bool profile_without_openmp(const struct profile *profile);
/* Returns what decides which threads count as idle: "dedicated", "shared" or "no OpenMP". */
const char *profile_environment(const struct profile *profile);

/* Writes into `to` the number of threads, such as "4 threads" or "4 OpenMP threads and 2 others". */
void profile_describe_threads(const struct profile *profile, char *to, size_t bytes);

/* Returns the value stored under a key ("command", "host", "runtime", ...), or NULL. */
const char *profile_text(const struct profile *profile, const char *key);
/* Returns the next value of a key that may occur many times: the value that follows `after`, or the first
 * value if `after` is NULL. Returns NULL after the last value. */
const char *profile_text_next(const struct profile *profile, const char *key, const char *after);

/* Returns the name of a phase, event or parameter node, or the name of an instance's phase; NULL if the file
 * has no name for the node. */
const struct profile_name *profile_name_of(const struct profile *profile, const struct merged_node *node);

/* Returns the number of the executable's module; 0 if unknown. */
uint32_t profile_program(const struct profile *profile);

/* Returns the time in ns at which a thread ended; for a thread that did not end, the time of its last sample. */
uint64_t profile_thread_end_ns(const struct profile_thread *thread);

/* Returns true if the thread is one of the T threads that should be busy. */
bool profile_thread_counts(const struct profile *profile, const struct profile_thread *thread);

/* Returns the s from the start of the process to the end of the measurement, or to the last sample if it did
 * not end. */
double profile_wall_s(const struct profile *profile);
/* Return two times in ns: the time for which a thread lived after the tool's start, and the part of it in
 * which samples arrived. Time before the tool's start is not sampled. */
double profile_thread_life_ns(const struct profile *profile, const struct profile_thread *thread);
double profile_thread_sampled_ns(const struct profile *profile, const struct profile_thread *thread);
/* Returns the sampling rate of the thread that was sampled least often, in samples per second. It equals the
 * requested rate unless there were many threads. */
double profile_least_rate(const struct profile *profile);

/* Names of enum profile_drop in run.json and in the summary; NULL for unused values. */
extern const char *const profile_drop_name[PROFILE_DROP_REASONS];

#define PROFILE_IDENTITY_BYTES 17

/* Writes a run's identity as 16 hexadecimal digits. The identity does not change while the program runs. It
 * is a hash of host, process number, start time and options (including the seed). For a job, it is a hash of
 * the job's identity and its first rank. */
void profile_identity(const struct profile *profile, char text[PROFILE_IDENTITY_BYTES]);

#endif
