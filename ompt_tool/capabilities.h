/* What of the tool's callbacks a runtime calls: judged by what ompt_set_callback answers, never by the runtime's name. */
#ifndef BLAME_OMPT_TOOL_CAPABILITIES_H
#define BLAME_OMPT_TOOL_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

#include <omp-tools.h>

struct capability {
    ompt_callbacks_t event;
    ompt_callback_t callback;
};

/* Registers them, and takes those back whose partners are missing: a wait's begin is worse than nothing without its end.
 * locks: whether what tells of locks is registered at all. waits: whether the ends of waits are told. text: of what remains unknown, for one line; "" when the runtime tells all. False: nothing can be measured, text says for
 * want of which event. [init] */
bool capabilities_register(ompt_set_callback_t set_callback, const struct capability *all, size_t count, bool locks,
                           bool *waits, char *text, size_t bytes);

#endif
