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

struct tau_event {
    const char *group, *path_group;
    double inclusive[METRIC_TOLD], exclusive[METRIC_TOLD];
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
    uint32_t *of_row, *own; /* a row's event; where its own time is, unless statements have it */
    size_t *length;         /* by depth: of the path to there */
};

void tau_events_gather(struct tau_events *events, const struct rows *rows);
void tau_events_free(struct tau_events *events);
size_t tau_events_lines(const struct tau_events *events);
/* Those lines, with the values of metric_parts[part]. */
void tau_events_put(struct tau_events *events, FILE *out, size_t part);
/* Exact times of phases, events and parameters. */
void tau_events_put_exact(const struct tau_events *events, FILE *out);

#endif
