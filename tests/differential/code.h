/* Code to be interrupted, compiled in several ways (tests/differential/differential.mk). */
#ifndef BLAME_TESTS_DIFFERENTIAL_CODE_H
#define BLAME_TESTS_DIFFERENTIAL_CODE_H

struct code_case {
    const char *name;
    void (*run)(void);
};

struct code_variant {
    const char *name;
    const struct code_case *cases; /* ends with run == NULL */
};

/* Called at the begin of the program's own signal handler: interrupts go on inside it. */
extern void (*code_in_handler)(void);

/* Stacks for what does not run on the thread's own. */
#define CODE_STACK_BYTES 65536
extern char code_stack[2][CODE_STACK_BYTES];

#endif
