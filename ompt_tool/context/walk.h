/* Walks a stack task by task, and finds where user code, the runtime and tasks begin and end. The boundary of
 * a task is the frame of the runtime that called the task's code. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_WALK_H
#define BLAME_OMPT_TOOL_CONTEXT_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "ompt_tool/context/levels.h"
#include "ompt_tool/session/thread.h"
#include "unwind/python.h"
#include "unwind/r.h"
#include "unwind/unwind.h"

struct creation_memo;
struct probe_open;

/* The part of the path that comes from an interpreter (Python or R). */
struct walk_python {
    bool found;  /* the path has frames of a script */
    size_t glue; /* number of keys before index `end` that are frames of the interpreter itself */
    size_t end;
};

/* The state of a walk. `at` is the first frame that has not been consumed. */
struct walk {
    struct unwinder *unwinder;
    const struct thread *thread;
    struct unwind_frame at;
    enum unwind_result have;   /* UNWIND_FRAME: `at` is valid */
    const struct level *place; /* level of the walk's task */
    uint32_t passed;           /* number of levels that the walk has looked at */
    struct task_level level;
    bool has_level;
    struct task_level stale; /* innermost level that was skipped because its exit address is stale */
    const struct level *stale_place;
    bool has_stale;
    /* bounds of the stack; only frame addresses inside them can be compared */
    uintptr_t stack_low, stack_high;
    struct python_walk python;
    struct r_walk r; /* begun at the same time as `python`; in_r: the current frame belongs to R */
    bool in_r;
    struct walk_python python_path;
    struct creation_memo *memo;      /* notes the walk's frames; may be NULL */
    struct probe_open *probe;        /* innermost probe that the walk's task has open, or NULL */
    const struct level *probe_place; /* level for which `probe` was looked up */
    bool probe_stale;                /* value of has_stale when `probe` was looked up */
    bool has_probes;                 /* the thread has open probes */
    bool past_probe;                 /* the walk goes on past the probe, to the task's boundary */
    struct probe_open *inside;       /* the probe at which the walk ended */
    bool on_fiber; /* the walk ended on a stack that the program created; level: the task that runs there */
};

/* Prepares all walks. Call it once, before the first. [init] */
void walk_init(void);

/* Begins a walk at the current task and at the frame where the thread's unwinder was started. [handler] */
void walk_begin(struct walk *walk, struct thread *thread);

/* Moves the walk to the next task out. Returns false if there is none. [handler] */
bool walk_next_level(struct walk *walk);

/* Walks the frames of one task, from walk->at outward, up to the task's boundary, its innermost open probe
 * (walk->inside) or the stack's end. Returns true at a boundary or a probe. Frames of the runtime at the
 * inner end, with all that the runtime called, become path->runtime_key. Frames of the runtime further out
 * are left out, so that user code which the runtime called (a reduction) is below the user code that called
 * the runtime. [handler] */
bool walk_task(struct walk *walk, struct path *path);

/* Continues a walk that ended at a probe, up to the task's boundary. Returns false if there is none. path
 * receives the frames on the way. [handler] */
bool walk_leave_probe(struct walk *walk, struct path *path);

/* Returns the key of a frame, for a node of the tree. [handler] */
uint64_t walk_key(const struct unwind_frame *frame);

/* Returns true if code between low and high is on the calling thread's stack. Call it after
 * unwinder_start_here(). [owner] */
bool walk_finds_code(struct thread *thread, uintptr_t low, uintptr_t high);

/* Returns true if the program's code is on the calling thread's stack, or if the walk cannot tell. Call it
 * after unwinder_start_here(). [owner] */
bool walk_finds_program(struct thread *thread);

#endif
