/* Code to be interrupted, compiled in several ways (tests/differential/differential.mk). */
#ifndef BLAME_TESTS_DIFFERENTIAL_CODE_H
#define BLAME_TESTS_DIFFERENTIAL_CODE_H

#include <stdbool.h>

struct code_case {
    const char *name;
    void (*run)(void);
};

struct code_variant {
    const char *name;
    const struct code_case *cases; /* ends with run == NULL */
    bool split_stack;              /* what gets its stacks blocks all signals meanwhile: no single steps */
};

#define CODE_PASTE_(a, b) a##b
#define CODE_PASTE(a, b)  CODE_PASTE_(a, b)
#define CODE_TEXT_(a)     #a
#define CODE_TEXT(a)      CODE_TEXT_(a)

/* What a file compiled with -DVARIANT=name defines. */
#define CODE_VARIANT CODE_PASTE(code_, VARIANT)
#define CODE_NAME    CODE_TEXT(VARIANT)

/* Of the program, for its libraries, too. */
#pragma GCC visibility push(default)

/* Called at the begin of the program's own signal handler: interrupts go on inside it. */
extern void (*code_in_handler)(void);

/* Stacks for what does not run on the thread's own. */
#define CODE_STACK_BYTES 65536
extern char code_stack[2][CODE_STACK_BYTES];

#pragma GCC visibility pop

#endif
