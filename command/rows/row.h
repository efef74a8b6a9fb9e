/* The rows that users see (docs: profile.csv): the merged tree, with addresses replaced by functions, inlined
 * functions, constructs and source lines. Views are made of the same rows, and every writer works on them. */
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
    ROW_FILE,   /* in flat views: all functions of a source file, */
    ROW_MODULE, /* or of a module */
    ROW_PHASE,  /* what the program says of itself: a phase, or an execution of one, */
    ROW_EVENT,
    ROW_PARAMETER,
    ROW_KINDS
};

extern const char *const row_kind_name[ROW_KINDS]; /* as in profile.csv */

/* Of an enum profile_pseudo; what is none has a name, too. */
const char *row_pseudo_name(uint64_t code);

/* What rows of one function, or of one source line of a module, have in common. */
struct row_label {
    const char *name, *module, *file;
    int line;
};

/* What a row has besides its sums: exact times of phases, events and parameters, counters. */
struct row_extra {
    struct profile_probe probe;                   /* all threads'; a phase's is the sum of its numbered executions' */
    struct profile_counters exact;                /* counted from begin to end */
    struct profile_counters inclusive, exclusive; /* counted at samples */
};

/* A name of the program's, and where it was begun or ended. */
struct named_place {
    const char *name, *function, *file;
    int line;
};

/* `inner` was still open where `outer` ended; no name of an outer one: `inner` ended without a begin. */
struct misnesting {
    struct named_place inner, outer;
};

/* Rows are in preorder: a parent before its children, row 0 is the root. A row's exclusive value is its own
 * code's, for a function the sum over its statement rows, which therefore count once more than once: sums
 * over rows leave statements out. Times in nanoseconds. */
struct row {
    uint32_t parent; /* ROW_NONE for the root */
    uint32_t end;    /* the first row behind this row's subtree */
    uint32_t depth;
    int call_line;
    uint32_t function;                 /* equal for rows of one function, inlined or not; statements: of the file */
    uint8_t kind;                      /* enum row_kind */
    bool own_inclusive, own_exclusive; /* the sums are this row's alone and may be added to */
    bool foreign;                      /* what the program calls, not its own code; false in views: ask rows_own() */
    const struct row_label *label;
    const char *note; /* what text views put behind the name: "tail call" for functions that had left the
                         stack, the candidates where several are possible; NULL: nothing */
    /* Rows of equal sums share them, and those of a single node are the node's: never NULL. */
    const struct profile_sums *inclusive, *exclusive;
    const struct row_extra *extra; /* NULL: nothing */
};

/* What the error of sums over samples follows from: command/rows/error.h. */
struct error_terms {
    double period;   /* most that one sample of a thread stands for, in seconds or events */
    double lifetime; /* of all threads, while they had a sample each period; 0: they had not */
    double threads, cores;
    double ranks; /* of a node, as far as they saw each other */
};

/* Of which node a row shows how its times differ between a job's ranks: command/rows/spread.c. */
struct row_spread {
    uint32_t row, node;
    bool callee;    /* it is PROFILE_SPREAD_CALLEE of the node */
    bool exclusive; /* the row's own time is known, too */
};

struct rows {
    struct row *row;
    size_t count;
    size_t capacity;
    uint32_t *node_row; /* by merged node: the row that shows its metrics, ROW_NONE if it has none; NULL in views */
    uint32_t *
        node_context; /* by merged node: the same, and for nodes without metrics the row that they stand for; NULL in views */
    size_t node_count;
    double threads, cores; /* T and C */
    bool shared;           /* `idleness` is shared idleness */
    bool job;              /* of a job's ranks: whom they wait for is in the effort, too */
    bool events;           /* samples by overflow: what is in seconds elsewhere is in events */
    bool callers;          /* children split their parent's exclusive value (bottom-up view) */
    bool by_exclusive;     /* bottom-up and flat views: rows are functions, wherever they were called */
    bool incomplete;       /* callers were not followed for want of room */
    bool cut;              /* rows were taken away: inclusive sums have more than what is left */
    struct error_terms error;
    /* What absolute percentages are of; NULL: row 0. In a tree that a focus has thinned out: the whole
     * program's. */
    const struct profile_sums *whole;
    bool probed;                   /* rows have exact times */
    const struct profile *profile; /* that the rows were made of; NULL in views */
    const char **begun_in;         /* by name of the profile: the function that began it first, perhaps NULL; or NULL */
    const struct misnesting *misnested; /* what was ended in a wrong order */
    size_t misnested_count;
    struct row_spread *spread; /* by row */
    size_t spread_count;
    size_t counter_count; /* rows have these counters */
    const char *const *counter_name;
    const struct profile_counters *whole_counters; /* what per cent of counters are of; NULL: row 0's */
    struct pool memory;                            /* what rows_alloc() gave out */
    struct strings *strings; /* the text of names and files; NULL: borrowed from the rows a view was made of */
};

void rows_free(struct rows *rows);

/* The program's effort: what absolute percentages are of. */
static inline const struct profile_sums *rows_whole(const struct rows *rows)
{
    return rows->whole ? rows->whole : rows->row[0].inclusive;
}

/* What was counted at the row's samples; NULL: nothing. */
static inline const struct profile_counters *row_counters(const struct row *row, bool exclusive)
{
    return !row->extra ? NULL : exclusive ? &row->extra->exclusive : &row->extra->inclusive;
}

static inline const struct profile_counters *rows_whole_counters(const struct rows *rows)
{
    return rows->whole_counters ? rows->whole_counters : row_counters(&rows->row[0], false);
}

/* Whether a row is a phase, event or parameter. */
static inline bool row_is_probe(const struct row *row)
{
    return row->kind == ROW_PHASE || row->kind == ROW_EVENT || row->kind == ROW_PARAMETER;
}

/* Whether a row is a call of MPI's that waited for other ranks. */
static inline bool row_is_mpi_wait(const struct row *row)
{
    return row->kind == ROW_RUNTIME && strncmp(row->label->name, "MPI_", 4) == 0;
}

#define ROW_NAME_HOLDER      "<held by %s>" /* of a pseudo row: the function of another thread that had what is waited for */
#define ROW_NAME_NO_CORE     "<no core>"
#define ROW_NAME_UNTOLD_WAIT "<untold wait>"
#define ROW_NAME_NOBODY      "<nobody at work>"

/* Whether a row is what its parent lost for want of a core. */
static inline bool row_is_no_core(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_NO_CORE) == 0;
}

static inline bool row_is_holder(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strncmp(row->label->name, ROW_NAME_HOLDER, strcspn(ROW_NAME_HOLDER, "%")) == 0;
}

/* Whether a row of these is a numbered execution, "step [3]" below "phase step". */
static inline bool row_is_instance(const struct row *rows, uint32_t index)
{
    const struct row *row = &rows[index], *above = &rows[index ? row->parent : 0];
    if (row->kind != ROW_PHASE || above->kind != ROW_PHASE || strncmp(above->label->name, "phase ", 6) != 0)
        return false;
    const char *phase = above->label->name + 6;
    return strncmp(row->label->name, phase, strlen(phase)) == 0 &&
           strncmp(row->label->name + strlen(phase), " [", 2) == 0;
}

/* Whether a row is what was waited for a lock while nobody held it. */
static inline bool row_is_handoff(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, "<lock handoff>") == 0;
}

/* Whether a row is what other ranks waited for one none of whose threads worked. */
static inline bool row_is_nobody(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_NOBODY) == 0;
}

/* The row that a merged node stands for, or the nearest around it that has one. */
uint32_t row_of_node(const struct rows *rows, uint32_t node);

#endif
