/* The thread that started the runtime. If a tool asks for the ends of critical sections, LLVM's runtime uses
 * that thread's record at every such end, without checking that the record still exists (LLVM 19,
 * __kmpc_end_critical; github.com/llvm/llvm-project/pull/169826). Once that thread has ended, the next
 * critical section would crash the program, so the tool must no longer ask for lock events. */
#ifndef BLAME_OMPT_TOOL_FIRST_THREAD_H
#define BLAME_OMPT_TOOL_FIRST_THREAD_H

#include <stdbool.h>

/* Returns true if the calling thread, which starts the runtime, is the process's first thread: that thread
 * usually lives until the process ends. Otherwise prints a line that says what will not be measured. [init] */
bool first_thread_stays(void);

/* Notes that the calling thread ends. If it is the process's first thread (pthread_exit()), stops the lock
 * events. [owner] */
void first_thread_ends(void);

/* Notes that the process exits: the first thread's end then leaves the lock events on. [init] */
void first_thread_exits(void);

/* When the first thread of a GCC program leaves main by pthread_exit(), libgomp's workers end with the
 * threads that they work for, and the process ends with its last thread. libomp's workers stay, so the
 * process would never end. Therefore, once the first thread has ended and only workers are left, the tool
 * exits the process with status 0, as it would end with libgomp. */

/* Prepares that exit if the program was built for libgomp. Must be called by the thread that starts the
 * runtime. [init] */
void first_thread_init(void);

#endif
