/* Translates one rank's keys to the job's: modules by build id, locks and names by identity. */
#ifndef BLAME_COMMAND_PROFILE_JOB_KEYS_H
#define BLAME_COMMAND_PROFILE_JOB_KEYS_H

#include "command/profile/pair_map.h"
#include "command/profile/profile.h"

struct job_keys {
    uint32_t *module; /* by module number in the rank; [0] is 0 */
    size_t module_count;
    uint64_t *name; /* by name number in the rank; [0] is 0 */
    size_t name_count;
    struct pair_map lock_map; /* lock key -> lock */
    uint64_t *lock;
};

/* Prepares the translation. Adds the rank's modules and names to the job if they are new. */
void job_keys_start(struct job_keys *keys, struct profile *job, const struct profile *rank);
/* The same without changing the job, for a rank that the job contains already. */
void job_keys_find(struct job_keys *keys, const struct profile *job, const struct profile *rank);
void job_keys_end(struct job_keys *keys);

/* Translates the key of a node. */
uint64_t job_key_of(const struct job_keys *keys, uint8_t kind, uint64_t key);
/* Translates an address (a PROFILE_KEY). */
uint64_t job_key_address(const struct job_keys *keys, uint64_t key);

#endif
