/* Walks over one stack, task by task: where user code, the runtime and tasks begin and end. */
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

/* What a path contains of a Python interpreter. */
struct walk_python {
    bool found;  /* the path has Python frames */
    size_t glue; /* number of keys before `end` that are the interpreter's own frames */
    size_t end;
};

/* A walk; `at` is the first frame not yet consumed. */
struct walk {
    struct unwinder *unwinder;
    const struct thread *thread;
    struct unwind_frame at;
    enum unwind_result have;   /* UNWIND_FRAME: at is valid */
    const struct level *place; /* the walk's task among the thread's levels */
    uint32_t passed;           /* levels further in */
    struct task_level level;
    bool has_level;
    struct task_level stale; /* the innermost level with a stale or missing exit address */
    const struct level *stale_place;
    bool has_stale;
    uintptr_t stack_low, stack_high; /* the stack's bounds: only frame addresses inside can be compared */
    struct python_walk python;
    struct r_walk r; /* begun together with python; in_r: the frame is R's */
    bool in_r;
    struct walk_python python_path;
    struct creation_memo *memo;      /* notes the frames; may be NULL */
    struct probe_open *probe;        /* the innermost probe that the walk's task has open, or NULL */
    const struct level *probe_place; /* level for which probe was looked up */
    bool probe_stale;                /* value of has_stale at that look-up */
    bool has_probes;                 /* the thread has open probes */
    bool past_probe;                 /* the walk continues past the probe, to the task's boundary */
    struct probe_open *inside;       /* probe around which the walk's last frame is */
    bool on_fiber; /* the walk ended on a stack that the program made; level is the task that runs there */
};

/* Prepares all walks; called once, first. [init] */
void walk_init(void);

/* Begins a walk with the current task, at the frame where the thread's unwinder was started. [handler] */
void walk_begin(struct walk *walk, struct thread *thread);

/* Goes to the task around the walk's; returns false if there is none. [handler] */
bool walk_next_level(struct walk *walk);

/* Walks one task's frames, from walk->at outward, up to its boundary, its innermost open probe (walk->inside)
 * or the stack's end. Returns true at a boundary or a probe. Leading frames of the runtime, with all that the
 * runtime called, become path->runtime_key. Runtime frames further out are left out: user code that the
 * runtime called in between (a reduction) belongs below the user code around it. [handler] */
bool walk_task(struct walk *walk, struct path *path);

/* Continues from the probe where a walk ended to its task's boundary; returns false if there is none.
 * Overwrites path with the frames passed. [handler] */
bool walk_leave_probe(struct walk *walk, struct path *path);

/* Returns a frame's key for the tree. [handler] */
uint64_t walk_key(const struct unwind_frame *frame);

/* Returns true if code between low and high is on the calling thread's stack. The unwinder was started here.
 * [owner] */
bool walk_finds_code(struct thread *thread, uintptr_t low, uintptr_t high);

/* Returns true if the calling thread's stack has code of the program, or if that cannot be determined. The
 * unwinder was started here. [owner] */
bool walk_finds_program(struct thread *thread);

#endif
