#include "command/profile/job_keys.h"

#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/text/memory.h"

static bool profile_modules_match(const struct profile_module *a, const struct profile_module *b)
{
    if (a->vaddr_low != b->vaddr_low || a->vaddr_high != b->vaddr_high || a->build_id_bytes != b->build_id_bytes)
        return false;
    return a->build_id_bytes ? memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0 : strcmp(a->path, b->path) == 0;
}

/* Returns the module's number in the job. Adds the module if it is new. Ranks list nearly the same modules in
 * the same order, so the search starts after the module that was found last. */
static uint32_t job_find_module(struct profile *job, const struct profile_module *module, size_t *hint)
{
    for (size_t i = 0; i < job->module_count; i++) {
        size_t at = (*hint + i) % job->module_count;
        if (!profile_modules_match(&job->modules[at], module))
            continue;
        job->modules[at].flags |= module->flags;
        *hint = at + 1;
        return (uint32_t)at + 1;
    }
    size_t room = job->module_count; /* the list is full whenever its count is a power of two */
    if ((room & (room - 1)) == 0)
        job->modules = memory_check(reallocarray(job->modules, room ? 2 * room : 1, sizeof *job->modules));
    job->modules[job->module_count++] = *module;
    *hint = 0;
    return (uint32_t)job->module_count;
}

static uint64_t job_find_name(struct profile *job, const struct profile_name *name)
{
    for (size_t i = 0; i < job->name_count; i++) {
        struct profile_name *known = &job->names[i];
        if (known->kind != name->kind || known->place != name->place || strcmp(known->text, name->text) != 0)
            continue;
        known->flags |= name->flags;
        known->executions += name->executions;
        known->instances += name->instances;
        known->throttled_after += name->throttled_after;
        return i + 1;
    }
    size_t room = job->name_count;
    if ((room & (room - 1)) == 0)
        job->names = memory_check(reallocarray(job->names, room ? 2 * room : 1, sizeof *job->names));
    job->names[job->name_count++] = *name;
    return job->name_count;
}

uint64_t job_key_address(const struct job_keys *keys, uint64_t key)
{
    uint32_t module = PROFILE_KEY_MODULE(key);
    return module && module <= keys->module_count ? PROFILE_KEY(keys->module[module], PROFILE_KEY_VADDR(key)) : key;
}

/* Returns the address that a variable would have if its module were loaded at the load bias that the job's
 * record gives. */
static uint64_t job_keys_variable_address(const struct profile *job, uint64_t key)
{
    uint32_t module = PROFILE_KEY_MODULE(key);
    uint64_t bias = module && module <= job->module_count ? job->modules[module - 1].load_bias : 0;
    return PROFILE_KEY_VADDR(key) + bias;
}

/* Returns the job's key for a rank's lock. A lock's address differs between ranks, so the key is made from
 * the lock's variable or, if the variable is unknown, from the call that initialised the lock. All other
 * locks of one kind share a key. */
static uint64_t job_keys_lock(const struct job_keys *keys, const struct profile *job, const struct profile *rank,
                              const struct profile_lock *lock)
{
    uint64_t id = PROFILE_LOCK_KEY_ID(lock->key);
    for (size_t i = 0; i < rank->module_count; i++) {
        const struct profile_module *module = &rank->modules[i];
        uint64_t vaddr = id - module->load_bias;
        if (vaddr >= module->vaddr_low && vaddr < module->vaddr_high)
            return PROFILE_LOCK_KEY(
                PROFILE_LOCK_KEY_KIND(lock->key),
                job_keys_variable_address(job, job_key_address(keys, PROFILE_KEY((uint32_t)i + 1, vaddr))));
    }
    uint64_t by = lock->variable ? job_keys_variable_address(job, job_key_address(keys, lock->variable))
                                 : job_key_address(keys, lock->initialiser);
    return PROFILE_LOCK_KEY(PROFILE_LOCK_KEY_KIND(lock->key), by);
}

static void job_keys_map_lock(struct job_keys *keys, const struct profile *job, const struct profile *rank,
                              const struct profile_lock *lock, size_t *count)
{
    uint32_t *slot = pair_map_slot(&keys->lock_map, lock->key, 0);
    bool fresh = *slot == PAIR_MAP_NEW;
    if (fresh)
        *slot = (uint32_t)(*count)++;
    if (fresh || lock->variable || lock->initialiser)
        keys->lock[*slot] = job_keys_lock(keys, job, rank, lock);
}

void job_keys_start(struct job_keys *keys, struct profile *job, const struct profile *rank)
{
    size_t hint = 0, locks = 0;
    *keys = (struct job_keys){.module_count = rank->module_count, .name_count = rank->name_count};
    keys->module = memory_array(rank->module_count + 1, sizeof *keys->module);
    keys->name = memory_array(rank->name_count + 1, sizeof *keys->name);
    for (size_t i = 0; i < rank->module_count; i++)
        keys->module[i + 1] = job_find_module(job, &rank->modules[i], &hint);
    for (size_t i = 0; i < rank->name_count; i++) {
        struct profile_name name = rank->names[i];
        name.place = job_key_address(keys, name.place);
        keys->name[i + 1] = job_find_name(job, &name);
    }
    keys->lock = memory_array(rank->lock_count + rank->node_count + 1, sizeof *keys->lock);
    for (size_t i = 0; i < rank->lock_count; i++)
        job_keys_map_lock(keys, job, rank, &rank->locks[i], &locks);
    for (size_t i = 0; i < rank->node_count; i++)
        if (rank->nodes[i].kind == PROFILE_NODE_LOCK &&
            *pair_map_slot(&keys->lock_map, rank->nodes[i].key, 0) == PAIR_MAP_NEW)
            job_keys_map_lock(keys, job, rank, &(struct profile_lock){.key = rank->nodes[i].key}, &locks);
}

/* Copies a list to memory for the next power of two of records, as job_find_module() and job_find_name()
 * expect. */
static void *job_keys_copy_list(const void *list, size_t count, size_t bytes)
{
    size_t room = 1;
    while (room < count)
        room *= 2;
    void *copy = memory_array(room, bytes);
    if (count)
        memcpy(copy, list, count * bytes);
    return copy;
}

void job_keys_find(struct job_keys *keys, const struct profile *job, const struct profile *rank)
{
    struct profile lists = {.modules = job_keys_copy_list(job->modules, job->module_count, sizeof *job->modules),
                            .module_count = job->module_count,
                            .names = job_keys_copy_list(job->names, job->name_count, sizeof *job->names),
                            .name_count = job->name_count};
    job_keys_start(keys, &lists, rank);
    free(lists.modules);
    free(lists.names);
}

void job_keys_end(struct job_keys *keys)
{
    free(keys->module);
    free(keys->name);
    free(keys->lock);
    pair_map_free(&keys->lock_map);
}

static uint64_t job_keys_wait_key(const struct job_keys *keys, uint64_t key)
{
    uint64_t call = job_key_address(keys, PROFILE_PLACE_CALL(key));
    /* The key has no room for this module number. The call is then unknown, as it would be in the rank's own
     * file. */
    if (PROFILE_KEY_MODULE(call) >= PROFILE_PLACE_MODULES)
        call = 0;
    return (key & ~(uint64_t)0x0fffffffffffffffull) | call;
}

static uint64_t job_keys_ranks_call(const struct job_keys *keys, uint64_t key)
{
    uint64_t call = job_key_address(keys, PROFILE_RANKS_CALL(key));
    if (PROFILE_KEY_MODULE(call) >= PROFILE_PLACE_MODULES) /* no room in the key, as in job_keys_wait_key() */
        call = 0;
    return PROFILE_RANKS_KEY(PROFILE_RANKS_FUNCTION(key), call);
}

uint64_t job_key_of(const struct job_keys *keys, uint8_t kind, uint64_t key)
{
    switch (kind) {
    case PROFILE_NODE_FRAME:
    case PROFILE_NODE_HOLDER:
    case PROFILE_NODE_RUNTIME:
        return job_key_address(keys, key);
    case PROFILE_NODE_WAITERS:
        return job_keys_wait_key(keys, key);
    case PROFILE_NODE_RANKS:
        return job_keys_ranks_call(keys, key);
    case PROFILE_NODE_LOCK:
        return keys->lock[*pair_map_slot((struct pair_map *)&keys->lock_map, key, 0)];
    case PROFILE_NODE_PHASE:
    case PROFILE_NODE_EVENT:
    case PROFILE_NODE_PARAMETER:
        return key <= keys->name_count ? keys->name[key] : 0;
    default:
        return key;
    }
}
