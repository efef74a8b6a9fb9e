/* Translates the keys in one rank's profile into the job's keys. Modules are matched by build id, names by
 * their text, locks by their variable or initialiser. */
#ifndef BLAME_COMMAND_PROFILE_JOB_KEYS_H
#define BLAME_COMMAND_PROFILE_JOB_KEYS_H

#include "command/profile/pair_map.h"
#include "command/profile/profile.h"

struct job_keys {
    uint32_t *module; /* for each module number of the rank, the module's number in the job; [0] is 0 */
    size_t module_count;
    uint64_t *name; /* for each name number of the rank, the name's number in the job; [0] is 0 */
    size_t name_count;
    struct pair_map lock_map; /* maps the rank's lock key to an index into `lock` */
    uint64_t *lock;
};

/* Prepares the translation of a rank's keys. Adds the rank's modules and names to the job if they are new. */
void job_keys_start(struct job_keys *keys, struct profile *job, const struct profile *rank);
/* Prepares the translation for a rank that the job already contains. Does not change the job. */
void job_keys_find(struct job_keys *keys, const struct profile *job, const struct profile *rank);
void job_keys_end(struct job_keys *keys);

/* Returns the job's key for a node's key in the rank. */
uint64_t job_key_of(const struct job_keys *keys, uint8_t kind, uint64_t key);
/* Returns the job's key for an address (a PROFILE_KEY) in the rank. */
uint64_t job_key_address(const struct job_keys *keys, uint64_t key);

#endif
