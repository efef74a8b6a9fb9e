/* The distinct stacks of a trace's spans, as a tree. Formats list each function, frame and stack once and
 * refer to its number. Entries are added while spans are read. */
#ifndef BLAME_COMMAND_EXPORT_TRACE_STACKS_H
#define BLAME_COMMAND_EXPORT_TRACE_STACKS_H

#include "cct/profile_time.h"
#include "command/profile/pair_map.h"
#include "command/profile/trace.h"
#include "command/rows/row.h"
#include "command/text/strings.h"

/* A frame: a function with a source line, or the state of a thread that is not working. The line is that of
 * the call, or, in the innermost frame, the one being executed. A state is always the innermost frame. */
struct trace_frame {
    uint32_t function; /* number of the function, starting at 1 */
    int line;          /* 0: unknown */
    uint8_t state;     /* state that the frame stands for; PROFILE_TIME_WORK: the frame is a function */
};

struct trace_stack {
    uint32_t parent; /* number of the caller's stack; 0: none */
    uint32_t frame;
    bool written; /* whether the format has written the stack; some formats list only the stacks of samples */
};

/* Functions, frames and stacks have numbers starting at 1. A stack's parent has a smaller number than the
 * stack. Functions of different profiles are the same if they have the same name, source file, line and
 * module. */
struct trace_stacks {
    const struct rows *rows;            /* rows of the current profile */
    const struct row_label **functions; /* number n is functions[n - 1] */
    struct trace_frame *frames;
    struct trace_stack *stacks;
    size_t function_count, function_room, frame_count, frame_room, stack_count, stack_room;
    struct pair_map label_map, function_map, frame_map, stack_map, span_map;
    struct strings *texts;
};

extern const char *const trace_state_name[PROFILE_TIME_STATES];
/* For each state, the label of the frame that stands for it inside the context's frames. Work has no frame;
 * its name is NULL. */
extern const struct row_label trace_state_label[PROFILE_TIME_STATES];

void trace_stacks_start(struct trace_stacks *stacks);
/* Selects the profile that later spans belong to. */
void trace_stacks_of(struct trace_stacks *stacks, const struct rows *rows);
/* Returns the number of the stack for a span's node and state. Adds the stack if it is new. */
uint32_t trace_stack(struct trace_stacks *stacks, uint32_t node, uint8_t state);
void trace_stacks_free(struct trace_stacks *stacks);

static inline uint32_t trace_row(const struct rows *rows, uint32_t node)
{
    return row_of_node(rows, node);
}

#endif
