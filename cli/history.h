/* The parts of `blame history`. */
#ifndef BLAME_CLI_HISTORY_H
#define BLAME_CLI_HISTORY_H

#include <stdbool.h>

struct history_request {
    const char *database, *where, *by, *order, *row, *output;
    double least; /* per cent */
    int metric;   /* HISTORY_WALL, or 1 more than an enum metric */
    int wait_s;
    bool csv;
};

#define HISTORY_WALL 0

/* Returns an exit status. */
int history_show(const struct history_request *request);

#endif
