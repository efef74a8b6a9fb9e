/* Walks a stack task by task, and finds where user code, the runtime and tasks begin and end. The boundary of
 * a task is the runtime's frame that called the task's code. */
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
    bool found;  /* true if the path has frames of a script */
    size_t glue; /* number of keys directly before index `end` that are frames of the interpreter itself */
    size_t end;
};

/* The state of a walk. `at` is the first frame that is not yet part of a path. */
struct walk {
    struct unwinder *unwinder;
    const struct thread *thread;
    struct unwind_frame at;
    enum unwind_result have;   /* `at` is valid if this is UNWIND_FRAME */
    const struct level *place; /* level of the walk's task */
    uint32_t passed;           /* number of levels that the walk has examined */
    struct task_level level;
    bool has_level;
    struct task_level stale; /* innermost level that was skipped because its exit address is stale */
    const struct level *stale_place;
    bool has_stale;
    /* bounds of the stack; only addresses of frames within them can be compared */
    uintptr_t stack_low, stack_high;
    struct python_walk python;
    struct r_walk r; /* begun when `python` is begun; if in_r is true, the current frame belongs to R */
    bool in_r;
    struct walk_python python_path;
    struct creation_memo *memo;      /* receives the walk's frames; may be NULL */
    struct probe_open *probe;        /* innermost open probe of the walk's task; NULL: none */
    const struct level *probe_place; /* level for which `probe` was looked up */
    bool probe_stale;                /* value of has_stale when `probe` was looked up */
    /* true if the thread waits for a lock: libc's frames below our wrapper of the lock's function are then omitted */
    bool in_lock;
    bool has_probes;           /* true if the thread has open probes */
    bool past_probe;           /* true if the walk continues after the probe, to the task's boundary */
    struct probe_open *inside; /* the probe at which the walk ended; NULL: none */
    /* true if the walk ended on a stack that the program created; `level` is then the task that runs there */
    bool on_fiber;
};

/* Prepares all walks. Must be called once, before the first walk. [init] */
void walk_init(void);

/* Begins a walk with the current task, at the frame where the thread's unwinder was started. [handler] */
void walk_begin(struct walk *walk, struct thread *thread);

/* Moves the walk to the next outer task. Returns false if there is none. [handler] */
bool walk_next_level(struct walk *walk);

/* Walks the frames of one task, from walk->at outward, to the task's boundary, its innermost open probe
 * (walk->inside) or the end of the stack. Returns true at a boundary or a probe. Frames of the runtime at the
 * inner end, with everything that the runtime called, become path->runtime_key. Other frames of the runtime
 * are omitted: user code that the runtime called (a reduction) then appears below the user code that called
 * the runtime. [handler] */
bool walk_task(struct walk *walk, struct path *path);

/* Continues a walk that ended at a probe, to the task's boundary. Returns false if there is none. The frames
 * in between are stored in `path`. [handler] */
bool walk_leave_probe(struct walk *walk, struct path *path);

/* Returns the key for a frame's node in the tree. [handler] */
uint64_t walk_key(const struct unwind_frame *frame);

/* Returns true if a frame on the calling thread's stack executes code between low and high. Must be called
 * after unwinder_start_here(). [owner] */
bool walk_finds_code(struct thread *thread, uintptr_t low, uintptr_t high);

/* Returns true if a frame on the calling thread's stack executes the program's code, or if the walk cannot
 * tell. Must be called after unwinder_start_here(). [owner] */
bool walk_finds_program(struct thread *thread);

#endif
