/* The end of a GCC program whose first thread leaves main by pthread_exit(). libgomp's workers end with the thread that they
 * work for, and the process ends with its last thread. libomp's workers stay: the process would never end. So once the first
 * thread has gone and no thread is left but workers, the process exits with status 0, as it does on libgomp. */
#ifndef BLAME_OMPT_TOOL_LAST_THREAD_H
#define BLAME_OMPT_TOOL_LAST_THREAD_H

/* The calling thread starts the runtime. [init] */
void last_thread_init(void);

#endif
