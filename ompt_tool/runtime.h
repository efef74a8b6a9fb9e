/* The OpenMP runtime's own entry points. OMPT's types stop in this folder. */
#ifndef BLAME_OMPT_TOOL_RUNTIME_H
#define BLAME_OMPT_TOOL_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

struct region;

struct runtime {
    ompt_set_callback_t set_callback;
    ompt_get_task_info_t get_task_info;
    ompt_get_parallel_info_t get_parallel_info;
    ompt_finalize_tool_t finalize_tool;
    int (*get_max_threads)(void); /* omp_get_max_threads: any call makes a thread known to the runtime */
    uintptr_t code_low, code_bytes; /* where its code lies; 0 bytes: inside the program */
};

extern struct runtime runtime;

/* One task of the calling thread's chain of tasks. */
struct task_level {
    uintptr_t exit;  /* inside the runtime's frame that called the task's code; 0: none */
    uintptr_t enter; /* inside the runtime's frame that the task's code called; 0: not in the runtime */
    struct region *region;
    uint64_t data; /* the task's own word (task_word.h) */
    int flags;
    int thread_num;
};

/* The record of a region, NULL when it has none or began before a fork. [handler] */
struct region *runtime_region(const ompt_data_t *parallel_data);

/* Fills *level for ancestor number `ancestor` (0 is the current task); false when there is none. [handler] */
bool runtime_task_level(int ancestor, struct task_level *level);

/* The calling thread's current task's own word, NULL when it has none. [owner] */
ompt_data_t *runtime_current_task(void);

/* The region that the calling thread executes in, NULL outside all. [handler] */
struct region *runtime_current_region(void);

#endif
