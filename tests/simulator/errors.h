/* Compares the errors that reports state with the figures' real errors, in tables (tests/simulator/errors.md). */
#ifndef BLAME_TESTS_SIMULATOR_ERRORS_H
#define BLAME_TESTS_SIMULATOR_ERRORS_H

#include "tests/simulator/claims.h"

struct errors_figures; /* of one scenario */

struct errors_figures *errors_begin(void);
void errors_take_run(uint64_t seed, const struct run *run, void *figures);
/* Adds the figures to the tables and frees them. Returns false if a run is wrong in other ways. */
bool errors_end(struct errors_figures *figures, const struct scenario *scenario);

/* Runs the scenario with its share of the seeds and adds its figures to the tables. Returns false if a run is
 * wrong in other ways. */
bool errors_measure(const struct scenario *scenario, const struct claim_settings *settings);

/* Tests and prints, for each kind of figure: the share of figures of 30 samples or more that is covered, and the width. */
bool errors_claim(void);

/* Prints the page: a table with a line for each kind of figure, and one with a line for each scenario. If `figures` is
 * true, the second table has a line for each kind of figure in each scenario. */
void errors_print(bool figures, uint64_t seeds);

#endif
