/* The rows that users see (profile.csv): the merged tree, with addresses replaced by functions, inlined
 * functions, constructs and source lines. Views consist of the same rows, and every writer works on them. */
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
    ROW_FILE,   /* flat views: all functions of a source file */
    ROW_MODULE, /* flat views: all functions of a module */
    ROW_PHASE,  /* a phase or an execution of one, reported by the program */
    ROW_EVENT,
    ROW_PARAMETER,
    ROW_KINDS
};

extern const char *const row_kind_name[ROW_KINDS]; /* names in profile.csv */

/* Returns the name of an enum profile_pseudo, also of an unknown code. */
const char *row_pseudo_name(uint64_t code);

/* The texts that all rows of a function, or of a source line in a module, share. */
struct row_label {
    const char *name, *module, *file;
    int line;
};

/* Exact times of phases, events and parameters, and counters. */
struct row_extra {
    /* of all threads; a phase's record is the sum of its numbered executions */
    struct profile_probe probe;
    struct profile_counters exact;                /* counted while it was open */
    struct profile_counters inclusive, exclusive; /* counts at samples */
};

/* A name from the program, and where it began or ended. */
struct named_place {
    const char *name, *function, *file;
    int line;
};

/* `inner` was still open when `outer` ended. If `outer` has no name, `inner` ended without having begun. */
struct misnesting {
    struct named_place inner, outer;
};

/* Rows are in preorder: a parent before its children, row 0 is the root. A row's exclusive value is that of
 * its own code; a function's is the sum of its statement rows, which therefore count twice: sums over rows
 * leave statements out. Times in nanoseconds. */
struct row {
    uint32_t parent; /* ROW_NONE for the root */
    uint32_t end;    /* the first row after this row's subtree */
    uint32_t depth;
    int call_line;
    /* equal for all rows of one function, inlined or not; for statements that of the file */
    uint32_t function;
    uint8_t kind;                      /* enum row_kind */
    bool own_inclusive, own_exclusive; /* the sums belong to this row alone and may be changed */
    /* code that the program calls, not its own; always false in views: use rows_own() */
    bool foreign;
    const struct row_label *label;
    /* text after the name in text views: "tail call" for a function that had left the stack, the candidates
     * where several are possible; NULL for none */
    const char *note;
    /* Rows of equal sums share them; a row of one node has the node's sums. Never NULL. */
    const struct profile_sums *inclusive, *exclusive;
    const struct row_extra *extra; /* NULL: nothing */
};

/* What the error of sums over samples depends on: command/rows/error.h. */
struct error_terms {
    double period;   /* most that one sample of a thread stands for, in seconds or events */
    double lifetime; /* lifetime of all threads in s, if each had a sample in each period; otherwise 0 */
    double threads, cores;
    double ranks; /* ranks of a node that saw each other */
};

/* The node by which a row shows the differences between a job's ranks: command/rows/spread.c. */
struct row_spread {
    uint32_t row, node;
    bool callee;    /* the record is PROFILE_SPREAD_CALLEE of the node */
    bool exclusive; /* the row's own time is known, too */
};

struct rows {
    struct row *row;
    size_t count;
    size_t capacity;
    uint32_t *node_row;     /* by merged node: the row that shows its metrics; ROW_NONE for none; NULL in views */
    uint32_t *node_context; /* by merged node: the same, and the row of nodes without metrics; NULL in views */
    size_t node_count;
    double threads, cores; /* T and C */
    bool shared;           /* `idleness` means shared idleness */
    bool job;              /* rows of a job: the effort includes waits for other ranks of the job */
    bool events;           /* samples by counter overflow: values are in events instead of seconds */
    bool callers;          /* children split their parent's exclusive value (bottom-up view) */
    bool by_exclusive;     /* bottom-up and flat views: rows are functions, regardless of their callers */
    bool incomplete;       /* callers are missing because a limit was reached */
    bool cut;              /* rows were removed: inclusive sums contain more than the remaining rows */
    struct error_terms error;
    /* The whole of absolute percentages; NULL for row 0. With --focus it is the whole program. */
    const struct profile_sums *whole;
    bool probed;                   /* rows have exact times */
    const struct profile *profile; /* the source of the rows; NULL in views */
    /* by name of the profile: the function that began it first, NULL if unknown; NULL if all are unknown */
    const char **begun_in;
    const struct misnesting *misnested; /* phases and events that ended in the wrong order */
    size_t misnested_count;
    struct row_spread *spread; /* by row */
    size_t spread_count;
    size_t counter_count; /* number of counters of each row */
    const char *const *counter_name;
    const struct profile_counters *whole_counters; /* the whole of counters' percentages; NULL for row 0 */
    struct pool memory;                            /* memory from rows_alloc() */
    /* text of names and files; NULL if borrowed from the rows that a view was made of */
    struct strings *strings;
};

void rows_free(struct rows *rows);

/* Returns the program's sums: the whole of absolute percentages. */
static inline const struct profile_sums *rows_whole(const struct rows *rows)
{
    return rows->whole ? rows->whole : rows->row[0].inclusive;
}

/* Returns the counters at a row's samples; NULL for none. */
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

/* pseudo row: the function of another thread that held what the row waited for */
#define ROW_NAME_HOLDER      "<held by %s>"
#define ROW_NAME_NO_CORE     "<no core>"
#define ROW_NAME_UNTOLD_WAIT "<untold wait>"
#define ROW_NAME_NOBODY      "<nobody at work>"

/* Returns whether a row is the time that its parent had no core. */
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

/* Returns whether a row is waiting for a lock while nobody held it. */
static inline bool row_is_handoff(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, "<lock handoff>") == 0;
}

/* Returns whether a row is waiting for a rank of which no thread worked. */
static inline bool row_is_nobody(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_NOBODY) == 0;
}

/* Returns the row of a merged node, or of its nearest ancestor that has one. */
uint32_t row_of_node(const struct rows *rows, uint32_t node);

#endif
