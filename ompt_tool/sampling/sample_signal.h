/* The signal that interrupts a thread to take a sample. The tool does not intercept the program's calls of
 * sigaction() and similar functions. It notices when the program uses the signal itself, and changes to
 * another one (sampler.c). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLE_SIGNAL_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLE_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* The handler's entry code, which chooses the stack on which the handler runs.
 *
 * The interrupted code may have hardly any stack left: a goroutine has 2 KB, and a signal handler of the
 * program may have only its alternate stack. On x86-64, the kernel therefore puts its signal frame on the
 * program's alternate stack if there is one (SA_ONSTACK). The entry switches to a stack of the tool before it
 * pushes anything, so only the kernel's frame is on the program's stacks. The tool registers no alternate
 * stack of its own: the program would see it (sigaltstack, uc_stack), and the program's own handlers would
 * run on it.
 *
 * On aarch64 the handler runs on the interrupted stack, because the restart stub needs the kernel's frame
 * there (restart_machine_aarch64.c). */
typedef void sample_handler(int signal, siginfo_t *info, void *context);

#ifdef __x86_64__
#define SAMPLE_ENTRY_FLAG SA_ONSTACK

/* Returns the function that the kernel enters and that calls the handler. There can be only one handler.
 * [any] */
sample_handler *sample_entry(sample_handler *handler);

/* End of the stack on which the handler runs in the calling thread while that has no record (thread_self);
 * NULL: signals in such a thread are ignored. */
extern __thread char *sample_entry_stack __attribute__((tls_model("initial-exec"), visibility("hidden")));
#else
#define SAMPLE_ENTRY_FLAG 0

/* Returns the handler itself, because the kernel enters it directly. [any] */
static inline sample_handler *sample_entry(sample_handler *handler)
{
    return handler;
}
#endif

/* Installs the handler for a signal that the program does not use, and returns the signal's number, 0 if all
 * are in use. Tries `wanted` first (0: no preference), then the real-time signals from the highest down, then
 * SIGSTKFLT. [any] */
int sample_signal_install(sample_handler *handler, int wanted);

/* Returns whether the handler is still installed for the signal. Makes one system call. [any] */
bool sample_signal_comes_to(sample_handler *handler, int signal);

/* Returns whether thread `tid` of this process blocks the signal. Reads /proc. [any] */
bool sample_signal_is_blocked(int tid, int signal);

/* Blocks the signal in the calling thread. Returns true if it was not blocked before. [any] */
bool sample_signal_block(int signal);
void sample_signal_unblock(int signal); /* [any] */

#endif
