/* The locks that threads waited for, gathered from the lock nodes of the merged tree. */
#ifndef BLAME_COMMAND_TABLES_LOCKS_H
#define BLAME_COMMAND_TABLES_LOCKS_H

#include "command/profile/profile.h"
#include "command/rows/row.h"

struct symbols;

struct lock_entry {
    uint64_t wait_id;
    uint32_t kind;          /* enum profile_lock_kind */
    char *name;             /* what a user calls it, never empty: see docs/format.md */
    char *symbol;           /* of the data object the lock lies in, "" when there is none */
    char *initialiser;      /* the call that initialised it: "function file:line", "" when none is known */
    uint32_t initialisers;  /* calls known to have initialised a lock at this address; `initialiser` is the one
                              after which there was most waiting */
    bool unnamed;           /* a critical section entered by a call that takes no name */
    double wait_ns;         /* waiting for this lock, wherever the blame went (<unreleased lock> included) */
    double longest_ns;      /* the longest wait that samples saw: to a sampling period */
    uint64_t contended;     /* waits that a sample saw: a lower bound of the contended acquisitions */
    uint32_t context_count; /* rows blamed; pseudo rows are not contexts */
    uint32_t first_context; /* in lock_table.context */
    uint32_t waiter;        /* the row where threads waited longest, ROW_NONE when none is known */
    double waiter_ns;
};

struct lock_context {
    uint32_t lock; /* index of its lock while gathering */
    uint32_t row;
    double wait_ns;
};

struct lock_table {
    const struct rows *rows;
    struct lock_entry *lock; /* the longest waiting first */
    size_t count;
    struct lock_context *context; /* grouped by lock, the most blamed first */
    size_t context_count;
    uint64_t inits_lost; /* initialisations that the tool had no room for: names may be missing */
};

extern const char *const lock_kind_name[]; /* by enum profile_lock_kind */

/* rows: of the same profile, in any order. */
struct lock_table *locks_gather(const struct profile *profile, const struct rows *rows, struct symbols *symbols);
void locks_free(struct lock_table *table);

/* A row as a path, outermost function first: "main > solve [parallel a.c:4] > dot a.c:9"; of a deep one the
 * innermost functions, behind "...". malloc'ed. */
char *locks_context_path(const struct rows *rows, uint32_t row);

#endif
