/* A thread's timer that another thread may disarm or delete. The kernel may give the number of a deleted
 * timer to the next one, which may be the program's. So a thread claims a timer before disarming it, and only
 * the claiming thread deletes a claimed timer. No thread ever waits. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SHARED_TIMER_H
#define BLAME_OMPT_TOOL_SAMPLING_SHARED_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Returns the timer's word: its number and whether it is claimed. 0 is the word of no timer. [any] */
uint64_t shared_timer_word(timer_t timer);

/* Deletes the timer of a word that the caller has replaced with 0, or leaves that to the thread that claimed
 * the timer. [any] */
void shared_timer_delete(uint64_t word);

/* Disarms the timer, if there is one; deletes it if its owner has given it up meanwhile. One system call
 * (timer_settime). [any] */
void shared_timer_disarm(uint64_t *word, bool cpu_clock);

#endif
