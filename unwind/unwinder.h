/* The state and the results of a thread's walks (unwind/unwind.h). */
#ifndef BLAME_UNWIND_UNWINDER_H
#define BLAME_UNWIND_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/loadmap.h"
#include "unwind/recipe.h"

#define UNWIND_SURE 4u
#if defined(__x86_64__)
#define UNWIND_REGISTERS 17 /* numbered as in libunwind: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */
#define UNWIND_ARGUMENT  5  /* number of rdi, which holds the first argument of a system call */
#else
#define UNWIND_REGISTERS 33 /* numbered as in libunwind: x0..x30 sp pc */
/* number of x0, which holds the first argument of a system call until the call returns, and then its result */
#define UNWIND_ARGUMENT  0
#endif

struct unwind_frame {
    /* address to use for lookups, inside the instruction (in a caller: return address - 1) */
    uintptr_t ip;
    uintptr_t stack;                     /* stack pointer of this frame */
    uintptr_t cfa;                       /* stack pointer of the caller before the call; 0 in the outermost frame */
    const struct loadmap_range *range;   /* executable mapping that contains ip; NULL: none */
    const struct loadmap_module *module; /* module of the range; NULL: the range has no file */
    struct recipe recipe;                /* recipe by which cfa and the caller's rbp were found */
};

enum unwind_result {
    UNWIND_FRAME,  /* *frame is valid */
    UNWIND_END,    /* the last frame was the outermost one */
    UNWIND_BROKEN, /* the walk cannot continue, so the outer callers are unknown */
};

/* The registers of a frame that recipes read, and that they compute for the frame's caller. */
struct unwind_registers {
    uintptr_t ip, stack;
    uintptr_t rbp; /* frame pointer (x29 on aarch64); 0 if unknown */
};

struct unwind_entry;
struct decoder;
struct python_codes;

struct unwinder {
    struct unwind_registers at; /* registers of the next frame */
    enum unwind_result end;     /* what the next call of unwinder_next() returns, if not UNWIND_FRAME */
    /* true if at.ip is the address of an interrupted instruction, not a return address */
    bool exact;
    bool libunwind_only; /* true: no recipes are used; for tests that compare with libunwind */
    bool code_only;      /* true: call frame information is ignored; for tests of the decoder */
    /* true if all frames of the walk are in the middle of calls, so that their code cannot be unloaded */
    bool calling;
    bool refreshed;  /* true if this walk has read the load map again */
    uint32_t learnt; /* number of unknown modules that this walk has looked up so far */
    uint32_t sure_count;
    /* ranges that this walk has found to be unchanged */
    const struct loadmap_range *sure[UNWIND_SURE];
    bool cursor_valid; /* true if libunwind's cursor is at a frame of this walk */
    /* generation of the load map (loadmap_generation()) for which the cached recipes are valid */
    uint32_t generation;
    /* made when the thread first meets code without call frame information; NULL until then */
    struct decoder *decoder;
    /* made when the thread first meets a frame of Python's interpreter; NULL until then */
    struct python_codes *python;
    uintptr_t python_state;     /* address at which the thread's Python state was found; 0: none yet */
    uint32_t python_rest;       /* number of walks until it is searched again */
    struct unwind_entry *cache; /* cached recipes by address, in a mapping of their own */
    uintptr_t stack_begin;      /* stack pointer of the innermost frame of the walk */
    /* bounds of the memory that this walk may read directly; may be empty */
    uintptr_t stack_low;
    uintptr_t stack_high;
    uintptr_t own_stack_low, own_stack_high; /* bounds of the thread's stack */
    uintptr_t registers[UNWIND_REGISTERS];   /* registers with which the walk starts */
    void *cursor;                            /* unw_cursor_t, in a mapping of its own */
    void *space;                             /* unw_addr_space_t */
    const struct loadmap_module *tables;     /* module whose unwind tables libunwind is reading */
    uintptr_t tables_bias;                   /* load bias of those tables */
    /* number of the frame at which libunwind's cursor is, counted in the walk */
    uint64_t cursor_frame;
    uint64_t frames_before; /* value of `frames` when the walk started */
    /* Counts since the thread was attached. `frames` counts steps by recipe, steps by libunwind (the sum of
     * slow_steps), and walks that broke at an address without code. */
    uint64_t frames;
    /* number of addresses that were not in the cache, so that their call frame information was read */
    uint64_t recipes_read;
    uint64_t slow_steps[RECIPE_CAUSES]; /* number of steps taken by libunwind, by cause */
    uint64_t decoded_steps;             /* number of steps by recipes that were found by decoding code */
    /* number of steps that libunwind took again to reach a frame that recipes had reached */
    uint64_t steps_again;
    /* number of walks in which libunwind did not reach that frame and was restarted with an empty cache */
    uint64_t restarts;
    /* number of walks in which libunwind did not reach that frame even after a restart, so that the path is
     * broken */
    uint64_t disagreements;
    uint64_t slow_reads; /* number of words read by a system call because they could not be read directly */
    uintptr_t link;      /* aarch64: value of x30 in the interrupted frame */
};

#endif
