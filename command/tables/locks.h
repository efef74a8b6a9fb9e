/* The locks that threads waited for. They are gathered from the LOCK nodes of the merged tree. */
#ifndef BLAME_COMMAND_TABLES_LOCKS_H
#define BLAME_COMMAND_TABLES_LOCKS_H

#include "command/profile/profile.h"
#include "command/rows/row.h"

struct symbols;

struct lock_entry {
    uint64_t wait_id;
    uint32_t kind;     /* enum profile_lock_kind */
    char *name;        /* name that users see, never "" (see docs/options-and-files.md) */
    char *symbol;      /* data object that contains the lock; "": none */
    char *initialiser; /* call that initialised the lock, as "function file:line"; "": unknown */
    /* number of calls known to have initialised a lock at this address. `initialiser` is the one after which
     * threads waited most. */
    uint32_t initialisers;
    bool unnamed;           /* this is a critical section without a name */
    double wait_ns;         /* ns waited for this lock, whoever is blamed (<unreleased lock> included) */
    double longest_ns;      /* ns of the longest wait that samples saw, accurate to a sampling period */
    uint64_t contended;     /* number of waits that samples saw: a lower bound on contended acquisitions */
    uint32_t context_count; /* number of rows that are blamed; pseudo rows do not count */
    uint32_t first_context; /* index in lock_table.context of its first context */
    uint32_t waiter;        /* row in which threads waited longest; ROW_NONE: unknown */
    double waiter_ns;
};

struct lock_context {
    uint32_t lock; /* index of the lock while contexts are gathered */
    uint32_t row;
    double wait_ns;
};

struct lock_table {
    const struct rows *rows;
    struct lock_entry *lock; /* sorted by waiting, most first */
    size_t count;
    struct lock_context *context; /* grouped by lock; in a group, sorted by blame, most first */
    size_t context_count;
    /* number of initialisations for which the tool had no room; some names may be missing */
    uint64_t inits_lost;
};

extern const char *const lock_kind_name[]; /* indexed by enum profile_lock_kind */

/* Gathers the locks. rows: rows of the same profile, in any order. */
struct lock_table *locks_gather(const struct profile *profile, const struct rows *rows, struct symbols *symbols);
void locks_free(struct lock_table *table);

/* Returns a row's path, outermost function first: "main > solve [parallel a.c:4] > dot a.c:9". A long path
 * starts with "..." and keeps the innermost functions. The caller frees it. */
char *locks_context_path(const struct rows *rows, uint32_t row);

#endif
