/* Phases: one entry for each phase and each of its numbered executions, over all contexts. The closest
 * enclosing phase owns a context; outside all phases it is the program's. */
#ifndef BLAME_COMMAND_TABLES_PHASES_H
#define BLAME_COMMAND_TABLES_PHASES_H

#include <stdbool.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/rows/row.h"

#define PHASE_THREAD_NONE UINT32_MAX       /* nobody known began it */
#define PHASE_THREAD_MANY (UINT32_MAX - 1) /* several threads did */

enum phase_instance { PHASE_STATIC, PHASE_NUMBERED, PHASE_OTHERS };

struct phase_entry {
    uint32_t name; /* number of its name; 0: the whole program */
    enum phase_instance is;
    uint64_t instance;
    uint32_t thread;                  /* place in profile->threads of the one that began it */
    struct profile_probe probe;       /* sums of all its executions, also of those inside each other */
    double exact_ns;                  /* by the clock; what is inside itself has its time once, here and below */
    struct profile_counters counters; /* in them */
    /* By samples of all threads: with and without nested phases. */
    struct profile_sums inclusive, exclusive;
    /* Inside no other execution of the phase. */
    double outer_ns;
    struct profile_counters outer_counters;
    struct profile_sums outer;
};

/* All executions of one phase. */
struct phase_group {
    uint32_t name; /* 0: the whole program */
    size_t first_entry, entry_count;
    struct profile_probe probe;
    double exact_ns;
    struct profile_counters counters; /* in all its executions, in those inside each other once */
    struct profile_sums inclusive, exclusive;
};

struct phase_table {
    const struct profile *profile;
    struct phase_entry *entry; /* the program first, then by name and instance, others last */
    size_t count;
    struct phase_group *group; /* the program first, then the most exact seconds */
    size_t group_count;
};

bool phases_any(const struct profile *profile);

struct phase_table *phases_gather(const struct profile *profile, const struct rows *rows);
void phases_free(struct phase_table *table);

/* "<program>" or the phase's name; borrowed. */
const char *phase_name(const struct phase_table *table, uint32_t name);

/* Standard deviation of one execution's seconds; 0 for none. */
double probe_deviation_s(const struct profile_probe *probe);
double probe_mean_s(const struct profile_probe *probe);

#endif
