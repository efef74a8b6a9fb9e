/* Finds the R functions in a walk. Each call of an R closure has a record (RCNTXT) among the local variables
 * of R_execClosure, the C function that evaluates the closure. A global variable of R points to the innermost
 * record, and each record to the next outer one. So a stack frame that contains the next record is a call of
 * R_execClosure. R runs on one thread, and all records are on that thread's stack.
 *
 * As for Python (unwind/python.h), this code calls no R function and takes no lock. It reads all data by
 * process_vm_readv and checks them (guarantee Y2 of docs/concurrency.md). */
#ifndef BLAME_UNWIND_R_H
#define BLAME_UNWIND_R_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/python.h"

/* Looks for R in the process, and flags its module (PROFILE_MODULE_R). [init] */
void r_init(void);

/* Returns true if the process contains R. Sets *why_not to the reason for which R's functions are not read,
 * or to NULL if they are read. [init] */
bool r_found(const char **why_not);

/* A walk's position among the calls of R functions. */
struct r_walk {
    uintptr_t record; /* address of the record of the next outer call; 0: there is none */
    uintptr_t end;    /* end (CFA) of the last frame that was passed to r_meet() */
    uint32_t passed;  /* number of records skipped so far, limited by PYTHON_MAX_PASSED */
    bool broken;      /* true if this frame's record was not found within that limit */
};

void r_begin(struct r_walk *walk); /* [handler] */

/* These work like python_meet() and python_next(). PYTHON_LOOP means a frame that contains records.
 * walk->broken is set if a record could not be read. [handler] */
enum python_kind r_meet(struct r_walk *walk, const struct unwind_frame *frame);
bool r_next(struct r_walk *walk, struct python_place *place, bool *broken);

#endif
