/* Between the files that make rows of a merged tree. */
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

/* A function as users see it, or a source line of a module; strings as ids. */
struct function {
    uint32_t name, module, file;
    int line;
};

/* One logical frame at an address, with its strings interned once per address. */
struct place {
    uint32_t function;
    int at_line; /* of calls made there, 0 when unknown */
    uint32_t statement_file;
    int statement_line; /* of the statement that its own cost is shown at, 0: none */
    uint8_t kind;
    bool fold;      /* shown as part of its caller's row if that has the same name */
    bool outermost; /* the last place of its address: the function on the stack */
};

struct builder {
    struct rows *rows;
    const struct profile *profile;
    struct symbols *symbols;
    const struct row_label **functions;
    size_t function_count, function_capacity;
    struct place *places;
    size_t place_count, place_capacity;
    struct pair_map function_map; /* (name, module), (file, line, kind class) -> function */
    struct pair_map key_map;      /* (key, what it is to the node) -> its innermost place */
    struct pair_map line_map;     /* (file, line), module -> number in lines */
    const struct row_label **lines;
    size_t line_count, line_capacity;
    struct index_map children; /* rows by parent, function or file, kind and line */
    uint32_t *anchor;          /* by merged node: the row its children hang below */
    uint32_t *innermost;       /* by merged node: the innermost place of a FRAME, or of the one that a phase, event
                             or parameter is below; else ROW_NONE */
    size_t next_counters;      /* in profile->counters: the first of this node or a later one */
};

/* Whether a node is a phase, event, parameter, or an execution of a phase. */
static inline bool node_is_probe(const struct merged_node *node)
{
    return node->kind >= PROFILE_NODE_PHASE && node->kind <= PROFILE_NODE_INSTANCE;
}

/* Inlined and called instances of a procedure are one function; a construct is another one than its host. */
uint32_t rows_find_function(struct builder *builder, enum row_kind kind, const struct function *function);
uint32_t rows_find_function_row(struct builder *builder, uint32_t parent, enum row_kind kind, uint32_t function,
                                int call_line);

/* The row of the statement at a place, below its function's. */
uint32_t rows_find_statement_row(struct builder *builder, uint32_t parent, const struct place *place);
/* A row of something that is no function. */
uint32_t rows_find_named_row(struct builder *builder, uint32_t parent, enum row_kind kind, const char *name,
                             int call_line);

/* The frame that called a node, or its parent where that is none: phases and events stand between. */
const struct merged_node *rows_caller_of(const struct profile *profile, const struct merged_node *node);

/* The row of a phase ("phase solve"), of its execution ("solve [17]"), of an event ("event pack") or a
 * parameter ("size = 512"), at the place where it was begun first. */
uint32_t rows_add_probe(struct builder *builder, uint32_t node_idx, uint32_t parent);

/* Fills spread of the rows: which of them the ranks of a job are compared by. */
void rows_find_spreads(struct builder *builder);

/* Fills misnested of the rows; the symbols must be there. */
void rows_read_misnested(struct builder *builder);

#endif
