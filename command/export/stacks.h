/* Writes a log of stacks with one line for each sample, in the format of hpsgprof. docs/time-and-traces.md
 * describes the columns. */
#ifndef BLAME_COMMAND_EXPORT_STACKS_H
#define BLAME_COMMAND_EXPORT_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command/profile/trace_tail.h"
#include "command/symbols/symbols.h"

enum stacks_clock { STACKS_WALL = 0, STACKS_CPU = 1 };

struct stacks;

/* Creates a log of the samples that `tail` reads. symbols(data) must call trace_tail_tables() and return
 * symbols for the modules of `tail`. It is called before the first name is looked up, and again when a sample
 * refers to a module or name that is unknown so far. The symbols that it returned earlier are not used
 * afterwards. */
struct stacks *export_stacks_new(FILE *out, struct trace_tail *tail, enum stacks_clock clock,
                                 struct symbols *(*symbols)(void *), void *data);
void export_stacks_free(struct stacks *stacks);

/* Writes the line of a sample. With STACKS_CPU, samples of threads that were not running have no line.
 * Returns false and sets errno if writing failed. */
bool export_stacks_put(struct stacks *stacks, const struct trace_sample *sample);

#endif
