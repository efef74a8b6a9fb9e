/* Phases: one entry for each phase and for each numbered execution, over all contexts. A context belongs to
 * the closest phase around it or, if there is none, to the program. */
#ifndef BLAME_COMMAND_TABLES_PHASES_H
#define BLAME_COMMAND_TABLES_PHASES_H

#include <stdbool.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/rows/row.h"

/* value of `thread` if no thread is known to have begun the phase */
#define PHASE_THREAD_NONE UINT32_MAX
#define PHASE_THREAD_MANY (UINT32_MAX - 1) /* value of `thread` if several threads began the phase */

enum phase_instance { PHASE_STATIC, PHASE_NUMBERED, PHASE_OTHERS };

struct phase_entry {
    uint32_t name; /* number of the phase's name in the profile; 0: the whole program */
    enum phase_instance is;
    uint64_t instance;
    uint32_t thread; /* index in profile->threads of the thread that began the phase */
    /* sums over all executions, including executions nested in others of the same phase */
    struct profile_probe probe;
    /* ns by the clock. In this field and the following ones, recursive executions count once. */
    double exact_ns;
    struct profile_counters counters; /* counts in the phase's executions */
    /* sums of all threads' samples, with and without nested phases */
    struct profile_sums inclusive, exclusive;
    /* the parts of the values above that are not inside another execution of the same phase */
    double outer_ns;
    struct profile_counters outer_counters;
    struct profile_sums outer;
};

/* All executions of one phase. */
struct phase_group {
    uint32_t name; /* number of the phase's name; 0: the whole program */
    size_t first_entry, entry_count;
    struct profile_probe probe;
    double exact_ns;
    struct profile_counters counters; /* sums over all executions; recursive executions count once */
    struct profile_sums inclusive, exclusive;
};

struct phase_table {
    const struct profile *profile;
    /* entries: the program first; then sorted by name and number of the execution, unnumbered executions last */
    struct phase_entry *entry;
    size_t count;
    struct phase_group *group; /* groups: the program first; then sorted by exact time, longest first */
    size_t group_count;
};

bool phases_any(const struct profile *profile);

struct phase_table *phases_gather(const struct profile *profile, const struct rows *rows);
void phases_free(struct phase_table *table);

/* Returns a phase's name, or "<program>". The text is borrowed. */
const char *phase_name(const struct phase_table *table, uint32_t name);

/* Returns the standard deviation, in s, of the durations of executions; 0 if there is none. */
double phase_deviation_s(const struct profile_probe *probe);
double phase_mean_s(const struct profile_probe *probe);

#endif
