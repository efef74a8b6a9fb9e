/* OMPT's events of a lock's begin and end. */
#ifndef BLAME_OMPT_TOOL_LOCK_LIFETIME_H
#define BLAME_OMPT_TOOL_LOCK_LIFETIME_H

#include <omp-tools.h>

/* lock_init and lock_destroy. [any] */
void lock_lifetime_begin(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,
                         const void *codeptr);
void lock_lifetime_end(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr);

#endif
