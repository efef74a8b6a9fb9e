/* TAU's profiles: the events of rows. */
#ifndef BLAME_EXPORT_TAU_H
#define BLAME_EXPORT_TAU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/profile/profile.h"
#include "report/rows/metric.h"
#include "report/rows/row.h"

/* Parts are metric_parts[], and behind them the rows' counters at samples. */
#define TAU_MOST_PARTS (METRIC_TOLD + PROFILE_COUNTERS)

static inline size_t tau_parts(const struct rows *rows)
{
    return METRIC_TOLD + rows->counter_count;
}

struct tau_event {
    const char *group, *path_group;
    double inclusive[TAU_MOST_PARTS], exclusive[TAU_MOST_PARTS];
    uint64_t calls, callees;
    uint32_t until;             /* calls of itself by itself end there: they are counted once */
    struct profile_probe exact; /* of a phase, event or parameter */
};

/* Of one thread's rows. */
struct tau_events {
    const struct rows *rows;
    struct strings *names;
    struct tau_event *event; /* by the number of its name; 0 is none */
    size_t count, room;
    uint32_t *of_row, *own; /* a row's event; where its own time is that no statement has */
    size_t *length;         /* by depth: of the path to there */
};

void tau_events_gather(struct tau_events *events, const struct rows *rows);
void tau_events_free(struct tau_events *events);
size_t tau_events_lines(const struct tau_events *events);
/* Those lines, with the values of a part. */
void tau_events_put(struct tau_events *events, FILE *out, size_t part);
/* Exact times of phases, events and parameters. */
void tau_events_put_exact(const struct tau_events *events, FILE *out);

#endif
