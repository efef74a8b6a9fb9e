#include "command/profile/balance_job.h"

#include <stdlib.h>
#include <string.h>

#include "command/profile/balance.h"
#include "command/profile/job_keys.h"
#include "command/profile/job_reference.h"
#include "command/profile/merge.h"
#include "command/profile/node_tree.h"
#include "command/profile/read.h"
#include "command/text/memory.h"

#define NO_RECORD SIZE_MAX

struct rereading {
    struct balance balance;
    struct node_tree tree;
    struct job_reference like;
    size_t modules, names; /* number of the job's modules and names before its files are read again */
    struct profile_name *name;
    /* for each file, the index of its rank's record in the job, or NO_RECORD if the file is not used */
    size_t *record;
};

/* Returns the index of the rank's record in the job, or NO_RECORD. Records are sorted by rank. At most one
 * record of a rank has sums. */
static size_t balance_find_rank_record(const struct rereading *rereading, const struct profile *rank)
{
    const struct profile *job = rereading->balance.job;
    size_t first = 0, end = job->rank_count;
    while (first < end) {
        size_t middle = (first + end) / 2;
        if (job->ranks[middle].rank < rank->header.rank)
            first = middle + 1;
        else
            end = middle;
    }
    for (; first < job->rank_count && job->ranks[first].rank == rank->header.rank; first++)
        if (job->ranks[first].state <= PROFILE_RANK_OPEN)
            return job_why_foreign(&rereading->like, rank) ? NO_RECORD : first;
    return NO_RECORD;
}

static uint32_t *balance_map_rank_nodes(struct rereading *rereading, const struct profile *rank)
{
    uint32_t *node_map = memory_array(rank->node_count, sizeof *node_map);
    struct job_keys keys;
    job_keys_start(&keys, rereading->balance.job, rank);
    for (size_t i = 1; i < rank->node_count; i++) {
        const struct merged_node *node = &rank->nodes[i];
        node_map[i] = node_tree_child(&rereading->tree, node_map[node->parent], node->kind,
                                      job_key_of(&keys, node->kind, node->key));
    }
    job_keys_end(&keys);
    return node_map;
}

typedef void (*take_rank)(struct balance *balance, const struct profile *rank, const uint32_t *node_map, size_t record);

static void balance_read_rank(struct rereading *rereading, const char *path, size_t *record, take_rank take)
{
    char error[512];
    struct profile *rank = profile_read(path, error, sizeof error);
    *record = rank ? balance_find_rank_record(rereading, rank) : NO_RECORD;
    if (*record != NO_RECORD) {
        uint32_t *node_map = balance_map_rank_nodes(rereading, rank);
        take(&rereading->balance, rank, node_map, *record);
        free(node_map);
    }
    profile_free(rank);
}

static bool balance_rank_is_late(size_t record, const size_t *late, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (late[i] == record)
            return true;
    return false;
}

/* Stores the charges in the job and frees the rest. A rank that still runs may have got new nodes, modules
 * and names since the first reading; they are removed from the job. */
static void balance_finish(struct rereading *rereading)
{
    struct profile *job = rereading->balance.job;
    node_tree_end(&rereading->tree);
    balance_end(&rereading->balance);
    job->node_count = rereading->balance.nodes;
    job->module_count = rereading->modules;
    job->name_count = rereading->names;
    if (rereading->names)
        memcpy(job->names, rereading->name, rereading->names * sizeof *job->names);
    free(rereading->name);
    free(rereading->record);
    job_reference_free(&rereading->like);
}

void job_add_balance(struct profile *job, const char *const *paths, size_t count, const char *identity)
{
    struct rereading rereading = {
        .like = {.identity = identity}, .modules = job->module_count, .names = job->name_count};
    size_t late[BALANCE_RANKS];
    if (!balance_start(&rereading.balance, job))
        return;
    void (*progress)(size_t done, size_t total) = profile_read_progress;
    profile_read_progress = NULL;
    node_tree_resume(&rereading.tree, job);
    job_reference_find(&rereading.like, paths, count);
    rereading.record = memory_array(count, sizeof *rereading.record);
    rereading.name = memory_array(job->name_count, sizeof *rereading.name);
    if (job->name_count)
        memcpy(rereading.name, job->names, job->name_count * sizeof *rereading.name);
    for (size_t i = 0; i < count; i++) {
        balance_read_rank(&rereading, paths[i], &rereading.record[i], balance_add_rank);
        if (progress)
            progress(i + 1, count);
    }
    balance_charge_calls(&rereading.balance);
    size_t late_count = balance_late(&rereading.balance, late);
    for (size_t i = 0; i < count; i++)
        if (rereading.record[i] != NO_RECORD && balance_rank_is_late(rereading.record[i], late, late_count))
            balance_read_rank(&rereading, paths[i], &rereading.record[i], balance_charge_contexts);
    profile_read_progress = progress;
    balance_finish(&rereading);
}
