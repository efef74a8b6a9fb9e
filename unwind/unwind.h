/* Call paths: one frame after the other, from an interrupted or a calling context outward. libunwind does the
 * steps, on its own address space a thread, with all memory reads through us: stack reads are checked against
 * the stack's bounds, unwind tables come from the load map's views. So a step takes no lock, cannot fault,
 * and its cache is touched by one thread only (guarantee U1; the unwinder of a thread is never entered twice
 * at once: T1). */
#ifndef BLAME_UNWIND_UNWIND_H
#define BLAME_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "unwind/loadmap.h"

#define UNWIND_REGISTERS 17 /* libunwind's x86-64 numbers: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */

struct unwind_frame {
    uintptr_t ip;    /* where to look things up: inside the instruction (a caller's return address - 1) */
    uintptr_t stack; /* stack pointer in this frame */
    uintptr_t cfa;   /* stack pointer in the calling frame, before the call; 0 for the outermost frame */
    const struct loadmap_range *range; /* executable mapping that holds ip, NULL if none does */
};

enum unwind_result {
    UNWIND_FRAME,  /* *frame is valid */
    UNWIND_END,    /* the outermost frame has been delivered */
    UNWIND_BROKEN, /* the path breaks here: the rest is unknown */
};

struct unwinder {
    void *cursor; /* unw_cursor_t, in the thread's own mapping */
    void *space;  /* unw_addr_space_t */
    uintptr_t registers[UNWIND_REGISTERS];
    uintptr_t stack_begin; /* the stack pointer at the walk's begin */
    uintptr_t
        stack_low; /* what can be read directly in this walk: [stack_low, stack_high), perhaps nothing */
    uintptr_t stack_high;
    uintptr_t own_stack_low, own_stack_high; /* this thread's stack */
    uint32_t generation;                     /* of the load map that libunwind's cache belongs to */
    bool exact;                              /* the next address is no return address */
    bool refreshed;                          /* the load map was read again in this walk */
    bool done, broken;
    uint64_t frames, slow_reads;
};

/* Learns where handlers return to, from a signal that has a handler: paths through the program's own
 * handlers. [init] */
void unwind_note_trampoline(int signal);

/* Prepares a thread's unwinder; false when there is no memory. [owner] */
bool unwinder_init(struct unwinder *unwinder);

/* Makes the calling thread the unwinder's thread: its stack's bounds, and a first walk that warms it up.
 * [owner] */
void unwinder_attach(struct unwinder *unwinder);

/* Starts a walk where a signal interrupted the thread. [handler] */
void unwinder_start_at(struct unwinder *unwinder, const ucontext_t *context);

/* Starts a walk in the calling function (the caller is its first frame). [handler] */
void unwinder_start_here(struct unwinder *unwinder);

/* The next frame. frames are validated: the stack pointer grows, the address is executable. [handler] */
enum unwind_result unwinder_next(struct unwinder *unwinder, struct unwind_frame *frame);

#endif
