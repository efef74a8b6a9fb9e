/* Information about code at an address. A key is a module number and an address in that module (PROFILE_KEY).
 * A construct's body is the function that the compiler outlined from it; its host is the function whose
 * source contains the construct. */
#ifndef BLAME_COMMAND_SYMBOLS_SYMBOL_H
#define BLAME_COMMAND_SYMBOLS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_construct {
    SYMBOL_PROCEDURE = 0,
    /* outlined body of a parallel construct, or of a for, sections ... construct in it */
    SYMBOL_PARALLEL = 1,
    SYMBOL_TASK = 2, /* outlined body of a task */
};

/* One logical function at an address. Strings live as long as the struct symbols and are never NULL. */
struct symbol_frame {
    enum symbol_construct construct;
    bool inlined;          /* whether it is inlined into the next (outer) frame */
    const char *name;      /* demangled; for constructs "relax [parallel amg.c:123]" */
    const char *host_name; /* for a construct, the demangled name of its host; otherwise "" */
    const char *file;      /* file of the definition; "" if unknown */
    int line;              /* line of the definition, 0 if unknown; for a construct, its directive's line */
    const char *at_file;   /* source file of the address; "" if unknown */
    /* source line of the address, or of the inlined call if the next inner frame is inlined; 0 if unknown */
    int at_line;

    /* set for the inner one of the two functions that clang makes of a construct (a real call at -O0 -g). The
     * frame gets no row of its own if its caller's frame has the same name */
    bool merge_into_caller;
    /* set if the outlined body may be a region or a task, because the compiler does not say: GCC without
     * call-site entries (-O0), and flang. `construct` is then SYMBOL_PARALLEL; task_name is used if the body
     * is known to have run as a task */
    bool construct_uncertain;
    const char *task_name; /* "fib [task fib.c:17]" if construct_uncertain is set, otherwise "" */
};

/* A call in a function, found in machine code and DWARF's call sites. */
struct symbol_call {
    uint64_t key; /* key of the call's last byte (return address - 1), as in frames of callers */
    /* entry of the called function, as a key, if it is in the same module; 0: in another module, or unknown */
    uint64_t target;
    const char *name; /* name of the called function in another module; "" if unknown */
    /* entry of the construct's function that the call passes to the OpenMP runtime, as a key; 0: none, or
     * unknown */
    uint64_t body;
    bool launches; /* whether the call passes a construct to the OpenMP runtime, which runs it at once */
    bool tail;     /* whether this is a jump that leaves the function */
};

struct symbols_call_list {
    struct symbol_call *list;
    size_t count, room;
};

/* A function that a tail call removed from the stack (command/symbols/tail_calls.h). */
struct tail_frame {
    uint64_t key; /* key of the frame: in the jump, or the function's entry; 0: ambiguous */
    /* whether there is only one jump, which the key then points into; the frame has that jump's source line */
    bool at_jump;
    /* if ambiguous, the functions that may have been here, such as "a or b"; otherwise NULL */
    const char *candidates;
};

#endif
