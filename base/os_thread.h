/* A thread of this process, as the kernel shows it. */
#ifndef BLAME_BASE_OS_THREAD_H
#define BLAME_BASE_OS_THREAD_H

#include <sys/types.h>

/* 'R': it has a core or wants one, 'Z': it has ended, and so on as in proc(5); 0: there is none. [any] */
char os_thread_state(pid_t tid);

#endif
