/* Information about an address of code. */
#ifndef BLAME_COMMAND_SYMBOLS_SYMBOL_H
#define BLAME_COMMAND_SYMBOLS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_construct {
    SYMBOL_PROCEDURE = 0,
    SYMBOL_PARALLEL = 1, /* outlined body of a parallel construct (or of for, sections ... within one) */
    SYMBOL_TASK = 2,     /* outlined body of a task */
};

/* One logical function at an address. Strings live as long as the struct symbols and are never NULL. */
struct symbol_frame {
    enum symbol_construct construct;
    bool inlined;          /* inlined into the next (outer) frame */
    const char *name;      /* demangled; for constructs "relax [parallel amg.c:123]" */
    const char *host_name; /* for constructs, the demangled name of the enclosing function; otherwise "" */
    const char *file;      /* file of the definition; "" if unknown */
    int line;              /* line of the definition, 0 if unknown; for constructs, the construct's line */
    const char *at_file;   /* file of the address in this function */
    /* line of the address; for a frame with an inlined callee, the line of the inlined call; 0 if unknown */
    int at_line;

    /* Set for the inner of the two functions that clang makes of a construct (a real call at -O0 -g). Such a
     * frame gets no row of its own if its caller's frame has the same name. */
    bool merge_into_caller;
    /* The compiler does not say whether the outlined body is a region or a task: GCC without call-site
     * entries (-O0), and flang. `construct` is then SYMBOL_PARALLEL; task_name is the name to use if the body
     * is known to have run as a task. */
    bool construct_uncertain;
    const char *task_name; /* "fib [task fib.c:17]" if construct_uncertain, otherwise "" */
};

/* A call in a function, from machine code and DWARF's call sites. */
struct symbol_call {
    uint64_t key; /* key of its last byte, return address - 1, like the frames of callers */
    /* entry (a key) of the called function in the same module; 0: another module's, or unknown */
    uint64_t target;
    const char *name; /* name of another module's function; "" if unknown */
    /* entry (a key) of the function that the OpenMP runtime is to execute; 0: none, or unknown */
    uint64_t body;
    bool launches; /* passes a construct to the OpenMP runtime, which runs it at once */
    bool tail;     /* a jump that leaves the function */
};

struct symbols_call_list {
    struct symbol_call *list;
    size_t count, room;
};

/* A function that is missing on the stack because of a tail call (command/symbols/tail_calls.h). */
struct tail_frame {
    uint64_t key;           /* key of the frame: inside the jump, or the function's entry; 0: ambiguous */
    bool at_jump;           /* the key has the jump's source line; otherwise there are several jumps */
    const char *candidates; /* if ambiguous, what may have been here: "a or b"; otherwise NULL */
};

#endif
