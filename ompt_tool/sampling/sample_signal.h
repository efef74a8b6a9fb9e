/* Which signal samples come by. Nothing of the program's is interposed: what it does with that signal afterwards is
 * noticed, and another one taken (sampler.c). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLE_SIGNAL_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLE_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Where the kernel enters the handler, and on which stack the handler runs.
 *
 * The interrupted code may have hardly any stack left: a goroutine of Go's has 2 KB, a program's handler what sigaltstack() gave it. So on
 * x86-64 the signal asks for the thread's alternate stack (SA_ONSTACK), where the program has registered one, and the entry goes on to a stack
 * of the thread's own before it pushes anything. The kernel's frame is then all that a sample puts on a stack of the program's. No alternate
 * stack is registered for the program: it would find it (sigaltstack, uc_stack), and its own handlers would move onto it.
 *
 * On aarch64 the handler runs on the interrupted stack: the restart stub waits on top of the kernel's frame there (restart_machine_aarch64.c). */
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

/* Installs the handler for a signal that the program has no use for: the wanted one (0: none is), else the highest free
 * real-time signal, else SIGSTKFLT. Returns its number, 0 when all are in use. [any] */
int sample_signal_install(sample_handler *handler, int wanted);

/* Whether the signal still comes to the handler; a system call. [any] */
bool sample_signal_comes_to(sample_handler *handler, int signal);

/* Whether a thread of this process blocks the signal; reads /proc. [any] */
bool sample_signal_is_blocked(int tid, int signal);

/* The calling thread blocks the signal; true if it did not before. [any] */
bool sample_signal_block(int signal);
void sample_signal_unblock(int signal); /* [any] */

#endif
