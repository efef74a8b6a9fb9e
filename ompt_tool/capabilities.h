/* Which of the tool's callbacks a runtime calls, by the answers of ompt_set_callback and never by the
 * runtime's name. */
#ifndef BLAME_OMPT_TOOL_CAPABILITIES_H
#define BLAME_OMPT_TOOL_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

#include <omp-tools.h>

struct capability {
    ompt_callbacks_t event;
    ompt_callback_t callback;
};

/* The callbacks of the tool. */
struct capability_table {
    const struct capability *all;
    size_t count;
    bool locks; /* register the callbacks of locks */
};

/* Registers the callbacks, and takes back those whose partners are missing: the start of a wait is worse than
 * nothing without its end. *waits: whether the runtime reports the ends of waits. text: what remains unknown, for
 * one line; "" if nothing does. Returns false if nothing can be measured; text is then the missing event. [init] */
bool capabilities_register(ompt_set_callback_t set_callback, const struct capability_table *table, bool *waits,
                           char *text, size_t bytes);

#endif
