/* Where the kernel enters the handler, and on which stack the handler runs.
 *
 * The interrupted code may have hardly any stack left: a goroutine of Go's has 2 KB, a program's handler what sigaltstack() gave it. So on
 * x86-64 the signal asks for the thread's alternate stack (SA_ONSTACK), where the program has registered one, and the entry goes on to a stack
 * of the thread's own before it pushes anything. The kernel's frame is then all that a sample puts on a stack of the program's. No alternate
 * stack is registered for the program: it would find it (sigaltstack, uc_stack), and its own handlers would move onto it.
 *
 * On aarch64 the handler runs on the interrupted stack: the restart stub waits on top of the kernel's frame there (restart_machine_aarch64.c). */
#ifndef BLAME_OMPT_TOOL_SAMPLE_ENTRY_H
#define BLAME_OMPT_TOOL_SAMPLE_ENTRY_H

#include <signal.h>

typedef void sample_handler(int signal, siginfo_t *info, void *context);

#ifdef __x86_64__
#define SAMPLE_ENTRY_FLAG SA_ONSTACK

/* Returns the function that the kernel is to enter, which calls the handler. There is one handler. [any] */
sample_handler *sample_entry(sample_handler *handler);
#else
#define SAMPLE_ENTRY_FLAG 0

/* Returns the handler: the kernel enters it. [any] */
static inline sample_handler *sample_entry(sample_handler *handler)
{
    return handler;
}
#endif

#endif
