/* From a critical section's lock to its name. libomp keeps the lock of a critical section on its own heap and
 * a pointer to it in a variable that the compiler named after the section; the wait id is the lock's address.
 * So the variables, found by name in the modules' symbol tables, are followed to their locks, once for each
 * lock that a sample saw a wait for. (At the end of the program libomp has freed the locks.) */
#ifndef BLAME_OMPT_TOOL_LOCKS_CRITICAL_NAMES_H
#define BLAME_OMPT_TOOL_LOCKS_CRITICAL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* *key: PROFILE_KEY of the variable whose critical section has this wait id; 0: there is none. Reads the
 * symbol tables of modules that are new to it, some hundred reads of files a call. False while another thread is at it, or there
 * is more to be read and the variable was not in what has been: to be asked again. [owner] */
bool critical_names_find(uint64_t wait_id, uint64_t *key);

#endif
