/* The entry points of the OpenMP runtime. OMPT's types are used only in ompt_tool/. The handler calls no
 * entry point, because it may have interrupted the runtime in the middle of a change. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_RUNTIME_H
#define BLAME_OMPT_TOOL_CONTEXT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "cct/deferred/region.h"

struct runtime {
    ompt_set_callback_t set_callback;
    ompt_get_task_info_t get_task_info;
    /* omp_get_max_threads(); like any call of the runtime, it makes the thread known to the runtime */
    int (*get_max_threads)(void);
    /* ompt_set_callback of LLVM's or Intel's runtime; NULL: none of the runtimes is LLVM's */
    ompt_set_callback_t set_llvm_callback;
    /* LIBGOMP_FIRST, LIBGOMP_SECOND: which runtime of the process is libgomp; 0: none */
    unsigned libgomp;
    /* start and size of the code of the library with the tool interface, which calls the program's regions
     * and tasks; size 0: it is linked into the program */
    uintptr_t code_low, code_bytes;
};

enum { LIBGOMP_FIRST = 1, LIBGOMP_SECOND = 2 };

extern struct runtime runtime __attribute__((visibility("hidden")));

/* Mark of levels that belong to the second runtime of a process (levels.h), while the calling thread handles
 * an event of that runtime; otherwise 0. [owner] */
extern __thread uintptr_t runtime_mark __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns true if the event that the calling thread handles is one of libgomp. libgomp drops a thread when its
 * team has ended and the next one does not need it, but the thread may end much later. [owner] */
static inline bool runtime_is_libgomp(void)
{
    return unlikely(runtime.libgomp) && (runtime.libgomp & (runtime_mark ? LIBGOMP_SECOND : LIBGOMP_FIRST));
}

/* Makes `runtime.get_task_info` ask the runtime whose event the thread handles. [init] */
void runtime_add_second(ompt_get_task_info_t get_task_info);

/* Returns the region_word() that on_parallel_begin() has stored; 0 if the region has no record or if it began
 * before a fork. Only in a forked child, this reads the record. [owner] */
static inline uint64_t runtime_region_word(const ompt_data_t *parallel_data)
{
    uint64_t word = parallel_data ? parallel_data->value : 0;
    if (unlikely(region_epoch) && region_of_word(word) && region_of_word(word)->epoch != region_epoch)
        return 0;
    return word;
}

/* Returns the record of that region, or NULL. [owner] */
static inline struct region *runtime_region(const ompt_data_t *parallel_data)
{
    return region_of_word(runtime_region_word(parallel_data));
}

/* Returns the word (task_word.h) of the calling thread's current task; NULL if there is no task. If `exit` is
 * not NULL, stores the task's exit address in *exit, or 0 if the task has none. [owner] */
ompt_data_t *runtime_current_task(uintptr_t *exit);

/* Returns the word of the current task, for callbacks that may receive a copy of the word. Returns `copy` if
 * the runtime does not name the current task. [owner] */
ompt_data_t *runtime_task_of_copy(ompt_data_t *copy);

/* Returns the address of a symbol of the runtime. `inside` is any address in the runtime. The runtime's own
 * symbols are searched, because another, unused runtime in the process may have the same names, and because a
 * runtime that only one other library has loaded cannot be found by name. [init] */
void *runtime_symbol(const void *inside, const char *name);

/* Makes libomp use up its warnings about flang's loops, while its warnings are turned off. The code that
 * flang generates does not say which kind of loop it runs. If there is a tool, libomp therefore prints a
 * warning at the first loop of each type. This function runs a loop of each type that has no iterations.
 * Returns false if libomp would still print the warning; the tool must then not ask for loop events. `inside`
 * is any address in the runtime. Must be called during the tool's initialisation, when the calling thread is
 * the runtime's thread 0. [init] */
bool runtime_warn_unheard(const void *inside);

#endif
