/* The OMPT callbacks. At each event they update the thread's state line (blame/state.h). In a thread that was
 * sampled they also do the work that the signal handler leaves to them, such as capturing a region's context. */
#ifndef BLAME_OMPT_TOOL_CALLBACKS_H
#define BLAME_OMPT_TOOL_CALLBACKS_H

#include <stdbool.h>
#include <stddef.h>

#include <omp-tools.h>

/* Registers the tool's callbacks with the runtime. The parameters and the result are those of
 * capabilities_register(). [init] */
bool callbacks_register(bool locks, char *text, size_t bytes);

/* The same for a second runtime in the process. [init] */
bool callbacks_register_second(ompt_set_callback_t set_callback, bool locks, char *text, size_t bytes);

/* Notes, at the end of an initial thread or of the runtime, whether the process is exiting. If the runtime was
 * started before main, exit() may finalise it before the tool's own exit handler runs. [owner] */
void callbacks_notice_exit(void);

#endif
