/* From a stack to a context: walks, cuts at task boundaries, files below regions (design:
 * docs/call-paths.md). */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CAPTURE_H
#define BLAME_OMPT_TOOL_CONTEXT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

struct creation_memo;
struct probe_open;

/* What the leaf of a context is. */
enum leaf {
    LEAF_RUNTIME, /* a runtime row for time inside the runtime */
    LEAF_USER,    /* the innermost user frame, whatever it called (for locks) */
};

/* A captured context. */
struct capture {
    uint32_t node_idx; /* 0: nothing could be captured, for the reason in cause */
    bool in_runtime;   /* the leaf is inside the OpenMP runtime: overhead */
    enum profile_drop cause;
};

/* Returns true if the calling thread's stack has code of the program, or if that cannot be determined.
 * [owner] */
bool capture_program_calls(struct thread *thread);

/* Returns true if exit() is on the calling thread's stack: the process ends. [owner] */
bool capture_process_exits(struct thread *thread);

/* Returns the context that a signal interrupted. [handler] */
struct capture capture_interrupted(struct thread *thread, const ucontext_t *context, enum leaf leaf);

/* Returns the node for a sleeping thread's context, just captured. If it waits for the interpreter's lock,
 * that is a node below it, with the lock's holder if known. [handler] */
uint32_t capture_interpreter_wait(struct thread *thread, uint32_t node_idx);

/* Returns the MPI call that the thread is in, below the context that called it; frames inside MPI are left
 * out. [handler] */
struct capture capture_mpi(struct thread *thread);

/* Returns the context of the user code that led to this callback. The thread is in the tool. [owner] */
struct capture capture_callback(struct thread *thread, enum leaf leaf);

/* The result of a walk from a task's creation, or from the start of a phase, event or parameter. The path
 * itself is in thread->path, from the calling function (its frame is keys[0]) to the task's first frame. */
struct capture_creation {
    /* context of the task that the walk ended in; for a probe, its callers' context in the trie */
    uint32_t creator;
    bool complete; /* the walk ended in the calling task, or the path was cut before */
    bool cut;      /* BLAME_DEPTH cut the path */
};

/* Walks from a creation's callback to the first frame of the creating task. memo, unless NULL, notes the
 * frames. The thread is in the tool. [owner] */
void capture_creation(struct thread *thread, struct creation_memo *memo, struct capture_creation *result);

/* Walks from the start of a probe to the innermost open one or the task's first frame, and fills fresh->task;
 * memo as above. The first `inside` frames are not callers: the function that begins the probe, and one that
 * does so on its behalf. The thread is in the tool. [owner] */
void capture_probe(struct thread *thread, size_t inside, struct creation_memo *memo, struct probe_open *fresh,
                   struct capture_creation *result);

/* Returns the node of an open phase, event or parameter; 0 without room. [handler] */
uint32_t capture_probe_node(struct thread *thread, struct probe_open *probe);

/* Returns an absolute address as a PROFILE_KEY. [handler] */
uint64_t capture_key(uintptr_t address);

/* Returns the node for time between regions and at joins, where no user frame is on the stack: below a
 * region, or below the root for NULL. [handler] */
uint32_t capture_region_end(struct thread *thread, struct region *region);

/* Walks the encountering task's stack and publishes the region's context. [owner] */
void capture_region_context(struct thread *thread, struct region *region);

#endif
