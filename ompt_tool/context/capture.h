/* From a stack to a context: walks, cuts at task boundaries, files below regions (design: docs/call-paths.md). */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CAPTURE_H
#define BLAME_OMPT_TOOL_CONTEXT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

struct creation_memo;
struct probe_open;

/* What the leaf of a context becomes. */
enum leaf {
    LEAF_RUNTIME, /* time inside the runtime gets a runtime row */
    LEAF_USER,    /* the innermost user frame, whatever it called: locks */
};

/* A captured context. */
struct capture {
    uint32_t node_idx; /* 0: nothing could be captured (*cause says why) */
    bool in_runtime;   /* the leaf is inside the OpenMP runtime: overhead */
    enum profile_drop cause;
};

/* True if there is code of the program on the calling thread's stack, or if that cannot be told. [owner] */
bool capture_program_calls(struct thread *thread);

/* True if exit() is on the calling thread's stack: the process ends. [owner] */
bool capture_process_exits(struct thread *thread);

/* The context that a signal interrupted. [handler] */
struct capture capture_interrupted(struct thread *thread, const ucontext_t *context, enum leaf leaf);

/* What an asleep thread's context, just captured, is if it waits for the interpreter's lock: below it who has that. [handler] */
uint32_t capture_interpreter_wait(struct thread *thread, uint32_t node_idx);

/* The call of MPI's that the thread is in, below the context that called it: whatever MPI does inside. [handler] */
struct capture capture_mpi(struct thread *thread);

/* The context of the user code that led to this callback; the thread is in the tool. [owner] */
struct capture capture_callback(struct thread *thread, enum leaf leaf);

/* What a walk from a task's creation, or from the begin of a phase, event or parameter, found. The path itself, from the
 * calling function (its frame is keys[0]) to the task's first frame, is in thread->path. */
struct capture_creation {
    uint32_t creator; /* context of the task that the walk ended in; of a probe's callers, in the trie */
    bool complete;    /* that was the calling task, or the path was cut before */
    bool cut;         /* by BLAME_DEPTH */
};

/* Walks from a creation's callback to the first frame of the creating task; memo, unless NULL, takes note of
 * the frames. The thread is in the tool. [owner] */
void capture_creation(struct thread *thread, struct creation_memo *memo, struct capture_creation *result);

/* Walks from the begin to the innermost open one or the task's first frame, and fills fresh->task; memo as above. The first
 * `inside` frames are not callers: that of the function that begins it, and of one that does so for it. The thread is in the
 * tool. [owner] */
void capture_probe(struct thread *thread, size_t inside, struct creation_memo *memo, struct probe_open *fresh,
                   struct capture_creation *result);

/* The node of an open phase, event or parameter; 0 when there is no room. [handler] */
uint32_t capture_probe_node(struct thread *thread, struct probe_open *probe);

/* An absolute address as a PROFILE_KEY. [handler] */
uint64_t capture_key(uintptr_t address);

/* The node for time between regions and at joins, where no user frame is on the stack, below a region (or
 * below the root for NULL). [handler] */
uint32_t capture_region_end(struct thread *thread, struct region *region);

/* Walks the encountering task's stack and publishes the region's context. [owner] */
void capture_region_context(struct thread *thread, struct region *region);

#endif
