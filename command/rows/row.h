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
    ROW_FILE,   /* only in flat views: all functions of a source file */
    ROW_MODULE, /* only in flat views: all functions of a module */
    ROW_PHASE,  /* a phase that the program reported, or one execution of it */
    ROW_EVENT,
    ROW_PARAMETER,
    ROW_KINDS
};

extern const char *const row_kind_name[ROW_KINDS]; /* names in profile.csv */

/* Returns the name of an enum profile_pseudo; "<unknown>" for any other code. */
const char *row_pseudo_name(uint64_t code);

/* Texts shared by all rows of one function, or of one source line in a module. */
struct row_label {
    const char *name, *module, *file;
    int line;
};

/* Exact times of a phase, event or parameter, and counters. */
struct row_extra {
    /* sums over all threads; a phase includes its numbered executions */
    struct profile_probe probe;
    struct profile_counters exact;                /* counts between begin and end */
    struct profile_counters inclusive, exclusive; /* counts taken at samples */
};

/* The name of a phase or event, and the source position where it began or ended. */
struct probe_location {
    const char *name, *function, *file;
    int line;
};

/* Two phases or events that ended in the wrong order: `inner` was still open when `outer` ended. If `outer`
 * has no name, `inner` ended without having begun. */
struct misnesting {
    struct probe_location inner, outer;
};

/* Rows are in preorder: a parent is before its children, and row 0 is the root. A row's exclusive value is
 * that of its own code. A function has the sum of its statement rows, so a sum over rows must leave the
 * statements out. Times are in ns. */
struct row {
    uint32_t parent; /* ROW_NONE for the root */
    uint32_t end;    /* index of the first row after this row's subtree */
    uint32_t depth;
    int call_line;
    /* number shared by all rows of one function, inlined or not; a statement has the number of its source
     * file */
    uint32_t function;
    uint8_t kind; /* enum row_kind */
    /* this row has sums of its own, which may be changed (inclusive, exclusive) */
    bool own_inclusive, own_exclusive;
    /* library or runtime code, not the program's own (command/rows/own.h). Always false in views. */
    bool foreign;
    const struct row_label *label;
    /* text that is printed after the name: "tail call" for a function that has left the stack, or the
     * candidates if several are possible; NULL: none */
    const char *note;
    /* Rows with equal sums share them, and a row of one node has the node's sums. Never NULL. */
    const struct profile_sums *inclusive, *exclusive;
    const struct row_extra *extra; /* NULL: no exact times and no counters */
};

/* Parameters of the sampling error (command/rows/error.h). */
struct error_terms {
    double period;   /* largest value that one sample of a thread can stand for, in s or in events */
    double lifetime; /* s that all threads lived, if each thread had a sample in each period; otherwise 0 */
    double threads, cores;
    double ranks; /* number of ranks of one machine that saw one another */
};

/* The node whose statistics show how a row's times differ between a job's ranks (command/rows/spread.c). */
struct row_spread {
    uint32_t row, node;
    bool callee;    /* statistics of the frames below the node, not of the node (PROFILE_SPREAD_CALLEE) */
    bool exclusive; /* there are statistics of the row's exclusive time as well */
};

struct rows {
    struct row *row;
    size_t count;
    size_t capacity;
    /* indexed by merged node: row with the node's metrics; ROW_NONE: none. NULL in views. */
    uint32_t *node_row;
    /* indexed by merged node: the same row; for a node without metrics, the row of its context. NULL in
     * views. */
    uint32_t *node_context;
    size_t node_count;
    double threads, cores; /* number of threads T, number of cores C */
    bool shared;           /* `idleness` means shared idleness */
    bool job;              /* rows of a job: the effort includes waiting for other ranks of the job */
    bool events;           /* samples were taken at counter overflows: values are in events instead of s */
    /* bottom-up view: a row's children are its callers, which share its exclusive value */
    bool callers;
    bool by_exclusive; /* bottom-up and flat views: one row for a function, whoever called it */
    bool incomplete;   /* a limit was reached, so some callers are missing */
    bool cut;          /* rows were removed: inclusive sums contain more than the remaining rows */
    struct error_terms error;
    /* base of absolute percentages: the whole program's sums, even with --focus; NULL: the sums of row 0 */
    const struct profile_sums *whole;
    bool probed;                   /* some rows have exact times */
    const struct profile *profile; /* profile from which the rows were made; NULL in views */
    /* indexed like profile->names: the functions in which that phase, event or parameter first began, one per
     * line; NULL: unknown. NULL if all are unknown. */
    const char **begun_in;
    const struct misnesting *misnested; /* phases and events that ended in the wrong order */
    size_t misnested_count;
    struct row_spread *spread; /* sorted by row */
    size_t spread_count;
    size_t counter_count; /* number of counters that each row has */
    const char *const *counter_name;
    /* base of the counters' percentages; NULL: the counters of row 0 */
    const struct profile_counters *whole_counters;
    struct pool memory; /* memory that rows_alloc() returned */
    /* texts of names and files; NULL: borrowed from the rows that this view was made from */
    struct strings *strings;
};

void rows_free(struct rows *rows);

/* Returns the program's sums, which are the base of absolute percentages. */
static inline const struct profile_sums *rows_whole(const struct rows *rows)
{
    return rows->whole ? rows->whole : rows->row[0].inclusive;
}

/* Returns the counts taken at a row's samples; NULL: none. */
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

/* pseudo row: a function of another thread, which held what the row waited for */
#define ROW_NAME_HOLDER      "<held by %s>"
#define ROW_NAME_NO_CORE     "<no core>"
#define ROW_NAME_UNTOLD_WAIT "<untold wait>"
#define ROW_NAME_NOBODY      "<nobody at work>"

/* Returns whether a row is the time in which its parent had no core. */
static inline bool row_is_no_core(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_NO_CORE) == 0;
}

static inline bool row_is_holder(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strncmp(row->label->name, ROW_NAME_HOLDER, strcspn(ROW_NAME_HOLDER, "%")) == 0;
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

/* Returns whether a row is waiting for a lock that nobody held, while it was handed over. */
static inline bool row_is_handoff(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, "<lock handoff>") == 0;
}

/* Returns whether a row is waiting for a rank in which no thread worked. */
static inline bool row_is_nobody(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_NOBODY) == 0;
}

/* Returns the row of a merged node, or the row of its nearest ancestor that has one. */
uint32_t row_of_node(const struct rows *rows, uint32_t node);

#endif
