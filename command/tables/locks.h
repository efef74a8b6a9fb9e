/* The locks that threads waited for, gathered from the lock nodes of the merged tree. */
#ifndef BLAME_COMMAND_TABLES_LOCKS_H
#define BLAME_COMMAND_TABLES_LOCKS_H

#include "command/profile/profile.h"
#include "command/rows/row.h"

struct symbols;

struct lock_entry {
    uint64_t wait_id;
    uint32_t kind;     /* enum profile_lock_kind */
    char *name;        /* the name shown to users, never "" (see docs/options-and-files.md) */
    char *symbol;      /* the data object that contains the lock, "" if none does */
    char *initialiser; /* the call that initialised the lock, "function file:line"; "" if unknown */
    /* number of calls known to have initialised a lock at this address; `initialiser` is the one followed by
     * most waiting */
    uint32_t initialisers;
    bool unnamed;           /* a critical section without a name */
    double wait_ns;         /* waiting for this lock in ns, whoever is blamed (including <unreleased lock>) */
    double longest_ns;      /* longest wait seen by samples in ns, accurate to a sampling period */
    uint64_t contended;     /* waits seen by samples: a lower bound on contended acquisitions */
    uint32_t context_count; /* number of rows blamed, without pseudo rows */
    uint32_t first_context; /* index into lock_table.context */
    uint32_t waiter;        /* the row where threads waited longest, ROW_NONE if unknown */
    double waiter_ns;
};

struct lock_context {
    uint32_t lock; /* the lock's index, used while gathering */
    uint32_t row;
    double wait_ns;
};

struct lock_table {
    const struct rows *rows;
    struct lock_entry *lock; /* sorted by waiting, longest first */
    size_t count;
    struct lock_context *context; /* grouped by lock, most blamed first */
    size_t context_count;
    uint64_t inits_lost; /* initialisations that the tool had no room for; names may be missing */
};

extern const char *const lock_kind_name[]; /* indexed by enum profile_lock_kind */

/* Gathers the locks. rows: of the same profile, in any order. */
struct lock_table *locks_gather(const struct profile *profile, const struct rows *rows, struct symbols *symbols);
void locks_free(struct lock_table *table);

/* Returns a row's path, outermost function first: "main > solve [parallel a.c:4] > dot a.c:9". A long path
 * begins with "..." and keeps the innermost functions. The caller frees it. */
char *locks_context_path(const struct rows *rows, uint32_t row);

#endif
