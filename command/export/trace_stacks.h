/* The distinct call stacks in a trace, stored as a tree. Formats list each function, frame and stack once and
 * then refer to it by its number. Entries are added while the trace's spans are read. */
#ifndef BLAME_COMMAND_EXPORT_TRACE_STACKS_H
#define BLAME_COMMAND_EXPORT_TRACE_STACKS_H

#include "cct/profile_time.h"
#include "command/profile/pair_map.h"
#include "command/profile/trace.h"
#include "command/rows/row.h"
#include "command/text/strings.h"

/* A frame is a function with a source line, or the state of a thread that is not working. The line is the one
 * being executed in the innermost function, and the line of the call in every other function. Only the
 * innermost frame of a stack can be a state. */
struct trace_frame {
    uint32_t function; /* number of the function, starting at 1 */
    int line;          /* 0: unknown */
    uint8_t state;     /* state; PROFILE_TIME_WORK: the frame is a function */
};

struct trace_stack {
    uint32_t parent; /* number of the stack without this frame, which is that of the caller; 0: none */
    uint32_t frame;
    /* whether the stack has been written; some formats write only the stacks that samples use */
    bool written;
};

/* Functions, frames and stacks are numbered from 1. A stack has a larger number than its parent. A function
 * that occurs in several profiles is listed once, if its name, source file, line and module are equal in all
 * of them. */
struct trace_stacks {
    const struct rows *rows;            /* rows of the profile whose spans are being read */
    const struct row_label **functions; /* the function with number n is functions[n - 1] */
    struct trace_frame *frames;
    struct trace_stack *stacks;
    size_t function_count, function_room, frame_count, frame_room, stack_count, stack_room;
    struct pair_map label_map, function_map, frame_map, stack_map, span_map;
    struct strings *texts;
};

extern const char *const trace_state_name[PROFILE_TIME_STATES];
/* For each state, the label of the innermost frame of a thread in that state. Work has no such frame, so its
 * name is NULL. */
extern const struct row_label trace_state_label[PROFILE_TIME_STATES];

void export_trace_stacks_start(struct trace_stacks *stacks);
/* Selects the profile to which the spans read from now on belong. */
void export_trace_stacks_of(struct trace_stacks *stacks, const struct rows *rows);
/* Returns the number of the stack for the node and state of a span, and adds the stack if it is new. */
uint32_t export_trace_stack(struct trace_stacks *stacks, uint32_t node, uint8_t state);
void export_trace_stacks_free(struct trace_stacks *stacks);

static inline uint32_t export_trace_row(const struct rows *rows, uint32_t node)
{
    return row_of_node(rows, node);
}

#endif
