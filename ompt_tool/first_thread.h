/* The thread that started the runtime. LLVM's looks in that thread's record for where a critical section has ended, if that end is
 * told, and not whether there still is a record (LLVM 19, __kmpc_end_critical; github.com/llvm/llvm-project/pull/169826). So once the
 * thread has gone, the next critical section would end the program: nothing must be told of locks then. */
#ifndef BLAME_OMPT_TOOL_FIRST_THREAD_H
#define BLAME_OMPT_TOOL_FIRST_THREAD_H

#include <stdbool.h>

/* True if the calling thread, which starts the runtime, is the process's first: as a rule that stays to the end. Else a line says
 * what is not measured because of it. [init] */
bool first_thread_stays(void);

/* The calling thread ends: the process's first may, by pthread_exit(). [owner] */
void first_thread_ends(void);

/* The process ends, and all threads with it. [init] */
void first_thread_exits(void);

/* The end of a GCC program whose first thread leaves main by pthread_exit(). libgomp's workers end with the thread that they
 * work for, and the process ends with its last thread. libomp's workers stay: the process would never end. So once the first
 * thread has gone and no thread is left but workers, the process exits with status 0, as it does on libgomp. */

/* Has the process end so, where its runtime was libgomp. The calling thread starts the runtime. [init] */
void first_thread_init(void);

#endif
