/* The job that this process belongs to. */
#ifndef BLAME_OMPT_TOOL_SESSION_JOB_H
#define BLAME_OMPT_TOOL_SESSION_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/job_directory.h"

/* A job, known from the variables that launchers set for each rank or from the user's name for it
 * (BLAME_JOB). Checked with Open MPI 4.1.4 and MPICH 4.0.2. */
#define JOB_NAME_BYTES 64

struct job {
    char name[JOB_NAME_BYTES];         /* the name that replaces %j */
    char identity[JOB_IDENTITY_BYTES]; /* unique text of this job */
    bool ranked;                       /* a launcher gave the process a rank */
    bool speaks;                       /* this process prints what to type at the end (first rank of its program) */
    uint32_t rank, ranks;              /* ranks: 0 if unknown */
};

/* Fills in *job. Returns false for a program of its own, and for a rank of a job that nothing identifies.
 * [init] */
bool job_find(struct job *job);

#endif
