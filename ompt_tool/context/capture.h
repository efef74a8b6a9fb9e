/* Captures contexts: walks the stack, ends the path at the task's boundary, and finds the path's node below
 * the context of the region (docs/call-paths.md). The trie (PROFILE_NODE_TRIE) is the part of a thread's tree
 * that stores the contexts of regions, created tasks and probes. (A probe is a phase, event or parameter that
 * the program declares.) The trie's nodes never change. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CAPTURE_H
#define BLAME_OMPT_TOOL_CONTEXT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

struct creation_memo;
struct probe_open;

/* The row in which a captured context ends. */
enum leaf {
    /* the runtime's row, if the thread is inside the runtime; otherwise the innermost user frame */
    LEAF_RUNTIME,
    LEAF_USER, /* the innermost user frame, even if the thread is inside the runtime (for locks) */
};

struct capture {
    uint32_t node_idx; /* node of the context; 0: none could be captured, for the reason in `cause` */
    /* true if the innermost frame belongs to the OpenMP runtime, so that the time is overhead */
    bool in_runtime;
    enum profile_drop cause;
};

/* Returns true if code of the program is on the calling thread's stack, or if the walk cannot tell. [owner] */
bool capture_program_calls(struct thread *thread);

/* Returns true if the calling thread is inside exit(), which means that the process is ending. [owner] */
bool capture_process_exits(struct thread *thread);

/* Returns the context that the sampling signal interrupted. [handler] */
struct capture capture_interrupted(struct thread *thread, const ucontext_t *context, enum leaf leaf);

/* Returns the node for a sleeping thread whose context, node_idx, has just been captured: normally node_idx.
 * If the thread waits for the lock of Python's interpreter, returns a node below node_idx for this wait,
 * which also shows the lock's holder if it is known. [handler] */
uint32_t capture_interpreter_wait(struct thread *thread, uint32_t node_idx);

/* Returns the node of the thread's current MPI call, below the context of its caller. Frames inside MPI are
 * omitted. [handler] */
struct capture capture_mpi(struct thread *thread);

/* Returns the context of the user code that led to the current callback. Must be called between
 * thread_enter_tool() and thread_leave_tool(). [owner] */
struct capture capture_callback(struct thread *thread, enum leaf leaf);

/* The result of a walk from a task's creation or from the start of a probe. The path itself is in
 * thread->path: keys[0] is the frame of the calling function, the last key is the task's first frame. */
struct capture_creation {
    /* trie node of the creating task's context; for a probe: trie node of the context that surrounds it */
    uint32_t creator;
    bool complete; /* true if the walk reached the first frame of the calling task, or BLAME_DEPTH frames */
    bool cut;      /* true if the path was truncated after BLAME_DEPTH frames */
};

/* Walks from the callback of a task's creation to the first frame of the creating task. Notes the frames in
 * `memo`, unless it is NULL. Must be called between thread_enter_tool() and thread_leave_tool(). [owner] */
void capture_creation(struct thread *thread, struct creation_memo *memo, struct capture_creation *result);

/* Walks from the start of a probe to the innermost open probe or to the task's first frame, and sets
 * fresh->task. Notes the frames in `memo`, unless it is NULL. Omits the first `inside` frames: the function
 * that begins the probe and, if that function is a wrapper, its caller. Must be called between
 * thread_enter_tool() and thread_leave_tool(). [owner] */
void capture_probe(struct thread *thread, size_t inside, struct creation_memo *memo, struct probe_open *fresh,
                   struct capture_creation *result);

/* Returns the node of an open probe; 0 if there is no room. [handler] */
uint32_t capture_probe_node(struct thread *thread, struct probe_open *probe);

/* Converts a run-time code address to a PROFILE_KEY. [handler] */
uint64_t capture_key(uintptr_t address);

/* Returns the node for time between regions and at joins, when no user frame is on the stack. The node is
 * below the region's context, or below the root if `region` is NULL. [handler] */
uint32_t capture_region_end(struct thread *thread, struct region *region);

/* Walks the stack of the task that encountered the region, and publishes the region's context. [owner] */
void capture_region_context(struct thread *thread, struct region *region);

#endif
