/* What the files that make rows of a merged tree share. */
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

/* A function as users see it, or a source line of a module. Strings are ids. */
struct function {
    uint32_t name, module, file;
    int line;
};

/* One logical frame at an address. Its strings are interned once per address. */
struct place {
    uint32_t function;
    int at_line; /* line of the calls made there, 0 if unknown */
    uint32_t statement_file;
    int statement_line; /* line of the statement that shows its own cost, 0 for none */
    uint8_t kind;
    bool fold;      /* merged into its caller's row if that has the same name */
    bool outermost; /* the last place of its address: the function that is on the stack */
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
    struct pair_map key_map;      /* (key, use by the node) -> its innermost place */
    struct pair_map line_map;     /* (file, line), module -> index in lines */
    const struct row_label **lines;
    size_t line_count, line_capacity;
    struct index_map children; /* rows by parent, function or file, kind and line */
    uint32_t *anchor;          /* by merged node: the parent of its children's rows */
    /* by merged node: the innermost place of a FRAME, or of the frame above a phase, event or parameter;
     * ROW_NONE for other nodes */
    uint32_t *innermost;
    /* index in profile->counters: the first record of this node or of a later one */
    size_t next_counters;
};

/* Returns whether a node is a phase, an execution of a phase, an event or a parameter. */
static inline bool node_is_probe(const struct merged_node *node)
{
    return node->kind >= PROFILE_NODE_PHASE && node->kind <= PROFILE_NODE_INSTANCE;
}

/* Returns a function's index. Inlined and called instances of a procedure are one function; a construct and
 * its host are two. */
uint32_t rows_find_function(struct builder *builder, enum row_kind kind, const struct function *function);
uint32_t rows_find_function_row(struct builder *builder, uint32_t parent, enum row_kind kind, uint32_t function,
                                int call_line);

/* Returns the row of the statement at a place, below its function's row. */
uint32_t rows_find_statement_row(struct builder *builder, uint32_t parent, const struct place *place);
/* Returns the row of something that is not a function. */
uint32_t rows_find_named_row(struct builder *builder, uint32_t parent, enum row_kind kind, const char *name,
                             int call_line);

/* Returns the frame that called a node, skipping phases and events in between; the node's parent if no frame
 * did. */
const struct merged_node *rows_caller_of(const struct profile *profile, const struct merged_node *node);

/* Returns the row of a phase ("phase solve"), its execution ("solve [17]"), an event ("event pack") or a
 * parameter ("size = 512"). Its place is where it began first. */
uint32_t rows_add_probe(struct builder *builder, uint32_t node_idx, uint32_t parent);

/* Fills `spread` of the rows: the nodes by which a job's ranks are compared. */
void rows_find_spreads(struct builder *builder);

/* Fills `misnested` of the rows. The symbols must be loaded. */
void rows_read_misnested(struct builder *builder);

#endif
