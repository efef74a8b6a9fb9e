/* What is known about the code at an address. A key is a module number and an address in that module
 * (PROFILE_KEY). The body of a construct is the function that the compiler outlined from it. The host of a
 * construct is the function in whose source the construct stands. */
#ifndef BLAME_COMMAND_SYMBOLS_SYMBOL_H
#define BLAME_COMMAND_SYMBOLS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_construct {
    SYMBOL_PROCEDURE = 0,
    /* body of a parallel construct, or of a construct in it, such as for or sections */
    SYMBOL_PARALLEL = 1,
    SYMBOL_TASK = 2, /* body of a task */
};

/* A function at an address; inlined functions count too. Strings are never NULL, and live as long as the
 * struct symbols. */
struct symbol_frame {
    enum symbol_construct construct;
    bool inlined;          /* whether this function is inlined into the next (outer) one */
    const char *name;      /* demangled name; that of a construct has the form "relax [parallel amg.c:123]" */
    const char *host_name; /* demangled name of the construct's host; "": not a construct */
    const char *file;      /* file in which the function is defined; "" if unknown */
    /* line in which the function is defined, or the line of the construct's directive; 0 if unknown */
    int line;
    const char *at_file; /* source file of the code at the address; "" if unknown */
    /* source line of the code at the address, or, if the next inner frame is inlined, of the inlined call; 0
     * if unknown */
    int at_line;

    /* whether the address is in a loop that waits for another thread (command/symbols/waiting_loop.h); only in the
     * innermost frame */
    bool waits;
    /* whether the address is at an atomic update of memory (command/symbols/atomic.h); only in the innermost frame */
    bool updates;
    /* whether the function is a construct's body that calls the runtime to combine the copies of a reduction, or, by GCC,
     * to update memory under a lock; only in the innermost frame */
    bool combines;

    /* whether this is the inner one of the two functions that clang makes of a construct, which is really
     * called at -O0 -g. It gets no row of its own if the frame of its caller has the same name */
    bool merge_into_caller;
    /* whether the body may be that of a region or of a task, because the compiler does not say which: GCC
     * without call-site entries (-O0), and flang. `construct` is then SYMBOL_PARALLEL. task_name is used if
     * the body is known to have run as a task */
    bool construct_uncertain;
    /* name such as "fib [task fib.c:17]" if construct_uncertain is set, otherwise "" */
    const char *task_name;
};

/* A call in a function, found in machine code or in the call sites of DWARF. */
struct symbol_call {
    uint64_t key; /* key of the last byte of the call (return address - 1), as in the frames of callers */
    /* entry of the called function, as a key; 0: it is in another module, or unknown */
    uint64_t target;
    const char *name; /* name of the called function, if it is in another module; "" if unknown */
    /* entry, as a key, of the construct's body that the call passes to the OpenMP runtime; 0: none, or
     * unknown */
    uint64_t body;
    /* whether the call passes the body of a construct to the OpenMP runtime, which runs it before returning */
    bool launches;
    bool tail; /* whether this is a jump to another function */
};

struct symbols_call_list {
    struct symbol_call *list;
    size_t count, room;
};

/* A function that a tail call removed from the stack (command/symbols/tail_calls.h). */
struct tail_frame {
    uint64_t key; /* key in the jump or of the function's entry; 0: the function is ambiguous */
    /* whether the function has only one such jump. The key then points into the jump, and the frame has the
     * jump's source line */
    bool at_jump;
    /* for an ambiguous frame, the possible functions, such as "a or b"; otherwise NULL */
    const char *candidates;
};

#endif
