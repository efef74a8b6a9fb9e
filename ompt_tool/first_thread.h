/* The thread that started the runtime. If a tool has registered for lock releases, LLVM's runtime uses that
 * thread's record at the end of every critical section, without checking that the record still exists (LLVM
 * 19, __kmpc_end_critical; github.com/llvm/llvm-project/pull/169826). After that thread's end, the next
 * critical section would crash the program. The tool must unregister from lock events before. */
#ifndef BLAME_OMPT_TOOL_FIRST_THREAD_H
#define BLAME_OMPT_TOOL_FIRST_THREAD_H

#include <stdbool.h>

/* Returns true if lock events can be used: the runtime is not LLVM's, or the calling thread, which starts the
 * runtime, is the process's first thread, which usually lives until the process ends. Otherwise prints a line
 * that says what will not be measured. [init] */
bool first_thread_stays(void);

/* Notes that the calling thread ends. If it is the process's first thread (pthread_exit()), stops the lock
 * events of LLVM's runtime. [owner] */
void first_thread_ends(void);

/* Notes that the process exits. The lock events then stay registered when the first thread ends. [init] */
void first_thread_exits(void);

/* Suppose that the first thread of a program built by GCC leaves main by pthread_exit(). On libgomp, workers
 * end with the threads that they work for, so the process ends with its last thread. On libomp, workers never
 * end, so the process would not either. Once the first thread has ended and only workers are left, the tool
 * therefore exits the process with status 0, the status it would have on libgomp. */

/* Prepares this exit if the program was built for libgomp. Must be called by the thread that starts the
 * runtime. [init] */
void first_thread_init(void);

#endif
