/* Finds out which of the tool's callbacks the runtime will call. Relies only on the answers of
 * ompt_set_callback, never on the runtime's name. */
#ifndef BLAME_OMPT_TOOL_CAPABILITIES_H
#define BLAME_OMPT_TOOL_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

#include <omp-tools.h>

struct capability {
    ompt_callbacks_t event;
    ompt_callback_t callback;
};

/* All callbacks that the tool wants to register. */
struct capability_table {
    const struct capability *all;
    size_t count;
    bool locks; /* whether to register the callbacks of lock events */
};

/* Registers the callbacks. If the runtime lacks one event of a group, unregisters the whole group: the start
 * of a wait without its end would be worse than nothing. *waits becomes false if the runtime does not report
 * all waits at barriers and for tasks. `text` receives one line that says what will be unknown, or "".
 * Returns false if nothing can be measured; `text` is then the name of the missing event. [init] */
bool capabilities_register(ompt_set_callback_t set_callback, const struct capability_table *table, bool *waits,
                           char *text, size_t bytes);

#endif
