/* What is said of an address of code. */
#ifndef BLAME_COMMAND_SYMBOLS_SYMBOL_H
#define BLAME_COMMAND_SYMBOLS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_construct {
    SYMBOL_PROCEDURE = 0,
    SYMBOL_PARALLEL = 1, /* outlined body of a parallel construct (or what runs in one: for, sections ...) */
    SYMBOL_TASK = 2,     /* outlined body of a task */
};

/* One logical function at an address. All strings live as long as the struct symbols and are never NULL. */
struct symbol_frame {
    enum symbol_construct construct;
    bool inlined;          /* inlined into the next (outer) frame */
    const char *name;      /* demangled; for constructs already "relax [parallel amg.c:123]" */
    const char *host_name; /* constructs: demangled name of the function around the construct, else "" */
    const char *file;      /* where the function is defined, "" when unknown */
    int line;              /* the same, 0 when unknown; constructs: the construct's line */
    const char *at_file;   /* the source position of the address in this function ... */
    int at_line;           /* ... for an outer frame of inlined ones: where the inlined call stands; 0 unknown */

    /* The inner function of a construct that clang compiles to two (-O0 -g: a real call): not a row of its
     * own when its caller's frame carries the same name. */
    bool fold_into_caller;
    /* GCC without call-site entries (-O0) and flang do not say whether the outlined body is a region's or a
     * task's: construct is then SYMBOL_PARALLEL, and task_name the name to use when the caller knows that it
     * ran as a task. */
    bool construct_uncertain;
    const char *task_name; /* "fib [task fib.c:17]" when construct_uncertain, else "" */
};

/* A call in a function, by machine code and DWARF's call sites. */
struct symbol_call {
    uint64_t key;     /* of its last byte: return address - 1, as for the frames of callers */
    uint64_t target;  /* entry (a key) of the function called, in the same module; 0: another module's, or
                         unknown */
    const char *name; /* of another module's function; "" when that is unknown too */
    uint64_t body;    /* entry (a key) of the function that the OpenMP runtime is to execute; 0: none, or unknown */
    bool launches;    /* a construct is handed to the OpenMP runtime that runs it at once */
    bool tail;        /* a jump: the function is left */
};

struct symbols_call_list {
    struct symbol_call *list;
    size_t count, room;
};

/* A function that a tail call took off the stack (command/symbols/tail_calls.h). */
struct tail_frame {
    uint64_t key;           /* as of a frame: inside the jump, or the function's entry; 0: ambiguous */
    bool at_jump;           /* the key tells the source line; else there are several jumps */
    const char *candidates; /* ambiguous: what may have been here, "a or b"; else NULL */
};

#endif
