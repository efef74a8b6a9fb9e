/* Captures contexts: walks the stack, cuts the path at the task's boundary, and finds the path's node below
 * the context of the region (docs/call-paths.md). The trie (PROFILE_NODE_TRIE) is the part of a thread's tree
 * that stores the contexts of regions, created tasks and probes. Its nodes never change. */
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
    LEAF_RUNTIME, /* if the thread is inside the runtime: the runtime's row */
    LEAF_USER,    /* the innermost user frame, even if the thread is inside the runtime (for locks) */
};

struct capture {
    uint32_t node_idx; /* node of the context; 0: nothing was captured, for the reason in `cause` */
    bool in_runtime;   /* the innermost frame belongs to the OpenMP runtime: the time is overhead */
    enum profile_drop cause;
};

/* Returns true if the program's code is on the calling thread's stack, or if the walk cannot tell. [owner] */
bool capture_program_calls(struct thread *thread);

/* Returns true if the calling thread is inside exit(), so the process is ending. [owner] */
bool capture_process_exits(struct thread *thread);

/* Returns the context that the sampling signal interrupted. [handler] */
struct capture capture_interrupted(struct thread *thread, const ucontext_t *context, enum leaf leaf);

/* Returns the node for a sleeping thread whose context, node_idx, has just been captured. If the thread waits
 * for Python's interpreter lock, this is a node below node_idx that also shows the lock's holder, if known.
 * [handler] */
uint32_t capture_interpreter_wait(struct thread *thread, uint32_t node_idx);

/* Returns the node of the thread's current MPI call, below the context of the caller. Frames inside MPI are
 * left out. [handler] */
struct capture capture_mpi(struct thread *thread);

/* Returns the context of the user code that led to the current callback. Call it between thread_enter_tool()
 * and thread_leave_tool(). [owner] */
struct capture capture_callback(struct thread *thread, enum leaf leaf);

/* The result of a walk that begins at a task's creation or at the start of a probe. thread->path has the path
 * itself: keys[0] is the frame of the calling function, the last key is the task's first frame. */
struct capture_creation {
    /* trie node of the creating task's context; for a probe, trie node of its callers */
    uint32_t creator;
    bool complete; /* the walk reached the first frame of the calling task, or BLAME_DEPTH frames */
    bool cut;      /* the path was cut after BLAME_DEPTH frames */
};

/* Walks from the callback of a task's creation to the first frame of the creating task. Notes the frames in
 * memo, unless it is NULL. Call it between thread_enter_tool() and thread_leave_tool(). [owner] */
void capture_creation(struct thread *thread, struct creation_memo *memo, struct capture_creation *result);

/* Walks from the start of a probe to the innermost open probe or to the task's first frame, and fills in
 * fresh->task. Notes the frames in memo, unless it is NULL. Leaves out the first `inside` frames: the
 * function that begins the probe and, where there is one, its caller on whose behalf it does so. Call it
 * between thread_enter_tool() and thread_leave_tool(). [owner] */
void capture_probe(struct thread *thread, size_t inside, struct creation_memo *memo, struct probe_open *fresh,
                   struct capture_creation *result);

/* Returns the node of an open probe; 0 if there is no room. [handler] */
uint32_t capture_probe_node(struct thread *thread, struct probe_open *probe);

/* Converts an absolute code address to a PROFILE_KEY. [handler] */
uint64_t capture_key(uintptr_t address);

/* Returns the node for time between regions and at joins, when no user frame is on the stack. The node is
 * below the region, or below the root if region is NULL. [handler] */
uint32_t capture_region_end(struct thread *thread, struct region *region);

/* Walks the stack of the task that encountered the region, and publishes the region's context. [owner] */
void capture_region_context(struct thread *thread, struct region *region);

#endif
