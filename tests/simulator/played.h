/* What an OpenMP runtime tells a tool, without the runtime: tasks as the tool may look at them, the functions
 * that it may ask for, and one function for each event. Each event leaves through a function of its own,
 * send_...: the gate reads the instructions of a callback from what callgrind counts between the two. */
#ifndef BLAME_TESTS_SIMULATOR_PLAYED_H
#define BLAME_TESTS_SIMULATOR_PLAYED_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

struct played_task {
    ompt_frame_t frame; /* at the same distance before the word in every task, as in libomp */
    ompt_data_t data;
    ompt_data_t *parallel;
    struct played_task *outer; /* the task that this one is nested in, on its thread's stack */
    int flags, thread_num;
};

/* The calling thread's. */
extern __thread struct played_task *played_current;
extern __thread ompt_data_t played_thread_data;

/* Before the start: what ompt_set_callback answers for that event (below ompt_set_sometimes it is never told), and that there
 * is no ompt_get_task_info. */
void played_answer(ompt_callbacks_t event, ompt_set_result_t answer);
void played_hide_tasks(void);

/* Makes the runtime one for which another library reports, as libblame-gomp does for libgomp. */
void played_as_libgomp(void);

/* As a runtime does when it starts; false when the tool wants nothing of it. */
bool played_start(ompt_start_tool_result_t *(*start_tool)(unsigned, const char *), const char *name);
void played_finalize(void);
ompt_interface_fn_t played_lookup(const char *name);
ompt_callback_t played_callback(ompt_callbacks_t event); /* NULL: not registered */

/* A task that begins: its frame is the runtime's, its word is empty. */
void played_task_init(struct played_task *task, ompt_data_t *parallel, int flags, int thread_num);
void played_push(struct played_task *task);
void played_pop(void);

struct blame_calls; /* include/blame.h */
const struct blame_calls *played_blame_calls(void);

void send_thread_begin(ompt_thread_t type);
void send_thread_end(void);
void send_parallel_begin(struct played_task *task, ompt_data_t *parallel, unsigned threads, const void *codeptr);
void send_parallel_end(struct played_task *task, const void *codeptr);
void send_implicit_begin(struct played_task *task, unsigned threads, int index);
void send_implicit_end(ompt_data_t *parallel, ompt_data_t *task, unsigned threads, int thread_num, int flags);
void send_wait_begin(ompt_sync_region_t kind, ompt_data_t *parallel, ompt_data_t *task, const void *codeptr);
void send_wait_end(ompt_sync_region_t kind, ompt_data_t *parallel, ompt_data_t *task, const void *codeptr);
void send_taskwait_create(struct played_task *waiter, const void *codeptr);
void send_taskwait_complete(void);
void send_task_create(struct played_task *creator, struct played_task *task, const void *codeptr);
void send_task_switch(struct played_task *prior, struct played_task *next);
void send_task_complete(struct played_task *prior, struct played_task *next);
void send_mutex_acquire(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr);
void send_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr);
void send_mutex_released(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr);
void send_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t id, const void *codeptr);
void send_lock_init(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr);
void send_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr);
void send_work_begin(ompt_work_t kind, uint64_t pieces, const void *codeptr);
void send_work_end(ompt_work_t kind, uint64_t pieces, const void *codeptr);

#endif
