/* OMPT's events of taking and releasing locks, critical sections, ordered and atomic regions. */
#ifndef BLAME_OMPT_TOOL_MUTEX_H
#define BLAME_OMPT_TOOL_MUTEX_H

#include <omp-tools.h>

/* mutex_acquire, mutex_acquired, mutex_released and nest_lock. [owner] */
void mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,
                   const void *codeptr);
void mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr);
void mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr);
void mutex_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait_id, const void *codeptr);

#endif
