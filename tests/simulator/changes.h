/* What happened, in the order in which it did: what oracle.h's functions note, for oracle.c to sum over. */
#ifndef BLAME_TESTS_SIMULATOR_CHANGES_H
#define BLAME_TESTS_SIMULATOR_CHANGES_H

#include <stddef.h>

#include "tests/simulator/oracle.h"

#define MAX_LOCKS 64u

struct change {
    uint64_t time_ns, place;
    uint32_t thread, context, lock; /* thread NO_THREAD: of the lock */
    uint32_t peer;                  /* about_rank: oracle_rank(); of a lock: its holder */
    uint32_t dispatch;              /* begins_idle: the context of what is dispatch */
    uint32_t next_owner, next_turn; /* of a lock: who has it, or its turn, next; NO_THREAD; thread + 1, 0: nobody */
    enum exact_state state;
    bool begins_idle, held, about_core, about_stop, about_rank, about_turn, no_core, stolen;
};

/* Fills in next_owner and next_turn, once all has happened. */
void changes_look_ahead(void);
size_t changes_count(void);
const struct change *changes_at(size_t number);

/* Of a lock that nobody holds, and who waits for it there; and of one whose holder, or next owner, has no core. */
uint32_t changes_handoff_of(uint32_t context, uint32_t lock);
uint32_t changes_no_core_of(uint32_t context, uint32_t lock);

#endif
