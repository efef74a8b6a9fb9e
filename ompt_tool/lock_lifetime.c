#include "ompt_tool/lock_lifetime.h"

#include "ompt_tool/context/capture.h"
#include "ompt_tool/locks/lock_names.h"

void lock_lifetime_begin(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,
                         const void *codeptr)
{
    (void)kind, (void)hint, (void)implementation;
    /* By now the caller is there; when a sample asks, it may have been unloaded. */
    lock_names_initialised(wait_id, codeptr ? capture_key((uintptr_t)codeptr - 1) : 0);
}

void lock_lifetime_end(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)kind, (void)codeptr;
    lock_names_destroyed(wait_id);
}
