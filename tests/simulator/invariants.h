/* Whether the plugin's own structures keep their invariants (tree_is_valid, state_is_valid) during a run. */
#ifndef BLAME_TESTS_SIMULATOR_INVARIANTS_H
#define BLAME_TESTS_SIMULATOR_INVARIANTS_H

/* Checks the current thread's tree and state line, at the end of a region. */
void invariants_check_region(void);

/* Checks all threads' trees and state lines, at the end of a run. Returns a text about the first damage that any check of
 * this run has found; NULL: none. */
const char *invariants_check_run(void);

#endif
