/* The stacks of a trace's spans as trees that formats list once and refer to, made as spans are met. */
#ifndef BLAME_COMMAND_EXPORT_TRACE_STACKS_H
#define BLAME_COMMAND_EXPORT_TRACE_STACKS_H

#include "cct/profile_time.h"
#include "command/profile/pair_map.h"
#include "command/profile/trace.h"
#include "command/rows/row.h"
#include "command/text/strings.h"

/* A function with the line that it calls from, or that it is in; or, innermost, the thread's state where that is not work. */
struct trace_frame {
    uint32_t function; /* from 1 on */
    int line;          /* 0: not known */
    uint8_t state;     /* PROFILE_TIME_WORK: a function */
};

struct trace_stack {
    uint32_t parent; /* 0: the outermost */
    uint32_t frame;
    bool written; /* for formats that list only those that samples have */
};

/* Functions, frames and stacks are numbered from 1 on; a stack's parent has a smaller number. Functions of several profiles are the same if
 * they are called so and are of one file and module. */
struct trace_stacks {
    const struct rows *rows;            /* of the profile at hand */
    const struct row_label **functions; /* number n is functions[n - 1] */
    struct trace_frame *frames;
    struct trace_stack *stacks;
    size_t function_count, function_room, frame_count, frame_room, stack_count, stack_room;
    struct pair_map label_map, function_map, frame_map, stack_map, span_map;
    struct strings *texts;
};

extern const char *const trace_state_name[PROFILE_TIME_STATES];
/* The frame that stands for it inside its context's; no name: work has none. */
extern const struct row_label trace_state_label[PROFILE_TIME_STATES];

void trace_stacks_start(struct trace_stacks *stacks);
/* The next profile. */
void trace_stacks_of(struct trace_stacks *stacks, const struct rows *rows);
/* The number of a stack. */
uint32_t trace_stack(struct trace_stacks *stacks, uint32_t node, uint8_t state);
void trace_stacks_free(struct trace_stacks *stacks);

static inline uint32_t trace_row(const struct rows *rows, uint32_t node)
{
    return row_of_node(rows, node);
}

#endif
