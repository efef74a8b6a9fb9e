/* Finds the R functions of a walk. Each call of an R closure has a record (RCNTXT) among the local variables
 * of R_execClosure, the C function that evaluates the closure. A global variable of R points to the innermost
 * record, and each record to the next outer one. So a stack frame that contains the next record is a call of
 * R_execClosure. R runs on one thread, and all records are on that thread's stack.
 *
 * As for Python (unwind/python.h), nothing in R is called and no lock is taken. All data is read by
 * process_vm_readv and checked (guarantee Y2 of docs/concurrency.md). */
#ifndef BLAME_UNWIND_R_H
#define BLAME_UNWIND_R_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/python.h"

/* Looks for R in the process, and flags its module (PROFILE_MODULE_R). [init] */
void r_init(void);

/* Returns true if the process contains R. Sets *why_not to the reason why R's functions are not read, or to
 * NULL. [init] */
bool r_found(const char **why_not);

/* A walk's position among the calls of R functions. */
struct r_walk {
    uintptr_t record; /* record of the next call, as its address; 0: there is none further out */
    uintptr_t end;    /* end (CFA) of the frame passed to r_meet() last */
    uint32_t passed;  /* number of records skipped until now, limited by PYTHON_MAX_PASSED */
    bool broken;      /* true if too many records were skipped to find the one of this frame */
};

void r_begin(struct r_walk *walk); /* [handler] */

/* Work like python_meet() and python_next(). PYTHON_LOOP means a frame with records. *broken is set if a
 * record could not be read. [handler] */
enum python_kind r_meet(struct r_walk *walk, const struct unwind_frame *frame);
bool r_next(struct r_walk *walk, struct python_place *place, bool *broken);

#endif
