/* Reading measurement files: checks one file, and merges its trees into one. A damaged or foreign file is an
 * error with one clear line, never a crash. Nothing here runs while the program is measured. */
#ifndef BLAME_CCT_PROFILE_READ_H
#define BLAME_CCT_PROFILE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"

/* A node of the merged tree. Node 0 is the program's root; a parent's index is smaller than its children's.
 */
struct merged_node {
    uint64_t key;
    uint32_t parent;
    uint8_t kind; /* enum profile_node_kind: ROOT (node 0 only), FRAME, RUNTIME, LOCK, PSEUDO */
    struct profile_metric metric; /* exclusive, all threads summed */
};

/* The waits for one lock while the same call had initialised it, all threads together. */
struct profile_lock {
    uint64_t key;         /* PROFILE_LOCK_KEY */
    uint64_t initialiser; /* address (a PROFILE_KEY) in the call that had initialised it, 0: none known */
    uint64_t variable;    /* PROFILE_KEY of the variable of a critical section, 0: none known */
    double sum_ns, longest_ns;
    uint64_t waits;
};

struct profile {
    struct profile_header header;
    struct merged_node *nodes;
    size_t node_count;
    struct profile_thread *threads; /* in order of their start */
    size_t thread_count;
    struct profile_module *modules; /* module id m is modules[m - 1] */
    size_t module_count;
    struct profile_lock *locks; /* in no order */
    size_t lock_count;
    char *text; /* "key\0value\0" pairs */
    size_t text_bytes;
    double unresolved_ns; /* busy time (work, overhead, lock wait) below <unresolved> */
    uint64_t tree;        /* the tree that was read, 0: all of them, merged */
};

/* Reads and checks the file at `path`. Returns NULL with one line (no newline) in error[] if it cannot be
 * used. Regions that were never resolved hang below <unresolved>; recycled nodes are left out. [init] */
struct profile *profile_read(const char *path, char *error, size_t error_bytes);
/* The same of one thread, by its place in `threads`: the tree has what its samples were blamed for. Locks are
 * those it waited for. [init] */
struct profile *profile_read_thread(const char *path, size_t thread, char *error, size_t error_bytes);
void profile_free(struct profile *profile); /* [init] */

/* Called now and then while a file is read; NULL: nobody wants to know. [init] */
extern void (*profile_read_progress)(size_t done, size_t total);

/* The value stored under key ("command", "host", "runtime", ...), or NULL. [init] */
const char *profile_text(const struct profile *profile, const char *key);

#endif
