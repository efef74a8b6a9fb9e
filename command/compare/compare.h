/* Compares runs of a program, which may be of different builds. Contexts are matched by name. Each context
 * has the values of all runs. */
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
    NORMALISE_NONE, /* s */
    NORMALISE_WALL, /* in per cent of the run's wall time */
    NORMALISE_WORK, /* in per cent of the run's work */
};

/* A context of at least one run. Context 0 is the root, and a parent comes before its children. */
struct compare_context {
    uint32_t parent; /* ROW_NONE for the root */
    uint32_t depth;
    uint8_t kind;           /* enum row_kind */
    bool found[SIDES];      /* for each side, whether one of its runs has the context */
    const char *canonical;  /* name by which contexts are matched: without numbers that compilers choose */
    struct row_label label; /* label in the last run that has the context */
};

/* Normalised inclusive and exclusive values, by enum metric. */
struct compare_amount {
    double inclusive[METRIC_NAMED], exclusive[METRIC_NAMED];
    struct error_basis basis_inclusive, basis_exclusive; /* not normalised */
};

struct compare_run {
    const char *name; /* the profile's name as the user gave it, or as it was found; borrowed */
    enum compare_side side;
    const struct profile *profile;
    double wall_s;
    double scale;      /* factor by which values are multiplied to normalise them */
    double nobody;     /* normalised thread time in which no thread was busy; no context contains it */
    bool nobody_shown; /* whether `nobody` is large enough for a line */
    struct error_terms error;
    struct compare_amount *amount; /* values of the contexts that the run has */
    size_t amount_count, amount_room;
    /* for each context: 1 + index in `amount`; 0: the run does not have the context. Later runs may have
     * added contexts beyond the end of this list. */
    uint32_t *amount_at;
    size_t known_count, known_room;
};

struct compare_names;

struct comparison {
    enum normalise normalise;
    /* whether samples were taken at counter overflows, so that values are in events instead of s */
    bool events;
    struct compare_context *context;
    size_t count, room;
    struct compare_run *run; /* runs of both sides, those of the base first */
    size_t run_count, side_count[SIDES];
    struct compare_names *names;
    struct pair_map children; /* maps (parent context, entry of the name) to the index of the context */
    double *scratch;          /* working space for the statistics of one value */
};

/* Creates a comparison of profiles. profile, name: the profiles and their names, those of the base first.
 * Both must outlive the comparison. It has no contexts until comparison_add() is called. */
struct comparison *comparison_new(const struct profile *const *profile, const char *const *name,
                                  const size_t side_count[SIDES], enum normalise normalise);
void comparison_free(struct comparison *comparison);

/* Adds the rows of a run, or a flat view of them. Runs must be added in order. The rows may be freed after
 * the call. */
void comparison_add(struct comparison *comparison, size_t run, const struct rows *rows);

/* Returns the value of a context in one run; 0 if the run does not have the context. */
double comparison_value(const struct comparison *comparison, size_t run, uint32_t context, enum metric metric,
                        bool inclusive);

struct compare_change {
    double before, after; /* medians of the runs of the base and of the new side */
    double low, high;     /* bounds of after - before (command/compare/statistics.h) */
    double percent;       /* after - before, in per cent of `before`; INFINITY if `before` is 0 */
    bool beyond_noise;
};

/* Returns after - before, as in comparison_change(), which takes much longer. */
double comparison_difference(const struct comparison *comparison, uint32_t context, enum metric metric, bool inclusive);
struct compare_change comparison_change(const struct comparison *comparison, uint32_t context, enum metric metric,
                                        bool inclusive);
/* Returns the change of a value that is known for each run. variance: sampling variance of the value in each
 * run; NULL for exact values. */
struct compare_change comparison_change_of(const struct comparison *comparison, const double *value,
                                           const double *variance);
/* Returns a lower bound on after - factor * before. */
double comparison_excess(const struct comparison *comparison, const double *value, const double *variance,
                         double factor);
/* Returns the sums, not normalised, on which the sampling error of a context's value depends. */
struct error_basis comparison_basis(const struct comparison *comparison, size_t run, uint32_t context, bool inclusive);
/* Returns an upper bound on the sampling variance of a value. basis: sums of the same contexts as the value. */
double comparison_variance(const struct comparison *comparison, size_t run, enum metric metric, double value,
                           struct error_basis basis);

/* Returns the change in the wall time. */
struct compare_change comparison_wall_change(const struct comparison *comparison);

/* comparison_nobody_change returns the change in the thread time in which no thread was busy.
 * comparison_shows_nobody returns whether this time is large enough for a line in one of the runs. */
struct compare_change comparison_nobody_change(const struct comparison *comparison);
bool comparison_shows_nobody(const struct comparison *comparison);

/* Returns the median effort of a side's runs. */
double comparison_effort(const struct comparison *comparison, enum compare_side side);
/* Returns whether a metric is large enough for a line in one of the runs, by the rule of metric_is_shown(). */
bool comparison_shows(const struct comparison *comparison, enum metric metric);
/* Returns the smallest change that counts: `percent` per cent of the base's effort or, if the base has none,
 * of the new side's effort. For METRIC_SAMPLES, returns this percentage of the samples. */
double comparison_least(const struct comparison *comparison, enum metric metric, double percent);

/* Returns the unit of the values: "s", "events", or what the percentages refer to. */
const char *comparison_unit(const struct comparison *comparison);

/* Returns the number of decimals to print in tables of these runs. */
int comparison_decimals(const struct comparison *comparison);

/* Returns a context's label, "name  file.c:12  < caller < caller", in at most `columns` columns. The caller
 * frees it. */
char *comparison_label(const struct comparison *comparison, uint32_t context, size_t columns, bool utf8);

/* Returns the indices of all contexts in the order in which a tree is printed. Siblings are sorted by
 * inclusive change, largest first. The caller frees the array. */
uint32_t *comparison_order(const struct comparison *comparison, enum metric metric);
/* Returns, for each context, its position in order[]. The caller frees the array. */
uint32_t *comparison_positions(const struct comparison *comparison, const uint32_t *order);

/* The first columns of every CSV file of contexts, and the function that writes them. id[]: id of each
 * context in the file. */
#define COMPARE_CSV_CONTEXT "id,parent,depth,kind,name,module,file,line"
void comparison_put_context(FILE *out, const struct comparison *comparison, uint32_t context, const uint32_t *id);

#endif
