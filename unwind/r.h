/* R's own functions. Each call of a closure has a record (RCNTXT) among the variables of R_execClosure, the C
 * function that evaluates it. A global variable of R has the innermost record. A stack frame that contains
 * the next record is a call of that function. R runs on one thread, and its records are on that thread's
 * stack.
 *
 * As for Python (unwind/python.h), nothing is called and no lock is taken; all data is read by
 * process_vm_readv and checked (guarantee Y2 of docs/concurrency.md). */
#ifndef BLAME_UNWIND_R_H
#define BLAME_UNWIND_R_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/python.h"

/* Looks for R, and flags its module (PROFILE_MODULE_R). [init] */
void r_init(void);

/* Returns true if there is an R. *why_not receives the reason why its functions are not read, or NULL. [init] */
bool r_found(const char **why_not);

/* A walk's position among R's calls. */
struct r_walk {
    uintptr_t record; /* record of the next call; 0: none further out */
    uintptr_t end;    /* end of the last frame met */
    uint32_t passed;  /* records skipped so far, see PYTHON_MAX_PASSED */
    bool broken;      /* there were more records before that frame */
};

void r_begin(struct r_walk *walk); /* [handler] */

/* Like python_meet() and python_next(). PYTHON_LOOP is a frame with records; `broken`: the last record could
 * not be read. [handler] */
enum python_kind r_meet(struct r_walk *walk, const struct unwind_frame *frame);
bool r_next(struct r_walk *walk, struct python_place *place, bool *broken);

#endif
