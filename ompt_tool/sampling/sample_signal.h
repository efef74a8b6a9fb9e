/* The signal of the samples. The tool interposes no function of the program: it notices when the program
 * takes the signal, and uses another one (sampler.c). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLE_SIGNAL_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLE_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Where the kernel enters the handler, and on which stack the handler runs.
 *
 * The interrupted code may have hardly any stack left: a goroutine has 2 KB, a program's handler only its
 * alternate stack. So on x86-64 the signal asks for the thread's alternate stack (SA_ONSTACK), if the program
 * has registered one, and the entry switches to a stack of the tool's before it pushes anything. Only the
 * kernel's frame is then on a stack of the program. The tool registers no alternate stack: the program would
 * see it (sigaltstack, uc_stack), and its own handlers would move onto it.
 *
 * On aarch64 the handler runs on the interrupted stack: the restart stub waits above the kernel's frame there
 * (restart_machine_aarch64.c). */
typedef void sample_handler(int signal, siginfo_t *info, void *context);

#ifdef __x86_64__
#define SAMPLE_ENTRY_FLAG SA_ONSTACK

/* Returns the function that the kernel enters and that calls the handler. There is one handler only. [any] */
sample_handler *sample_entry(sample_handler *handler);
#else
#define SAMPLE_ENTRY_FLAG 0

/* Returns the handler: the kernel enters it directly. [any] */
static inline sample_handler *sample_entry(sample_handler *handler)
{
    return handler;
}
#endif

/* Installs the handler for a signal that the program does not use: the wanted one (0: no wish), or the
 * highest free real-time signal, or SIGSTKFLT. Returns the signal's number, 0 if all are in use. [any] */
int sample_signal_install(sample_handler *handler, int wanted);

/* Returns whether the signal still reaches the handler. One system call. [any] */
bool sample_signal_comes_to(sample_handler *handler, int signal);

/* Returns whether that thread of the process blocks the signal; reads /proc. [any] */
bool sample_signal_is_blocked(int tid, int signal);

/* Blocks the signal in the calling thread; returns true if it was not blocked before. [any] */
bool sample_signal_block(int signal);
void sample_signal_unblock(int signal); /* [any] */

#endif
