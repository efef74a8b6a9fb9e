/* The signal that interrupts a thread to take a sample. The tool does not interpose the program's calls of
 * sigaction() and the like. It notices when the program takes the signal for itself, and changes to another
 * one (sampler.c). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLE_SIGNAL_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLE_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* The entry of the handler, which decides on which stack the handler runs.
 *
 * The interrupted code may have hardly any stack left: a goroutine has 2 KB, and a signal handler of the
 * program may have only its alternate stack. So on x86-64 the kernel puts its signal frame on the alternate
 * stack, if the program has registered one (SA_ONSTACK). The entry then switches to a stack of the tool
 * before it pushes anything, so that only the kernel's frame is on the program's stacks. The tool registers
 * no alternate stack of its own: the program would see it (sigaltstack, uc_stack), and the program's own
 * handlers would run on it.
 *
 * On aarch64 the handler runs on the interrupted stack, because the restart stub waits above the kernel's
 * frame there (restart_machine_aarch64.c). */
typedef void sample_handler(int signal, siginfo_t *info, void *context);

#ifdef __x86_64__
#define SAMPLE_ENTRY_FLAG SA_ONSTACK

/* Returns the function that the kernel enters and that calls the handler. There can be only one handler.
 * [any] */
sample_handler *sample_entry(sample_handler *handler);
#else
#define SAMPLE_ENTRY_FLAG 0

/* Returns the handler itself, because the kernel enters it directly. [any] */
static inline sample_handler *sample_entry(sample_handler *handler)
{
    return handler;
}
#endif

/* Installs the handler for a signal that the program does not use: `wanted` if that is free (0: no wish), or
 * the highest free real-time signal, or SIGSTKFLT. Returns the signal's number, 0 if all are in use. [any] */
int sample_signal_install(sample_handler *handler, int wanted);

/* Returns whether the signal still reaches the handler. Makes one system call. [any] */
bool sample_signal_comes_to(sample_handler *handler, int signal);

/* Returns whether the process's thread with that tid blocks the signal. Reads /proc. [any] */
bool sample_signal_is_blocked(int tid, int signal);

/* Blocks the signal in the calling thread. Returns true if it was not blocked before. [any] */
bool sample_signal_block(int signal);
void sample_signal_unblock(int signal); /* [any] */

#endif
