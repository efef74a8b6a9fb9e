/* The job (a set of processes started together) to which this process belongs. */
#ifndef BLAME_OMPT_TOOL_SESSION_JOB_H
#define BLAME_OMPT_TOOL_SESSION_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/job_directory.h"

/* A job: processes that were started together and share an output directory. It is identified by the
 * variables that launchers set for each rank, or by the name that the user gives (BLAME_JOB). Checked with
 * Open MPI 4.1.4 and MPICH 4.0.2. */
#define JOB_NAME_BYTES 64

struct job {
    char name[JOB_NAME_BYTES];         /* name that replaces %j in BLAME_OUT */
    char identity[JOB_IDENTITY_BYTES]; /* text that no other job has */
    bool ranked;                       /* whether a launcher gave the process a rank */
    /* whether this process prints, at its end, the command to type next; only the first rank of each program
     * does */
    bool speaks;
    uint32_t rank, ranks; /* this rank's number; number of ranks, 0 if unknown */
};

/* Fills in *job. Returns false if the process belongs to no job, or if nothing identifies its job. [init] */
bool job_find(struct job *job);

#endif
