/* Traces of a made profile, and what is known of them. */
#ifndef BLAME_TESTS_EXPORT_MADE_TRACE_H
#define BLAME_TESTS_EXPORT_MADE_TRACE_H

#include <stdio.h>

#include "command/export/traced.h"

#define MADE_LANES 3 /* of trees 1 and so on */

/* A trace of so many threads, with gaps: seeded. */
struct trace *made_trace(const struct rows *rows, unsigned seed);
/* A line for each span, tabs between: process, thread, begin, end, state, samples, the row's id in profile.csv. */
void made_trace_put(FILE *out, const struct traced_process *processes, size_t count);

#endif
