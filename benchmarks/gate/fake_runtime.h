/* A part of an OpenMP runtime that does nothing but tell a tool what happens: the same events in the same
 * order in every run, so that instructions can be counted. Its functions call the program's code as libomp's
 * do, and say so in the frames of their tasks. */
#ifndef BLAME_BENCHMARKS_GATE_FAKE_RUNTIME_H
#define BLAME_BENCHMARKS_GATE_FAKE_RUNTIME_H

#include <stdbool.h>

#include "benchmarks/gate/sample.h"

enum fake_lock { FAKE_LOCK, FAKE_CRITICAL, FAKE_ORDERED, FAKE_NEST_LOCK };

typedef void (*fake_body)(void);

struct blame_calls; /* include/blame.h */

/* Loads the tool and makes the calling thread the initial thread; false, and why on stderr, when it does not
 * start. */
bool fake_start(const char *tool);

/* The signal that the tool samples with; 0 when that has no handler, or the tool got no timer from here. */
int fake_signal(void);

/* Samples in the runtime go to the timer from now on (sample.h). */
void fake_time_samples(sample_timer timer);

/* The numbers of the callbacks that the tool registered, sorted, one line each. */
void fake_print_callbacks(void);

/* The tool's calls for phases and events; NULL when it has none. */
const struct blame_calls *fake_blame_calls(void);

/* A region; all threads but the first execute `worker`. */
#define FAKE_THREADS 64 /* at most */
void fake_parallel(unsigned threads, fake_body body, fake_body worker);

/* A wait in which the runtime is sampled so often, and then does what `inside` (or NULL) does. */
void fake_barrier(int samples, fake_body inside);
void fake_taskwait(fake_body inside);

/* The runtime works, and is sampled so often. */
void fake_work(int samples);

/* A loop with a static schedule, without its barrier. */
void fake_loop(void);

/* Creates a task, and executes it at once, as a thread that finds no other would. */
void fake_task(fake_body body);

/* Around the code of a task with if(0), which the program calls itself. */
void fake_task_begin_if0(void);
void fake_task_complete_if0(void);

/* A lock that nobody holds. */
void fake_lock_init(enum fake_lock kind, unsigned long id);
void fake_lock_destroy(enum fake_lock kind, unsigned long id);
void fake_lock_acquire(enum fake_lock kind, unsigned long id);
void fake_lock_release(enum fake_lock kind, unsigned long id);

/* A nestable lock that the thread has already. */
void fake_lock_again(unsigned long id);

/* Asks for a lock that another thread holds: waits as above. */
void fake_lock_wait(enum fake_lock kind, unsigned long id, int samples, fake_body inside);

#endif
