/* A fake OpenMP runtime, which only sends events to a tool. Every run sends the same events in the same
 * order, so that instructions can be counted. Its functions call the program's code as libomp's functions do,
 * and set the frames of their tasks accordingly. */
#ifndef BLAME_BENCHMARKS_GATE_FAKE_RUNTIME_H
#define BLAME_BENCHMARKS_GATE_FAKE_RUNTIME_H

#include <stdbool.h>

#include "benchmarks/gate/sample.h"

enum fake_lock { FAKE_LOCK, FAKE_CRITICAL, FAKE_ORDERED, FAKE_NEST_LOCK };

typedef void (*fake_body)(void);

struct blame_calls; /* include/blame.h */

/* Loads the tool, and makes the calling thread the initial thread. If the tool does not start, prints the
 * reason on stderr and returns false. */
bool fake_start(const char *tool);

/* Returns the number of the signal by which the tool takes samples. Returns 0 if the signal has no handler,
 * or if the tool's timer was not created here. */
int fake_signal(void);

/* Makes `timer` (sample.h) take all further samples in the runtime. */
void fake_time_samples(sample_timer timer);

/* Prints the numbers of the callbacks that the tool has registered, in increasing order, one on each line. */
void fake_print_callbacks(void);

/* Returns the tool's functions for phases and events, or NULL if it has none. */
const struct blame_calls *fake_blame_calls(void);

/* Runs a parallel region. The first thread executes `body`, all others execute `worker`. */
#define FAKE_THREADS 256 /* at most */
void fake_parallel(unsigned threads, fake_body body, fake_body worker);

/* Waits at a barrier. During the wait, takes `samples` samples in the runtime, then calls `inside` unless it
 * is NULL. */
void fake_barrier(int samples, fake_body inside);
void fake_taskwait(fake_body inside);

/* Does work in the runtime, during which `samples` samples are taken. */
void fake_work(int samples);

/* Runs a loop with a static schedule, without the barrier at its end. */
void fake_loop(void);

/* Creates a task and executes it at once, as a thread does that finds no other task. */
void fake_task(fake_body body);

/* Start and end a task with if(0). Between the two calls, the program itself runs the code of the task. */
void fake_task_begin_if0(void);
void fake_task_complete_if0(void);

/* Initialise, acquire and release a lock that no other thread holds. */
void fake_lock_init(enum fake_lock kind, unsigned long id);
void fake_lock_destroy(enum fake_lock kind, unsigned long id);
void fake_lock_acquire(enum fake_lock kind, unsigned long id);
void fake_lock_release(enum fake_lock kind, unsigned long id);

/* Acquires a nestable lock that the calling thread holds already. */
void fake_lock_again(unsigned long id);

/* Acquires a lock that another thread holds. The wait is like that of fake_barrier(). */
void fake_lock_wait(enum fake_lock kind, unsigned long id, int samples, fake_body inside);

#endif
