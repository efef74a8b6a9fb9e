/* Creates, joins and leaves the shared memory in which the ranks of a job on one node see which of them wait
 * in MPI (blame/ranks.h). */
#ifndef BLAME_OMPT_TOOL_RANKS_RANKS_JOIN_H
#define BLAME_OMPT_TOOL_RANKS_RANKS_JOIN_H

#include <stdint.h>

#include "blame/ranks.h"

/* The module of the program's executable file. */
struct ranks_program {
    uintptr_t code, code_bytes, load_bias;
    uint64_t build; /* number that identifies the program's build; 0: unknown */
};
extern struct ranks_program ranks_program;

/* Returns the RANKS_CALL for a call of this MPI function with this return address. [any] */
static inline uint64_t ranks_join_call(uint32_t function, uintptr_t returns_to)
{
    bool in_program = returns_to - ranks_program.code < ranks_program.code_bytes;
    return RANKS_CALL(function, in_program ? returns_to - ranks_program.load_bias : 0);
}

/* Makes this process one of the job's ranks on this node, if it belongs to a job. If shared memory cannot be
 * used, this process sees no other rank, and the measurement file says so. [init] */
void ranks_join(void);

/* Notes that this process calls MPI, so that it counts as an arrived rank of this node. [owner] */
void ranks_come(void);

/* Leaves the node's ranks. The last rank to leave removes the shared memory's name, unless the name was
 * removed when all ranks had arrived. [init] */
void ranks_leave(void);

#endif
