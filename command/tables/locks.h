/* The locks for which threads waited, gathered from the LOCK nodes of the merged tree. */
#ifndef BLAME_COMMAND_TABLES_LOCKS_H
#define BLAME_COMMAND_TABLES_LOCKS_H

#include "command/profile/profile.h"
#include "command/rows/row.h"

struct symbols;

struct lock_entry {
    uint64_t wait_id;
    uint32_t kind;     /* enum profile_lock_kind */
    char *name;        /* name that users see, never "" (docs/options-and-files.md) */
    char *symbol;      /* name of the data object that contains the lock; "": none */
    char *initialiser; /* call that initialised the lock, as "function file:line"; "": unknown */
    /* number of different calls that initialised a lock at this address; `initialiser` is the one after which
     * threads waited most */
    uint32_t initialisers;
    bool unnamed; /* whether this is a critical section without a name */
    /* ns of all waiting for this lock, whoever is blamed (including <unreleased lock>) */
    double wait_ns;
    double no_core_ns; /* part of wait_ns while the lock's holder, or its next owner, had no core */
    double longest_ns; /* ns of the longest wait seen by samples, accurate to a sampling period */
    /* number of waits seen by samples, which is a lower bound on contended acquisitions */
    uint64_t contended;
    uint32_t context_count; /* number of rows that are blamed, without pseudo rows */
    uint32_t first_context; /* index in lock_table.context of the lock's first context */
    uint32_t waiter;        /* row in which threads waited longest for the lock; ROW_NONE: unknown */
    double waiter_ns;
};

struct lock_context {
    uint32_t lock; /* index of the lock; valid only while contexts are gathered */
    uint32_t row;
    double wait_ns;
};

struct lock_table {
    const struct rows *rows;
    struct lock_entry *lock; /* locks sorted by waiting, most first */
    size_t count;
    struct lock_context *context; /* contexts grouped by lock; within a group, sorted by blame, most first */
    size_t context_count;
    /* number of initialisations that the tool had no room to record; some names may be missing */
    uint64_t inits_lost;
};

extern const char *const lock_kind_name[]; /* name of each enum profile_lock_kind */

/* Gathers the locks. `rows` must be made from the same profile, but may be in any order. */
struct lock_table *lock_table_gather(const struct profile *profile, const struct rows *rows, struct symbols *symbols);
void lock_table_free(struct lock_table *table);

/* Returns a row's path, outermost function first: "main > solve [parallel a.c:4] > dot a.c:9". A long path
 * starts with "..." and keeps the innermost functions. The caller frees it. */
char *lock_table_context_path(const struct rows *rows, uint32_t row);

#endif
