/* Types and functions shared by the units that make rows from a merged tree. */
#ifndef BLAME_COMMAND_ROWS_BUILD_H
#define BLAME_COMMAND_ROWS_BUILD_H

#include "cct/profile_tree.h"
#include "command/profile/index_map.h"
#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/rows/row.h"
#include "command/symbols/symbols.h"
#include "command/symbols/tail_calls.h"
#include "command/text/strings.h"

/* A function as users see it, or a source line in a module. The strings are ids of interned strings. */
struct function {
    uint32_t name, module, file;
    int line;
};

/* One function at an address: the function on the stack, or one that is inlined there. Its strings are
 * interned once for each address. */
struct source_frame {
    uint32_t function;
    int at_line; /* line of the function at this address, which is the line of its calls; 0: unknown */
    uint32_t statement_file;
    int statement_line; /* line of the statement row that shows the function's own cost here; 0: none */
    uint8_t kind;
    bool merged;    /* whether the function gets no row of its own if the caller's row has the same name */
    bool waits;     /* whether its code is in a loop that waits for another thread */
    bool updates;   /* whether it is at an atomic update of memory */
    bool combines;  /* whether it is in a construct whose body combines the copies of a reduction */
    bool outermost; /* whether this is the last source frame of its address: the function on the stack */
};

struct builder {
    struct rows *rows;
    const struct profile *profile;
    struct symbols *symbols;
    const struct row_label **functions;
    size_t function_count, function_capacity;
    struct source_frame *source_frames;
    size_t source_frame_count, source_frame_capacity;
    /* maps (name, module), (file, line, class of kind) to the index of a function */
    struct pair_map function_map;
    struct pair_map key_map;  /* maps (key, use) to the index of the innermost source frame */
    struct pair_map line_map; /* maps (file, line), module to an index into `lines` */
    const struct row_label **lines;
    size_t line_count, line_capacity;
    struct index_map children; /* index of the rows by parent, function (or file), kind and line */
    /* for each merged node, the row below which the rows of the node's children are created */
    uint32_t *anchor;
    /* for each merged node, the innermost source frame of a FRAME node, or of the frame that contains a
     * phase, event or parameter; ROW_NONE for other nodes */
    uint32_t *innermost;
    /* index in profile->counters of the first record that belongs to the current node or a later one */
    size_t next_counters;
};

/* Returns whether a node is a phase, an execution of a phase, an event or a parameter. */
static inline bool rows_node_is_probe(const struct merged_node *node)
{
    return node->kind >= PROFILE_NODE_PHASE && node->kind <= PROFILE_NODE_INSTANCE;
}

/* Returns the index of a function. Adds the function if it is new. Inlined and called copies of a procedure
 * are one function. A construct and the procedure that contains it are two functions. */
uint32_t rows_find_function(struct builder *builder, enum row_kind kind, const struct function *function);
uint32_t rows_find_function_row(struct builder *builder, uint32_t parent, enum row_kind kind, uint32_t function,
                                int call_line);

/* Returns the row of a source frame's statement, below the row of its function. */
uint32_t rows_find_statement_row(struct builder *builder, uint32_t parent, const struct source_frame *frame);
/* Returns the row of something that is not a function. */
uint32_t rows_find_named_row(struct builder *builder, uint32_t parent, enum row_kind kind, const char *name,
                             int call_line);

/* Returns a node's nearest ancestor that is not a phase, event or parameter. If a frame called the node, this
 * is the frame. */
const struct merged_node *rows_caller_of(const struct profile *profile, const struct merged_node *node);

/* Returns the row of a phase ("phase solve"), a phase's execution ("solve [17]"), an event ("event pack") or
 * a parameter ("size = 512"). The row's source position is where the phase, event or parameter first began. */
uint32_t rows_add_probe(struct builder *builder, uint32_t node_idx, uint32_t parent);

/* Fills `spread` of the rows, which tells how the times of rows differ between a job's ranks. */
void rows_find_spreads(struct builder *builder);

/* Fills `misnested` of the rows. The symbols must be loaded. */
void rows_read_misnested(struct builder *builder);

#endif
