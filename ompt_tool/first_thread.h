/* The thread that started the runtime. LLVM's runtime looks up the end of a critical section in that thread's
 * record, whenever a tool asks for that end, without checking that the record still exists (LLVM 19,
 * __kmpc_end_critical; github.com/llvm/llvm-project/pull/169826). So once the thread has gone, the next
 * critical section would crash the program. From then on the tool must not ask for any event of locks. */
#ifndef BLAME_OMPT_TOOL_FIRST_THREAD_H
#define BLAME_OMPT_TOOL_FIRST_THREAD_H

#include <stdbool.h>

/* Returns true if the calling thread, which starts the runtime, is the first of the process: it usually lives
 * to the end. Otherwise prints a line with what is not measured for that reason. [init] */
bool first_thread_stays(void);

/* Notes that the calling thread ends; the first thread of the process may, by pthread_exit(). [owner] */
void first_thread_ends(void);

/* Notes that the process ends, and all threads with it. [init] */
void first_thread_exits(void);

/* The end of a GCC program whose first thread leaves main by pthread_exit(). libgomp's workers end with the
 * thread that they work for, and the process ends with its last thread. libomp's workers stay, and the
 * process would never end. So once the first thread has gone and only workers are left, the process exits
 * with status 0, as it does with libgomp. */

/* Arranges for that end if the program's runtime was libgomp. The calling thread starts the runtime. [init] */
void first_thread_init(void);

#endif
