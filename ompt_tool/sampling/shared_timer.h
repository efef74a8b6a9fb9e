/* A thread's timer that other threads may disarm or delete. When a timer is deleted, the kernel may give its
 * number to the next new timer, perhaps one of the program's. Therefore a thread claims the timer before it
 * disarms it, and only the thread that has claimed a timer deletes it. No thread ever waits. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SHARED_TIMER_H
#define BLAME_OMPT_TOOL_SAMPLING_SHARED_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Returns the word that represents a timer. It consists of the timer's number and flags, one of which says
 * whether the timer is claimed. 0 stands for no timer. [handler] */
uint64_t shared_timer_word(timer_t timer);

/* Deletes the timer of a word that the caller has just replaced by 0. If another thread has claimed the
 * timer, that thread deletes it instead. [any] */
void shared_timer_delete(uint64_t word);

/* Disarms the timer of *word, if there is one, by a system call (timer_settime). Deletes the timer if its
 * owner replaces *word by 0 meanwhile. [any] */
void shared_timer_disarm(uint64_t *word, bool cpu_clock);

#endif
