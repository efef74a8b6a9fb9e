/* R's own functions. Each call of a closure has a record (RCNTXT) among the variables of the C function that evaluates it, R_execClosure, and a global variable of R's has
 * the innermost: a frame of the stack that holds the next record is a call of that function. R runs on one thread, whose stack the records lie on.
 *
 * As for Python (unwind/python.h) nothing is called, no lock is taken, and all is read by process_vm_readv and checked (guarantee Y2 of docs/concurrency.md). */
#ifndef BLAME_UNWIND_R_H
#define BLAME_UNWIND_R_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/python.h"

/* Looks for R, and flags its module (PROFILE_MODULE_R). [init] */
void r_init(void);

/* False: there is none; else why its functions are not read, or NULL behind it. [init] */
bool r_found(const char **why_not);

/* A walk's place among R's calls. */
struct r_walk {
    uintptr_t record; /* of the next call, 0: there is none further out */
    uintptr_t end;    /* of the frame that was met last */
    uint32_t passed;  /* records so far, see PYTHON_MAX_PASSED */
    bool broken;      /* there were more in front of that frame */
};

void r_begin(struct r_walk *walk); /* [handler] */

/* As python_meet() and python_next(): PYTHON_LOOP is a frame with records, broken: the last one could not be read. [handler] */
enum python_kind r_meet(struct r_walk *walk, const struct unwind_frame *frame);
bool r_next(struct r_walk *walk, struct python_place *place, bool *broken);

#endif
