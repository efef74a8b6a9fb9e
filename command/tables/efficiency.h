/* POP's efficiencies of a job in the multiplicative hybrid model. docs/jobs.md has formulas and sources. */
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
    /* SERIALISATION x TRANSFER = MPI_COMMUNICATION; never known, as both need a run on an ideal network */
    EFFICIENCY_MPI_SERIALISATION,
    EFFICIENCY_MPI_TRANSFER,
    EFFICIENCY_OPENMP,
    EFFICIENCY_OPENMP_LOAD_BALANCE,
    EFFICIENCY_OPENMP_COMMUNICATION,
    EFFICIENCIES
};

/* keys in run.json */
extern const char *const efficiency_key[EFFICIENCIES];

struct efficiencies {
    double of[EFFICIENCIES];     /* NAN: unknown */
    double runtime_s;            /* seconds for which the longest process was measured */
    uint64_t processes, threads; /* number of processes, and of threads in all of them */
    double no_core, blocked;     /* parts of the useful time; NAN if unknown */
    const char *why;             /* why no efficiency is known; NULL if one is */
    /* why efficiencies over threads are unknown though others are known; otherwise NULL */
    const char *why_balance;
};

struct efficiencies efficiencies_of(const struct profile *profile);

/* Returns for each rank record how many ns its initial thread was measured without waiting in MPI; NAN if the
 * rank does not count. Returns NULL if waiting in MPI is unknown. The caller frees it. */
double *ranks_outside_mpi(const struct profile *profile);

#endif
