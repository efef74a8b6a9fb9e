/* Runs of a program, perhaps of different builds, laid over one another: contexts are matched by names, and
 * each has the numbers of every run. */
#ifndef BLAME_COMMAND_COMPARE_COMPARE_H
#define BLAME_COMMAND_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/rows/error.h"

enum compare_side { SIDE_BASE, SIDE_NEW, SIDES };

enum normalise {
    NORMALISE_NONE, /* seconds */
    NORMALISE_WALL, /* per cent of the run's wall time */
    NORMALISE_WORK, /* per cent of the run's work */
};

/* A context of all runs; context 0 is the root, parents stand before their children. */
struct compare_context {
    uint32_t parent; /* ROW_NONE for the root */
    uint32_t depth;
    uint8_t kind;           /* enum row_kind */
    bool found[SIDES];      /* in a run of the side */
    const char *canonical;  /* what the context is matched by: the name without the compiler's numbers */
    struct row_label label; /* of the last run that has the context */
};

/* Inclusive and exclusive values by enum metric, normalised. */
struct compare_amount {
    double inclusive[METRIC_NAMED], exclusive[METRIC_NAMED];
    struct error_basis basis_inclusive, basis_exclusive; /* not normalised */
};

struct compare_run {
    const char *name; /* the profile, as the user gave it or found it; borrowed */
    enum compare_side side;
    const struct profile *profile;
    double wall_s;
    double scale;     /* of values, by normalisation */
    double nobody;    /* threads' time in which no thread was busy, which no context has; normalised */
    bool nobody_told; /* it is worth a line */
    struct error_terms error;
    struct compare_amount *amount; /* of the contexts that the run has */
    size_t amount_count, amount_room;
    uint32_t *amount_at; /* by context, as far as it was known when the run was added: its amount + 1, or 0 */
    size_t known_count, known_room;
};

struct compare_names;

struct comparison {
    enum normalise normalise;
    bool events; /* samples by overflow: what is in seconds elsewhere is in events */
    struct compare_context *context;
    size_t count, room;
    struct compare_run *run; /* the base's first */
    size_t run_count, side_count[SIDES];
    struct compare_names *names;
    struct pair_map children; /* parent, entry -> context */
    double *scratch;          /* room for the statistics of one value */
};

/* names: of the profiles, which are those of the base first, then the new ones; all must outlive the
 * comparison. The runs are there, their contexts come by comparison_add(). */
struct comparison *comparison_new(const struct profile *const *profile, const char *const *name,
                                  const size_t side_count[SIDES], enum normalise normalise);
void comparison_free(struct comparison *comparison);

/* Lays a run's rows (or its flat view) over the others; runs come in their order, and the rows may be freed
 * afterwards. */
void comparison_add(struct comparison *comparison, size_t run, const struct rows *rows);

/* A value of one run; 0 where the run has not got the context. */
double comparison_value(const struct comparison *comparison, size_t run, uint32_t context, enum metric metric,
                        bool inclusive);

struct compare_change {
    double before, after; /* medians of the runs of each side */
    double low, high;     /* of after - before, see command/compare/statistics.h */
    double percent;       /* of before; INFINITY when there was nothing before */
    bool beyond_noise;
};

struct compare_change comparison_change(const struct comparison *comparison, uint32_t context, enum metric metric,
                                        bool inclusive);
/* Of numbers by run; variance NULL: exact. */
struct compare_change comparison_change_of(const struct comparison *comparison, const double *value,
                                           const double *variance);
/* The least that after - factor * before can be. */
double comparison_excess(const struct comparison *comparison, const double *value, const double *variance,
                         double factor);
/* What its error is made of, besides; not normalised. */
struct error_basis comparison_basis(const struct comparison *comparison, size_t run, uint32_t context, bool inclusive);
/* Variance by sampling of a value of a run, from above; basis: of the same contexts. */
double comparison_variance(const struct comparison *comparison, size_t run, enum metric metric, double value,
                           struct error_basis basis);

/* Of the wall times. */
struct compare_change comparison_wall_change(const struct comparison *comparison);

/* Of threads' time in which no thread was busy. Whether it is worth a line: in one run at least. */
struct compare_change comparison_nobody_change(const struct comparison *comparison);
bool comparison_shows_nobody(const struct comparison *comparison);

/* The median effort of a side's runs. */
double comparison_effort(const struct comparison *comparison, enum compare_side side);
/* Whether the metric is worth a line: as metric_is_shown(), in one run at least. */
bool comparison_shows(const struct comparison *comparison, enum metric metric);
/* A share of the base's effort (of its samples, if these are the metric; of the new one's if the base has
 * none), which changes must reach to count. */
double comparison_least(const struct comparison *comparison, enum metric metric, double percent);

/* "s", or what values are per cent of. */
const char *comparison_unit(const struct comparison *comparison);

/* Digits behind the point that tables of these runs have. */
int comparison_decimals(const struct comparison *comparison);

/* "name  file.c:12  < caller < caller", at most `columns` wide; malloc'ed. */
char *comparison_label(const struct comparison *comparison, uint32_t context, size_t columns, bool utf8);

/* Contexts as a tree is printed, siblings by their change of the inclusive metric, the greatest first:
 * `count` indices, malloc'ed. */
uint32_t *comparison_order(const struct comparison *comparison, enum metric metric);
/* The place of each context in that order; malloc'ed. */
uint32_t *comparison_places(const struct comparison *comparison, const uint32_t *order);

/* The columns that every CSV of contexts begins with; id[] by context. */
#define COMPARE_CSV_CONTEXT "id,parent,depth,kind,name,module,file,line"
void comparison_put_context(FILE *out, const struct comparison *comparison, uint32_t context, const uint32_t *id);

#endif
