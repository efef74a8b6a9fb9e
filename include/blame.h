/* What a program can tell blame of itself: phases, events and parameters, in its own terms. Header-only, for C
 * (C99 on) and C++ (C++11 on); nothing to link. Without the profiler every call is one predictable branch.
 *
 *     blame_phase_begin("solve");              static phase: one row
 *     blame_phase_end("solve");
 *     blame_iteration_begin("step", 17);       dynamic phase: a row per execution, with its number
 *     blame_iteration_end("step");
 *     blame_event_begin("pack");               event: counted and timed exactly
 *     blame_event_end("pack");
 *     blame_parameter_begin("size", 512);      parameter: a context "size = 512"
 *     blame_parameter_end("size");
 *
 *     blame::phase solve("solve");             C++: the same from here to the end of the scope
 *     blame::iteration step("step", i);
 *     blame::event pack("pack");
 *     blame::parameter size("size", n);
 *
 * They nest, and belong to the thread and task that calls them; a phase that is open where a parallel region
 * begins holds for all threads of the region. Names are kept by content. docs/phases.md has the rest. */
#ifndef BLAME_H
#define BLAME_H

#include <stddef.h>
#include <stdint.h>

/* The tool's side. A name is `bytes` long and needs no end mark. */
enum blame_kind { BLAME_PHASE = 13, BLAME_EVENT = 14, BLAME_PARAMETER = 15, BLAME_ITERATION = 16 };

struct blame_calls {
    uint32_t bytes; /* of this struct: later versions are longer */
    /* number: a parameter's value; an iteration's number, or BLAME_NEXT; else 0 */
    void (*begin)(const char *name, size_t bytes, enum blame_kind kind, int64_t number);
    void (*end)(const char *name, size_t bytes, enum blame_kind kind);
};

#define BLAME_NEXT    INT64_MIN /* the next number of that name */
#define BLAME_COMMAND 0x626c616d /* omp_control_tool(BLAME_COMMAND, sizeof(struct blame_calls), &pointer) */

#endif
