/* The other ranks of the played process's job: each works and waits in turn, as the scenario says, and writes its line. */
#ifndef BLAME_TESTS_SIMULATOR_OTHER_RANKS_H
#define BLAME_TESTS_SIMULATOR_OTHER_RANKS_H

#include <stdint.h>

/* The plugin has started. */
void other_ranks_init(void);

/* What rank `number` does is over. */
void other_ranks_turn(uint32_t number);

#endif
