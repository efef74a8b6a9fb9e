/* The OpenMP runtime's own entry points. OMPT's types stop in this folder. The handler calls none of them:
 * what it interrupts may be the runtime in the middle of a change. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_RUNTIME_H
#define BLAME_OMPT_TOOL_CONTEXT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "cct/deferred/region.h"

struct runtime {
    ompt_set_callback_t set_callback;
    ompt_get_task_info_t get_task_info;
    int (*get_max_threads)(void);   /* omp_get_max_threads: any call makes a thread known to the runtime */
    uintptr_t code_low, code_bytes; /* where its code lies; 0 bytes: inside the program */
};

extern struct runtime runtime __attribute__((visibility("hidden")));

/* The record of a region, NULL when it has none or began before a fork. [owner] */
static inline struct region *runtime_region(const ompt_data_t *parallel_data)
{
    struct region *region = parallel_data ? parallel_data->ptr : NULL;
    return region && region->epoch == region_epoch ? region : NULL;
}

/* The calling thread's current task's own word, NULL when it has none, and its exit address (or NULL).
 * [owner] */
ompt_data_t *runtime_current_task(uintptr_t *exit);

/* The word of the current task, of which the runtime passes a copy, or may; the copy itself where it does not say. [owner] */
ompt_data_t *runtime_task_of_copy(ompt_data_t *copy);

/* What the runtime has of that name; `inside`: an address in it. Another runtime in the process, which nobody has begun
 * yet, has the same names; what one library alone has loaded is not found by name. [init] */
void *runtime_symbol(const void *inside, const char *name);

/* Code by flang, whose loops do not say what they are, makes libomp print a warning where it tells a tool of
 * its first loop of each type. This makes it do so now, into warnings that are off, with loops of no
 * iteration. `inside`: an address in the runtime. False: it would still print it, and is not to be asked for
 * loops. From the tool's initialisation, where the calling thread is the runtime's number 0. [init] */
bool runtime_warn_unheard(const void *inside);

#endif
