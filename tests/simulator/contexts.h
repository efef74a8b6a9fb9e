/* Where threads are, as the oracle counts it. */
#ifndef BLAME_TESTS_SIMULATOR_CONTEXTS_H
#define BLAME_TESTS_SIMULATOR_CONTEXTS_H

#include <stdint.h>

/* Contexts: functions below functions, and what is no function, as a number from CONTEXT_PHASE on: phases, locks, and
 * the handoff of those that nobody holds, a missing core, a team none of which works, what was stopped, and a program none of whose threads runs. 0 is the program. */
#define CONTEXT_PHASE        0x10000u
#define CONTEXT_HANDOFF      (CONTEXT_PHASE + '?')
#define CONTEXT_NO_CORE      (CONTEXT_PHASE + '!')
#define CONTEXT_NOBODY       (CONTEXT_PHASE + '-')
#define CONTEXT_STOPPED      (CONTEXT_PHASE + '|')
#define CONTEXT_NO_THREAD    (CONTEXT_PHASE + '0')
#define CONTEXT_LOCK(number) (CONTEXT_PHASE + 0x100 + (number))
#define WAIT_ID(lock)        (0x10000u + 64 * (lock)) /* of the runtime */
uint32_t context_child(uint32_t parent, uint32_t function);
uint32_t context_parent(uint32_t context);
uint32_t context_function(uint32_t context);
uint32_t context_count(void);

#endif
