/* The job that this process is a part of. */
#ifndef BLAME_OMPT_TOOL_SESSION_JOB_H
#define BLAME_OMPT_TOOL_SESSION_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/job_directory.h"

/* Of which job this process is a part: by the variables that launchers set for each rank, or the name that the user gave
 * (BLAME_JOB). Checked with Open MPI 4.1.4 and MPICH 4.0.2. */
#define JOB_NAME_BYTES 64

struct job {
    char name[JOB_NAME_BYTES];         /* for users: what %j stands for */
    char identity[JOB_IDENTITY_BYTES]; /* no other job has it */
    bool ranked;                       /* a launcher has given it a rank */
    bool speaks;          /* it is the first of its program's ranks: this process says at the end what to type */
    uint32_t rank, ranks; /* 0 ranks: how many is not known */
};

/* False: the process is a program of its own, or one rank of a job that nothing tells from others. [init] */
bool job_find(struct job *job);

#endif
