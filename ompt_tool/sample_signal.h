/* Which signal samples come by. Nothing of the program's is interposed: what it does with that signal afterwards is
 * noticed, and another one taken (sampler.c). */
#ifndef BLAME_OMPT_TOOL_SAMPLE_SIGNAL_H
#define BLAME_OMPT_TOOL_SAMPLE_SIGNAL_H

#include <stdbool.h>

#include "ompt_tool/sample_entry.h"

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
