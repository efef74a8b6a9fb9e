/* The part of an OpenMP runtime that sends events to a tool. It sends the same events in the same order in
 * every run, so that instructions can be counted. Its functions call the program's code as libomp's do, and
 * set the frames of their tasks accordingly. */
#ifndef BLAME_BENCHMARKS_GATE_FAKE_RUNTIME_H
#define BLAME_BENCHMARKS_GATE_FAKE_RUNTIME_H

#include <stdbool.h>

#include "benchmarks/gate/sample.h"

enum fake_lock { FAKE_LOCK, FAKE_CRITICAL, FAKE_ORDERED, FAKE_NEST_LOCK };

typedef void (*fake_body)(void);

struct blame_calls; /* include/blame.h */

/* Loads the tool and makes the calling thread the initial thread. If the tool does not start, prints the
 * reason on stderr and returns false. */
bool fake_start(const char *tool);

/* Returns the signal by which the tool samples. Returns 0 if the signal has no handler, or if the tool has no
 * timer from here. */
int fake_signal(void);

/* Passes all further samples in the runtime to `timer` (sample.h). */
void fake_time_samples(sample_timer timer);

/* Prints the numbers of the callbacks that the tool registered, in increasing order, one on each line. */
void fake_print_callbacks(void);

/* Returns the tool's functions for phases and events; NULL if it has none. */
const struct blame_calls *fake_blame_calls(void);

/* Runs a region. All threads except the first execute `worker`. */
#define FAKE_THREADS 64 /* at most */
void fake_parallel(unsigned threads, fake_body body, fake_body worker);

/* Waits at a barrier: takes `samples` samples in the runtime, then calls `inside` unless it is NULL. */
void fake_barrier(int samples, fake_body inside);
void fake_taskwait(fake_body inside);

/* Works in the runtime and takes `samples` samples there. */
void fake_work(int samples);

/* Runs a loop with a static schedule, without the barrier at its end. */
void fake_loop(void);

/* Creates a task and executes it at once, like a thread that finds no other task. */
void fake_task(fake_body body);

/* The first function starts a task with if(0), the second ends it. The program itself calls the task's code
 * in between. */
void fake_task_begin_if0(void);
void fake_task_complete_if0(void);

/* Operations on a lock that no other thread holds. */
void fake_lock_init(enum fake_lock kind, unsigned long id);
void fake_lock_destroy(enum fake_lock kind, unsigned long id);
void fake_lock_acquire(enum fake_lock kind, unsigned long id);
void fake_lock_release(enum fake_lock kind, unsigned long id);

/* Acquires a nestable lock that the calling thread already holds. */
void fake_lock_again(unsigned long id);

/* Requests a lock that another thread holds, and waits in the same way as fake_barrier(). */
void fake_lock_wait(enum fake_lock kind, unsigned long id, int samples, fake_body inside);

#endif
