/* Handles counter names as users write them: splits lists, reads sampling periods, and finds similar names. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTER_NAMES_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_NAME_BYTES 128u
#define COUNTER_NEAREST    3u
/* maximum number of events in a sampling period; 10^9 times this number fits in 64 bits */
#define COUNTER_MOST_PERIOD 10000000000ull

/* Copies the next name of a comma-separated list, without the blanks around it. Skips empty names and
 * truncates long ones. Returns false at the end of the list. [any] */
bool counter_names_next(const char **list, char name[COUNTER_NAME_BYTES]);

/* Splits a text of the form EVENT@PERIOD. PERIOD must be a whole number from 1 to COUNTER_MOST_PERIOD.
 * Returns false for other texts. [any] */
bool counter_names_split(const char *text, char name[COUNTER_NAME_BYTES], uint64_t *period);

/* Returns the number of letters that must be changed, added or removed to turn one name into the other,
 * ignoring case. This is computed for the whole names and for their parts after "::"; the smaller number is
 * returned. [any] */
unsigned counter_names_distance(const char *wanted, const char *name);

/* The names that are most similar to a wanted name, most similar first. */
struct counter_nearest {
    unsigned count;
    unsigned distance[COUNTER_NEAREST];
    char name[COUNTER_NEAREST][COUNTER_NAME_BYTES];
};

/* Returns true if counter_nearest_add() would accept the name. [any] */
bool counter_nearest_wants(const struct counter_nearest *nearest, const char *wanted, const char *name);
void counter_nearest_add(struct counter_nearest *nearest, const char *wanted, const char *name); /* [any] */

#endif
