/* A log of stacks with one line for each sample, in the format of hpsgprof. docs/time-and-traces.md describes
 * the columns. */
#ifndef BLAME_COMMAND_EXPORT_STACKS_H
#define BLAME_COMMAND_EXPORT_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command/profile/trace_tail.h"
#include "command/symbols/symbols.h"

enum stacks_clock { STACKS_WALL = 0, STACKS_CPU = 1 };

struct stacks;

/* Creates a writer for the samples of `tail`. symbols(data) must call trace_tail_tables() and return symbols
 * for the tail's modules. It is called before the first name is looked up. It is called again when samples
 * refer to modules or names that were unknown then; the symbols returned earlier are no longer used. */
struct stacks *stacks_new(FILE *out, struct trace_tail *tail, enum stacks_clock clock,
                          struct symbols *(*symbols)(void *), void *data);
void stacks_free(struct stacks *stacks);

/* Writes one line. With STACKS_CPU, nothing is written for a sample that did not find the thread running.
 * Returns false, with errno, if writing failed. */
bool stacks_put(struct stacks *stacks, const struct trace_sample *sample);

#endif
