/* A log of stacks, as hpsgprof's: a line a sample. docs/time-and-traces.md says what stands in it. */
#ifndef BLAME_COMMAND_EXPORT_STACKS_H
#define BLAME_COMMAND_EXPORT_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command/profile/trace_tail.h"
#include "command/symbols/symbols.h"

enum stacks_clock { STACKS_WALL = 0, STACKS_CPU = 1 };

struct stacks;

/* Lines of the samples that the tail has. symbols(data) calls trace_tail_tables() and gives what is for its modules; it is called before the first
 * name, and again, and what it gave before is not used any more, when samples name what was not there then. */
struct stacks *stacks_new(FILE *out, struct trace_tail *tail, enum stacks_clock clock,
                          struct symbols *(*symbols)(void *), void *data);
void stacks_free(struct stacks *stacks);

/* One line; of the processor's time there is none for a sample that did not find the thread running. False, with errno: it could not be written. */
bool stacks_put(struct stacks *stacks, const struct trace_sample *sample);

#endif
