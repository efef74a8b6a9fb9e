/* The rows that users see (profile.csv): the merged tree, with functions, inlined functions, constructs and
 * source lines in place of addresses. All views and files are made from these rows. */
#ifndef BLAME_COMMAND_ROWS_ROW_H
#define BLAME_COMMAND_ROWS_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "command/profile/sums.h"
#include "command/text/memory.h"

#define ROW_NONE UINT32_MAX

struct profile;
struct strings;

enum row_kind {
    ROW_ROOT,
    ROW_PROCEDURE,
    ROW_INLINED,
    ROW_PARALLEL,
    ROW_TASK,
    ROW_STATEMENT,
    ROW_RUNTIME,
    ROW_PSEUDO,
    ROW_FILE,   /* only in flat views: sum of all functions in a source file */
    ROW_MODULE, /* only in flat views: sum of all functions in a module */
    ROW_PHASE,  /* a phase that the program reported, or one of its executions */
    ROW_EVENT,
    ROW_PARAMETER,
    ROW_KINDS
};

extern const char *const row_kind_name[ROW_KINDS]; /* names in profile.csv */

/* Returns the name of an enum profile_pseudo; "<unknown>" for any other code. */
const char *row_pseudo_name(uint64_t code);

/* Texts that all rows of one function, or of one source line in a module, share. */
struct row_label {
    const char *name, *module, *file;
    int line;
};

/* Exact times and counters of a row. Phases, events and parameters have exact times. */
struct row_extra {
    /* sums over all threads; for a phase, its numbered executions are included */
    struct profile_probe probe;
    struct profile_counters exact;                /* counts between the probe's begin and end */
    struct profile_counters inclusive, exclusive; /* counts taken at samples */
};

/* The name of a phase or event, and the source position where it began or ended. */
struct probe_location {
    const char *name, *function, *file;
    int line;
};

/* Two phases or events that ended in the wrong order: `inner` was still open when `outer` ended. If `outer`
 * has no name, `inner` ended although it had not begun. */
struct misnesting {
    struct probe_location inner, outer;
};

/* A row. Rows are in preorder: a parent comes before its children, and row 0 is the root. Exclusive values
 * are those of the row's own code. A function's values include those of its statement rows, so a sum over
 * rows must leave the statements out. Times are in ns. */
struct row {
    uint32_t parent; /* ROW_NONE for the root */
    uint32_t end;    /* index of the first row after this row's subtree */
    uint32_t depth;
    int call_line;
    /* number shared by all rows of one function, inlined or not; a statement has the number of its source
     * file */
    uint32_t function;
    uint8_t kind; /* enum row_kind */
    /* whether the row owns its sums, which may then be changed (inclusive, exclusive) */
    bool own_inclusive, own_exclusive;
    /* whether the row is library or runtime code, not the program's own (command/rows/own.h); always false in
     * views */
    bool foreign;
    bool kept; /* whether the row stays although it may have no cost, because its code woke others */
    const struct row_label *label;
    /* text printed after the name: "tail call" for a function that has left the stack, or the candidates if
     * several functions are possible; NULL: none */
    const char *note;
    /* sums of the row. Rows with equal sums share them, and a row of one node points to the node's sums.
     * Never NULL. */
    const struct profile_sums *inclusive, *exclusive;
    const struct row_extra *extra; /* exact times and counters; NULL: the row has none */
};

/* Parameters of the sampling error (command/rows/error.h). */
struct error_terms {
    double period;   /* largest value that one sample of a thread can represent, in s or in events */
    double lifetime; /* s that all threads lived, if each thread had a sample in each period; otherwise 0 */
    double threads, cores;
    double ranks; /* number of ranks of one machine that saw one another */
    bool without_team;
    bool waits;  /* whether threads waited for locks */
    bool shared; /* whether `idleness` means shared idleness */
    /* by enum profile_neighbours_sum: `all` and `rains` of struct error_form, as far as its variance tells them; both 0:
     * it tells less than the lifetime of the threads */
    double periods[PROFILE_NEIGHBOURS_SUMS], rains[PROFILE_NEIGHBOURS_SUMS];
    /* the same of each set of trees (struct profile_tree_set), if `trees` is not 0; 0: the set has no such time */
    struct error_trees {
        float lifetime, periods[PROFILE_NEIGHBOURS_SUMS], rains[PROFILE_NEIGHBOURS_SUMS];
    } of_trees[PROFILE_TREE_SETS];
    uint64_t trees; /* bit mask of the sets that lived */
};

/* The node whose statistics show how the times of a row differ between a job's ranks (command/rows/spread.c). */
struct row_spread {
    uint32_t row, node;
    /* whether the statistics are those of the frames below the node, not of the node itself
     * (PROFILE_SPREAD_CALLEE) */
    bool callee;
    bool exclusive; /* whether the row also has statistics of its exclusive time */
};

struct rows {
    struct row *row;
    size_t count;
    size_t capacity;
    /* for each merged node, the row with the node's metrics; ROW_NONE: none. NULL in views. */
    uint32_t *node_row;
    /* for each merged node, the row with the node's metrics or, if the node has none, the row of its context.
     * NULL in views. */
    uint32_t *node_context;
    /* for each merged node, whether its code is in a loop that waits for another thread. NULL in views. */
    bool *node_waits;
    bool *node_combines; /* the same: is in a region's body that combines the copies of a reduction */
    bool *node_updates;  /* the same: is at an atomic update of memory, where the node's own time is spent */
    size_t node_count;
    double threads, cores; /* number of threads T, number of cores C */
    double cores_ns;       /* ns that the cores offered: C times the wall time */
    bool without_team;     /* whether the program has no team, so that cores idle, and not threads */
    bool without_openmp;   /* whether no OpenMP runtime was measured (profile_without_openmp()) */
    bool shared;           /* whether `idleness` means shared idleness */
    /* whether these are rows of a job, where the effort includes waiting for other ranks */
    bool job;
    /* whether samples were taken at counter overflows, so that values are in events instead of s */
    bool events;
    /* whether this is a bottom-up view: the children of a row are its callers, which share its exclusive
     * value */
    bool callers;
    /* whether the view is bottom-up or flat: it has one row for a function, whoever called the function */
    bool by_exclusive;
    bool incomplete; /* whether a limit was reached, so that some callers are missing */
    /* whether rows were removed, so that inclusive sums contain more than the remaining rows */
    bool cut;
    struct error_terms error;
    /* base of absolute percentages: the sums of the whole program, even with --focus; NULL: the sums of row 0 */
    const struct profile_sums *whole;
    bool probed;                   /* whether some rows have exact times */
    const struct profile *profile; /* profile from which the rows were made; NULL in views */
    /* for each entry of profile->names, the functions in which the phase, event or parameter first began, one
     * per line; NULL: unknown. NULL if all are unknown. */
    const char **begun_in;
    const struct misnesting *misnested; /* phases and events that ended in the wrong order */
    size_t misnested_count;
    struct row_spread *spread; /* statistics of rows, sorted by row */
    size_t spread_count;
    size_t counter_count; /* number of counters that each row has */
    const char *const *counter_name;
    /* base of the counters' percentages; NULL: the counters of row 0 */
    const struct profile_counters *whole_counters;
    struct pool memory; /* memory that rows_alloc() returned */
    /* texts of names and files; NULL: the texts are borrowed from the rows from which this view was made */
    struct strings *strings;
};

void rows_free(struct rows *rows);

/* Returns the sums of the whole program, which are the base of absolute percentages. */
static inline const struct profile_sums *rows_whole(const struct rows *rows)
{
    return rows->whole ? rows->whole : rows->row[0].inclusive;
}

/* Returns the counts at a row's samples; NULL if there are none. */
static inline const struct profile_counters *row_counters(const struct row *row, bool exclusive)
{
    return !row->extra ? NULL : exclusive ? &row->extra->exclusive : &row->extra->inclusive;
}

static inline const struct profile_counters *rows_whole_counters(const struct rows *rows)
{
    return rows->whole_counters ? rows->whole_counters : row_counters(&rows->row[0], false);
}

/* Returns whether a row is a phase, event or parameter. */
static inline bool row_is_probe(const struct row *row)
{
    return row->kind == ROW_PHASE || row->kind == ROW_EVENT || row->kind == ROW_PARAMETER;
}

/* Returns whether a row is an MPI call that waited for other ranks. */
static inline bool row_is_mpi_wait(const struct row *row)
{
    return row->kind == ROW_RUNTIME && strncmp(row->label->name, "MPI_", 4) == 0;
}

/* pseudo row: a function of another thread that held what the row waited for */
#define ROW_NAME_HOLDER      "<held by %s>"
#define ROW_NAME_NO_CORE     "<no core>"
#define ROW_NAME_UNTOLD_WAIT "<untold wait>"
#define ROW_NAME_NOBODY      "<nobody at work>"
#define ROW_NAME_SPINNING    "<spinning>"

/* Returns whether a row shows the time in which its parent had no core. */
static inline bool row_is_no_core(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_NO_CORE) == 0;
}

static inline bool row_is_holder(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strncmp(row->label->name, ROW_NAME_HOLDER, strcspn(ROW_NAME_HOLDER, "%")) == 0;
}

/* Returns whether a row shows the time for which its parent waited in a loop. */
static inline bool row_is_spinning(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_SPINNING) == 0;
}

/* Returns whether a row is a numbered execution, such as "step [3]" below "phase step". */
static inline bool row_is_instance(const struct row *rows, uint32_t index)
{
    const struct row *row = &rows[index], *above = &rows[index ? row->parent : 0];
    if (row->kind != ROW_PHASE || above->kind != ROW_PHASE || strncmp(above->label->name, "phase ", 6) != 0)
        return false;
    const char *phase = above->label->name + 6;
    return strncmp(row->label->name, phase, strlen(phase)) == 0 &&
           strncmp(row->label->name + strlen(phase), " [", 2) == 0;
}

/* Returns whether a row shows the waiting for a lock that nobody held, because it was being handed over. */
static inline bool row_is_handoff(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, "<lock handoff>") == 0;
}

/* Returns whether a row shows the waiting for a rank in which no thread worked. */
static inline bool row_is_nobody(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_NOBODY) == 0;
}

/* Returns the row of a merged node. If the node has none, returns the row of its nearest ancestor that has
 * one. */
uint32_t row_of_node(const struct rows *rows, uint32_t node);

#endif
