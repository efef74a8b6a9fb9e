/* Parts of Cube's archive. */
#ifndef BLAME_EXPORT_CUBE_H
#define BLAME_EXPORT_CUBE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "export/locations.h"
#include "export/measures.h"

struct cube {
    struct locations *locations;
    uint32_t *order;    /* locations as they are numbered: those of a node together */
    uint32_t *context;  /* by row: contexts are numbered in preorder, statements are none */
    uint32_t contexts;
    struct measures measures;
    size_t columns; /* the first measures, which are written */
};

void cube_put_anchor(FILE *out, const struct cube *cube);

/* Values are read location by location and written metric by metric: what there is of them is in a file between. */
struct cube_values;
/* Reads all locations. NULL: errno says why. */
struct cube_values *cube_values_read(const struct cube *cube);
void cube_values_free(struct cube_values *values);

/* Contexts that have something of a column, at least one. */
uint32_t cube_values_contexts(const struct cube_values *values, size_t column);
/* Their numbers, rising. */
void cube_values_put_index(const struct cube_values *values, FILE *out, size_t column);
/* For each of them a value for each location. false: errno says why. */
bool cube_values_put(const struct cube_values *values, FILE *out, size_t column);

#endif
