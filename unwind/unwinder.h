/* The state of a thread's walks and their results (unwind/unwind.h). */
#ifndef BLAME_UNWIND_UNWINDER_H
#define BLAME_UNWIND_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/loadmap.h"
#include "unwind/recipe.h"

#define UNWIND_SURE 4u
#if defined(__x86_64__)
#define UNWIND_REGISTERS 17 /* libunwind's numbers: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */
#define UNWIND_ARGUMENT  5  /* register number of rdi: the first argument of a system call */
#else
#define UNWIND_REGISTERS 33 /* x0..x30 sp pc */
/* x0; after an interrupted call it has the call's result and is not usable as the argument */
#define UNWIND_ARGUMENT  0
#endif

struct unwind_frame {
    uintptr_t ip;    /* address for lookups, inside the instruction (for a caller: return address - 1) */
    uintptr_t stack; /* stack pointer of this frame */
    uintptr_t cfa;   /* stack pointer of the calling frame before the call; 0 for the outermost frame */
    const struct loadmap_range *range;   /* executable mapping that contains ip; NULL: none */
    const struct loadmap_module *module; /* module of the range; NULL: it has no file */
    struct recipe recipe;                /* how cfa and the caller's rbp were found */
};

enum unwind_result {
    UNWIND_FRAME,  /* *frame is valid */
    UNWIND_END,    /* the outermost frame has been delivered */
    UNWIND_BROKEN, /* the path breaks here, and the rest is unknown */
};

/* What a recipe needs of a frame, and returns for its caller. */
struct unwind_registers {
    uintptr_t ip, stack;
    uintptr_t rbp; /* x29 on aarch64; 0 if unknown */
};

struct unwind_entry;
struct decoder;
struct python_codes;

struct unwinder {
    struct unwind_registers at; /* the next frame */
    enum unwind_result end;     /* result of the next call if it is no frame */
    bool exact;                 /* true if the next address is no return address */
    bool libunwind_only;        /* no recipes; for tests that compare with libunwind */
    bool code_only;             /* no call frame information; for tests that compare with it */
    /* true if the walk's frames are calls, whose code cannot be unloaded meanwhile */
    bool calling;
    bool refreshed;  /* true if the load map was read again in this walk */
    uint32_t learnt; /* unknown modules that this walk has asked for */
    uint32_t sure_count;
    /* ranges checked in this walk, which need no second check */
    const struct loadmap_range *sure[UNWIND_SURE];
    bool cursor_valid;           /* true if libunwind takes part in this walk */
    uint32_t generation;         /* generation of the load map for which the caches hold */
    struct decoder *decoder;     /* made at the first code without call frame information */
    struct python_codes *python; /* made at the first frame of the interpreter */
    struct unwind_entry *cache;  /* recipes by address, in a mapping of the thread */
    uintptr_t stack_begin;       /* stack pointer at the start of the walk */
    uintptr_t stack_low;         /* range that this walk may read directly, [stack_low, stack_high); may be empty */
    uintptr_t stack_high;
    uintptr_t own_stack_low, own_stack_high; /* stack of this thread */
    uintptr_t registers[UNWIND_REGISTERS];   /* registers at the start of the walk */
    void *cursor;                            /* unw_cursor_t, in a mapping of the thread */
    void *space;                             /* unw_addr_space_t */
    const struct loadmap_module *tables;     /* module whose tables libunwind reads */
    uintptr_t tables_bias;                   /* load bias of those tables */
    uint64_t cursor_frame;                   /* number of the walk's frame at libunwind's cursor */
    uint64_t frames_before;                  /* value of `frames` at the start of the walk */
    /* Counts since the thread was attached. frames = steps by recipe + sum of slow_steps + paths broken at an
     * address without code. */
    uint64_t frames;
    /* recipes read from call frame information, since the cache did not have the address */
    uint64_t recipes_read;
    uint64_t slow_steps[RECIPE_CAUSES]; /* steps taken by libunwind */
    uint64_t decoded_steps;             /* steps by recipes that were decoded from code */
    uint64_t steps_again;               /* steps of libunwind over frames that recipes had passed */
    /* walks in which libunwind came to another frame and began again with an empty cache */
    uint64_t restarts;
    /* walks in which it came to another frame even then; such a path is broken */
    uint64_t disagreements;
    uint64_t slow_reads; /* words outside the directly readable part of the stack */
    uintptr_t link;      /* aarch64's x30 where a signal interrupted */
};

#endif
