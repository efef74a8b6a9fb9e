/* The state of a thread's walks, and what they yield (unwind/unwind.h). */
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
#define UNWIND_ARGUMENT  5  /* of these rdi: the first argument of a system call */
#else
#define UNWIND_REGISTERS 33 /* x0..x30 sp pc */
#define UNWIND_ARGUMENT  0  /* x0, which the result of an interrupted call has replaced: then it says nothing */
#endif

struct unwind_frame {
    uintptr_t ip;    /* where to look things up: inside the instruction (a caller's return address - 1) */
    uintptr_t stack; /* stack pointer in this frame */
    uintptr_t cfa;   /* stack pointer in the calling frame, before the call; 0 for the outermost frame */
    const struct loadmap_range *range;   /* executable mapping that holds ip, NULL if none does */
    const struct loadmap_module *module; /* the range's; NULL: it is no file's */
    struct recipe recipe;                /* how cfa came about, and the caller's rbp */
};

enum unwind_result {
    UNWIND_FRAME,  /* *frame is valid */
    UNWIND_END,    /* the outermost frame has been delivered */
    UNWIND_BROKEN, /* the path breaks here: the rest is unknown */
};

/* What a recipe needs of a frame, and yields of its caller. */
struct unwind_registers {
    uintptr_t ip, stack;
    uintptr_t rbp; /* on aarch64 x29; 0 when it cannot be had */
};

struct unwind_entry;
struct decoder;
struct python_codes;

struct unwinder {
    struct unwind_registers at; /* the frame that comes next */
    enum unwind_result end;     /* what comes next if it is no frame */
    bool exact;                 /* the next address is no return address */
    bool libunwind_only;        /* no recipes: what tests compare with */
    bool code_only;             /* no call frame information: what tests compare with that */
    bool calling;               /* the walk's frames are calls: none can be unloaded meanwhile */
    bool refreshed;             /* the load map was read again in this walk */
    uint32_t learnt;            /* modules asked for in this walk that were not known */
    uint32_t sure_count;
    const struct loadmap_range *sure[UNWIND_SURE]; /* found to be true in this walk: not asked for again */
    bool cursor_valid;                             /* libunwind takes part in this walk */
    uint32_t generation;                           /* of the load map that the caches belong to */
    struct decoder *decoder;                       /* made when code without call frame information is met first */
    struct python_codes *python;                   /* made when the interpreter's frames are met first */
    struct unwind_entry *cache;                    /* by address, in the thread's own mapping */
    uintptr_t stack_begin;                         /* the stack pointer at the walk's begin */
    uintptr_t stack_low; /* what can be read directly in this walk: [stack_low, stack_high), perhaps nothing */
    uintptr_t stack_high;
    uintptr_t own_stack_low, own_stack_high; /* this thread's stack */
    uintptr_t registers[UNWIND_REGISTERS];   /* at the walk's begin */
    void *cursor;                            /* unw_cursor_t, in the thread's own mapping */
    void *space;                             /* unw_addr_space_t */
    const struct loadmap_module *tables;     /* whose tables libunwind reads ... */
    uintptr_t tables_bias;                   /* ... where they would be in memory */
    uint64_t cursor_frame;                   /* the frame of this walk that libunwind's cursor is at */
    uint64_t frames_before;                  /* frames when this walk began */
    /* Since the thread was attached. frames = steps by recipe + sum of slow_steps + paths broken at an
     * address that is no code */
    uint64_t frames;
    uint64_t recipes_read;              /* from call frame information: the address was not in the cache */
    uint64_t slow_steps[RECIPE_CAUSES]; /* libunwind's */
    uint64_t decoded_steps;             /* by recipes that the code itself yielded */
    uint64_t steps_again;               /* libunwind's over frames that recipes had passed */
    uint64_t restarts;                  /* it came to another frame there, and began again with its cache empty */
    uint64_t disagreements;             /* it came to another frame all the same: such a path is broken */
    uint64_t slow_reads;                /* words that do not lie on the thread's own stack */
    uintptr_t link;                     /* aarch64's x30 where a signal interrupted */
};

#endif
