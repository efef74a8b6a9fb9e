/* The efficiencies of a job as POP defines them, in the multiplicative hybrid model. docs/jobs.md has the
 * formulas and their sources. */
#ifndef BLAME_COMMAND_TABLES_EFFICIENCY_H
#define BLAME_COMMAND_TABLES_EFFICIENCY_H

#include "command/profile/profile.h"

enum efficiency {
    EFFICIENCY_PARALLEL, /* LOAD_BALANCE x COMMUNICATION, and also MPI x OPENMP */
    EFFICIENCY_LOAD_BALANCE,
    EFFICIENCY_COMMUNICATION,
    EFFICIENCY_MPI,
    EFFICIENCY_MPI_LOAD_BALANCE,
    EFFICIENCY_MPI_COMMUNICATION,
    /* SERIALISATION x TRANSFER = MPI_COMMUNICATION. Always unknown, because both factors need a run on an
     * ideal network. */
    EFFICIENCY_MPI_SERIALISATION,
    EFFICIENCY_MPI_TRANSFER,
    EFFICIENCY_OPENMP,
    EFFICIENCY_OPENMP_LOAD_BALANCE,
    EFFICIENCY_OPENMP_COMMUNICATION,
    EFFICIENCIES
};

/* key of each enum efficiency in run.json */
extern const char *const efficiency_key[EFFICIENCIES];

struct efficiencies {
    double of[EFFICIENCIES];     /* NAN: unknown */
    double runtime_s;            /* measured time of the longest process, in s */
    uint64_t processes, threads; /* number of processes, and number of threads of all processes */
    double no_core, blocked;     /* fractions of the useful time; NAN: unknown */
    const char *why;             /* reason why all efficiencies are unknown; NULL: some are known */
    /* reason why the efficiencies that need the times of threads are unknown although others are known; NULL:
     * they are known, or all efficiencies are unknown */
    const char *why_balance;
};

struct efficiencies efficiencies_of(const struct profile *profile);

/* Returns, for each rank record, the ns for which the rank's initial thread was measured and did not wait in
 * MPI. The value is NAN for a rank without measurements. Returns NULL if waiting in MPI is unknown. The
 * caller frees the array. */
double *ranks_outside_mpi(const struct profile *profile);

#endif
