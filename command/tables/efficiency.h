/* POP's efficiencies of a job, by its hybrid multiplicative model: formulas and sources are in docs/jobs.md. */
#ifndef BLAME_COMMAND_TABLES_EFFICIENCY_H
#define BLAME_COMMAND_TABLES_EFFICIENCY_H

#include "command/profile/profile.h"

enum efficiency {
    EFFICIENCY_PARALLEL, /* = LOAD_BALANCE x COMMUNICATION = MPI x OPENMP */
    EFFICIENCY_LOAD_BALANCE,
    EFFICIENCY_COMMUNICATION,
    EFFICIENCY_MPI,
    EFFICIENCY_MPI_LOAD_BALANCE,
    EFFICIENCY_MPI_COMMUNICATION,
    EFFICIENCY_MPI_SERIALISATION, /* x TRANSFER = MPI_COMMUNICATION; need a run on an ideal network: never told */
    EFFICIENCY_MPI_TRANSFER,
    EFFICIENCY_OPENMP,
    EFFICIENCY_OPENMP_LOAD_BALANCE,
    EFFICIENCY_OPENMP_COMMUNICATION,
    EFFICIENCIES
};

/* As run.json has them. */
extern const char *const efficiency_key[EFFICIENCIES];

struct efficiencies {
    double of[EFFICIENCIES];     /* NAN: cannot be told */
    double runtime_s;            /* of the process that was measured longest */
    uint64_t processes, threads; /* P, and T of all processes */
    double no_core, blocked;     /* parts of the useful time; NAN as above */
    const char *why;             /* none can be told; NULL: some can */
    const char *why_balance;     /* those over threads cannot, but others can; NULL: they can, or none */
};

struct efficiencies efficiencies_of(const struct profile *profile);

/* Of each rank's record: for how long its initial thread was measured and not waiting in MPI, in nanoseconds; NAN: the rank does not
 * count. malloc'ed; NULL: waiting in MPI cannot be told. */
double *ranks_outside_mpi(const struct profile *profile);

#endif
