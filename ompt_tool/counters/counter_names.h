/* Counter names as users write them: lists, sampling periods, and similar names. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTER_NAMES_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_NAME_BYTES  128u
#define COUNTER_NEAREST     3u
#define COUNTER_MOST_PERIOD 10000000000ull /* in events; 10^9 times this number fits in 64 bits */

/* Copies the next name of a comma-separated list, without the blanks around it. Skips empty names and cuts
 * long ones. Returns false at the end of the list. [any] */
bool counter_names_next(const char **list, char name[COUNTER_NAME_BYTES]);

/* Splits EVENT@PERIOD, where PERIOD is a whole number from 1 to COUNTER_MOST_PERIOD. Returns false for other
 * texts. [any] */
bool counter_names_split(const char *text, char name[COUNTER_NAME_BYTES], uint64_t *period);

/* Returns how many letters must be changed, added or removed to turn one name into the other, ignoring case.
 * The smaller distance counts: that of the whole names or that of their parts after "::". [any] */
unsigned counter_names_distance(const char *wanted, const char *name);

/* The names nearest to a wanted one, nearest first. */
struct counter_nearest {
    unsigned count;
    unsigned distance[COUNTER_NEAREST];
    char name[COUNTER_NEAREST][COUNTER_NAME_BYTES];
};

/* Returns true if counter_nearest_add() would add the name. [any] */
bool counter_nearest_wants(const struct counter_nearest *nearest, const char *wanted, const char *name);
void counter_nearest_add(struct counter_nearest *nearest, const char *wanted, const char *name); /* [any] */

#endif
