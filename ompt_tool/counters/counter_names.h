/* Names of counters as users write them: lists, periods, and similar names. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTER_NAMES_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_NAME_BYTES  128u
#define COUNTER_NEAREST     3u
#define COUNTER_MOST_PERIOD 10000000000ull /* in ns, 10^9 times that, it fits in 64 bits */

/* Copies the next name of a list separated by commas, without blanks around it; returns false at the end.
 * Skips empty names and cuts long ones. [any] */
bool counter_names_next(const char **list, char name[COUNTER_NAME_BYTES]);

/* Splits EVENT@PERIOD, with a whole number from 1 to COUNTER_MOST_PERIOD; returns false for other forms.
 * [any] */
bool counter_names_split(const char *text, char name[COUNTER_NAME_BYTES], uint64_t *period);

/* Returns how many letters must be changed, added or removed to make one name the other; case is ignored. The
 * part after "::" also stands for the whole name. [any] */
unsigned counter_names_distance(const char *wanted, const char *name);

/* The nearest names so far, nearest first. */
struct counter_nearest {
    unsigned count;
    unsigned distance[COUNTER_NEAREST];
    char name[COUNTER_NEAREST][COUNTER_NAME_BYTES];
};

/* Returns whether the name would be among the nearest; counter_nearest_add() adds it. [any] */
bool counter_nearest_wants(const struct counter_nearest *nearest, const char *wanted, const char *name);
void counter_nearest_add(struct counter_nearest *nearest, const char *wanted, const char *name); /* [any] */

#endif
