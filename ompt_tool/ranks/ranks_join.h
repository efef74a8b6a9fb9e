/* The memory in which the ranks of a job on one node see who of them waits in MPI (blame/ranks.h): made, joined, left. */
#ifndef BLAME_OMPT_TOOL_RANKS_RANKS_JOIN_H
#define BLAME_OMPT_TOOL_RANKS_RANKS_JOIN_H

#include <stdint.h>

#include "blame/ranks.h"

/* Of the program itself. */
struct ranks_program {
    uintptr_t code, code_bytes, load_bias;
    uint64_t build; /* equal for equal builds; 0: not known */
};
extern struct ranks_program ranks_program;

/* A call of that function that returns there. [any] */
static inline uint64_t ranks_join_call(uint32_t function, uintptr_t returns_to)
{
    bool in_program = returns_to - ranks_program.code < ranks_program.code_bytes;
    return RANKS_CALL(function, in_program ? returns_to - ranks_program.load_bias : 0);
}

/* This process becomes one of the job's ranks on this node, if it is a job's; without shared memory it sees none, and the file
 * says so. [init] */
void ranks_join(void);

/* It calls MPI: as one of the node's ranks it has come. [owner] */
void ranks_come(void);

/* And is none any more. Who leaves last removes the memory, unless all had come and it is removed already. [init] */
void ranks_leave(void);

#endif
