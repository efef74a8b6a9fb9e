/* Names of counters, as users write them: lists, periods, and which other names are near. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTER_NAMES_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_NAME_BYTES  128u
#define COUNTER_NEAREST     3u
#define COUNTER_MOST_PERIOD 10000000000ull /* as nanoseconds, 10^9 times that, it fits 64 bits */

/* The next name of a list separated by commas, without blanks around it; false at its end. Empty names are
 * skipped; one that is too long is cut. [any] */
bool counter_names_next(const char **list, char name[COUNTER_NAME_BYTES]);

/* EVENT@PERIOD, a whole number from 1 to COUNTER_MOST_PERIOD; false: it is not of that form. [any] */
bool counter_names_split(const char *text, char name[COUNTER_NAME_BYTES], uint64_t *period);

/* How many letters are to be changed, put in or left out to make one name of the other, of lower or upper
 * case. A name's part behind "::" stands for the whole, too. [any] */
unsigned counter_names_distance(const char *wanted, const char *name);

/* The nearest names so far, nearest first. */
struct counter_nearest {
    unsigned count;
    unsigned distance[COUNTER_NEAREST];
    char name[COUNTER_NEAREST][COUNTER_NAME_BYTES];
};

/* Whether the name would be among the nearest; add puts it there. [any] */
bool counter_nearest_wants(const struct counter_nearest *nearest, const char *wanted, const char *name);
void counter_nearest_add(struct counter_nearest *nearest, const char *wanted, const char *name); /* [any] */

#endif
