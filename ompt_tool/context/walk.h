/* Walks over one stack, task by task: where user code, the runtime and tasks begin and end on it. */
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

/* What a path has of an interpreter of Python's. */
struct walk_python {
    bool found;  /* the path has Python frames */
    size_t glue; /* so many keys before `end` are the interpreter's own */
    size_t end;
};

/* `at` is the first frame that was not consumed. */
struct walk {
    struct unwinder *unwinder;
    const struct thread *thread;
    struct unwind_frame at;
    enum unwind_result have;   /* UNWIND_FRAME: at is valid */
    const struct level *place; /* of the walk's task among the thread's levels */
    uint32_t passed;           /* levels further in */
    struct task_level level;
    bool has_level;
    struct task_level stale; /* the innermost level whose exit address was found to be stale, or is missing */
    const struct level *stale_place;
    bool has_stale;
    uintptr_t stack_low, stack_high; /* only frame addresses on this stack can be compared */
    struct python_walk python;
    struct r_walk r; /* begun with python, in_r: the frame is R's */
    bool in_r;
    struct walk_python python_path;
    struct creation_memo *memo;      /* takes note of the frames, or NULL */
    struct probe_open *probe;        /* the innermost one that the walk's task has open, NULL for none */
    const struct level *probe_place; /* looked up for this level */
    bool probe_stale;                /* with this has_stale */
    bool has_probes;                 /* the thread has some open */
    bool past_probe;                 /* goes on behind it, to the task's boundary */
    struct probe_open *inside;       /* the walk's last frame is the one around it */
    bool on_fiber; /* the walk ended on a stack that the program made; level is the task that runs there */
};

/* Once, before anything else here. [init] */
void walk_init(void);

/* Begins with the current task, at the frame that the thread's unwinder was started at. [handler] */
void walk_begin(struct walk *walk, struct thread *thread);

/* The task around the walk's; false when there is none. [handler] */
bool walk_next_level(struct walk *walk);

/* One task's frames, from walk->at outward, up to its boundary, the innermost probe that it has open
 * (walk->inside) or the stack's end; true at a boundary or a probe. Leading frames of the runtime, with
 * whatever the runtime called, become path->runtime_key; runtime frames further out are left out: user code
 * that the runtime called in between (a reduction) belongs below the user code around it. [handler] */
bool walk_task(struct walk *walk, struct path *path);

/* Goes on from the probe that a walk ended at to its task's boundary; false when there is none. What is
 * passed is written to path. [handler] */
bool walk_leave_probe(struct walk *walk, struct path *path);

/* A frame's address as the tree has it. [handler] */
uint64_t walk_key(const struct unwind_frame *frame);

/* True if code between low and high is on the calling thread's stack. The unwinder was started here. [owner] */
bool walk_finds_code(struct thread *thread, uintptr_t low, uintptr_t high);

/* True if there is code of the program on the calling thread's stack, or if that cannot be told. The unwinder
 * was started here. [owner] */
bool walk_finds_program(struct thread *thread);

#endif
