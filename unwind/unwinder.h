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
/* number of x0, which holds the first argument of a system call; after an interrupted call it holds the
 * result instead */
#define UNWIND_ARGUMENT  0
#endif

struct unwind_frame {
    uintptr_t ip;    /* address for lookups, inside the instruction (of a caller: return address - 1) */
    uintptr_t stack; /* stack pointer of this frame */
    uintptr_t cfa;   /* stack pointer of the caller before the call; 0 for the outermost frame */
    const struct loadmap_range *range;   /* executable mapping that contains ip; NULL: none */
    const struct loadmap_module *module; /* module of the range; NULL: the range has no file */
    struct recipe recipe;                /* recipe by which cfa and the caller's rbp were found */
};

enum unwind_result {
    UNWIND_FRAME,  /* *frame is valid */
    UNWIND_END,    /* the outermost frame has been delivered */
    UNWIND_BROKEN, /* the walk cannot continue; callers further out are unknown */
};

/* The registers of a frame that recipes use, and that they compute for the frame's caller. */
struct unwind_registers {
    uintptr_t ip, stack;
    uintptr_t rbp; /* frame pointer (x29 on aarch64); 0 if unknown */
};

struct unwind_entry;
struct decoder;
struct python_codes;

struct unwinder {
    struct unwind_registers at; /* registers of the next frame */
    enum unwind_result end;     /* result of the next call of unwinder_next(), unless UNWIND_FRAME */
    /* true if at.ip is the address of an interrupted instruction, not a return address */
    bool exact;
    bool libunwind_only; /* uses no recipes; for tests that compare with libunwind */
    bool code_only;      /* ignores call frame information; for tests of the decoder */
    /* true if all frames of the walk are calls in progress, so that their code cannot be unloaded */
    bool calling;
    bool refreshed;  /* true if this walk has read the load map again */
    uint32_t learnt; /* number of unknown modules that this walk has looked up */
    uint32_t sure_count;
    /* ranges that this walk has found to be unchanged */
    const struct loadmap_range *sure[UNWIND_SURE];
    bool cursor_valid;           /* true if libunwind's cursor is at a frame of this walk */
    uint32_t generation;         /* generation of the load map for which the cached recipes are valid */
    struct decoder *decoder;     /* allocated when code without call frame information is first met */
    struct python_codes *python; /* allocated when a frame of Python's interpreter is first met */
    struct unwind_entry *cache;  /* cached recipes by address; a mapping of their own */
    uintptr_t stack_begin;       /* stack pointer of the innermost frame of the walk */
    /* start and end of the memory that this walk may read directly; may be empty */
    uintptr_t stack_low;
    uintptr_t stack_high;
    uintptr_t own_stack_low, own_stack_high; /* bounds of the thread's stack */
    uintptr_t registers[UNWIND_REGISTERS];   /* registers with which the walk starts */
    void *cursor;                            /* unw_cursor_t, in a mapping of its own */
    void *space;                             /* unw_addr_space_t */
    const struct loadmap_module *tables;     /* module whose unwind tables libunwind is reading */
    uintptr_t tables_bias;                   /* load bias of those tables */
    /* number of the frame at libunwind's cursor, counted in the walk */
    uint64_t cursor_frame;
    uint64_t frames_before; /* value of `frames` when the walk started */
    /* Counts since the thread was attached. `frames` is the number of steps by recipe, plus the sum of
     * slow_steps, plus the number of walks that broke at an address without code. */
    uint64_t frames;
    /* addresses that were not in the cache, so that their call frame information was read */
    uint64_t recipes_read;
    uint64_t slow_steps[RECIPE_CAUSES]; /* steps taken by libunwind, by cause */
    uint64_t decoded_steps;             /* steps by recipes that were found by decoding code */
    /* steps that libunwind repeated to reach a frame that recipes had passed */
    uint64_t steps_again;
    /* walks in which libunwind did not reach the recipes' frame and was restarted with an empty cache */
    uint64_t restarts;
    /* walks in which it did not reach that frame even then, which breaks the path */
    uint64_t disagreements;
    uint64_t slow_reads; /* words read by a system call, because they are not directly readable */
    uintptr_t link;      /* aarch64: value of x30 in the interrupted frame */
};

#endif
