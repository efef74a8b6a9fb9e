/* The OpenMP runtime's own entry points. OMPT's types stop in this folder. The handler calls none of them: it
 * may have interrupted the runtime halfway through a change. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_RUNTIME_H
#define BLAME_OMPT_TOOL_CONTEXT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "cct/deferred/region.h"

struct runtime {
    ompt_set_callback_t set_callback;
    ompt_get_task_info_t get_task_info;
    int (*get_max_threads)(void);   /* omp_get_max_threads: any call makes the thread known to the runtime */
    uintptr_t code_low, code_bytes; /* range of its code; 0 bytes: linked into the program */
};

extern struct runtime runtime __attribute__((visibility("hidden")));

/* Returns a region's record; NULL if it has none or began before a fork. [owner] */
static inline struct region *runtime_region(const ompt_data_t *parallel_data)
{
    struct region *region = parallel_data ? parallel_data->ptr : NULL;
    return region && region->epoch == region_epoch ? region : NULL;
}

/* Returns the word of the calling thread's current task, NULL if it has none, and its exit address (or NULL).
 * [owner] */
ompt_data_t *runtime_current_task(uintptr_t *exit);

/* Returns the word of the current task, where the runtime passes a copy or may; the copy if the runtime does
 * not name the task. [owner] */
ompt_data_t *runtime_task_of_copy(ompt_data_t *copy);

/* Returns the runtime's symbol of that name; `inside` is an address in the runtime. Another runtime in the
 * process that is not in use yet has the same names; and a library that only one other library has loaded is
 * not found by name. [init] */
void *runtime_symbol(const void *inside, const char *name);

/* Makes libomp print its warnings about flang's loops now, while warnings are off. flang's code does not say
 * which kind of loop it runs; with a tool, libomp prints a warning at the first loop of each type. So this
 * runs a loop without iterations of each type. Returns false if the warning would still be printed: the tool
 * must not ask for loops then. `inside`: an address in the runtime. Must run during the tool's
 * initialisation, where the calling thread is the runtime's number 0. [init] */
bool runtime_warn_unheard(const void *inside);

#endif
