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

struct second {
    struct balance balance;
    struct node_tree tree;
    struct job_reference like;
    size_t modules, names; /* numbers of modules and names in the job before the second reading */
    struct profile_name *name;
    /* by file: index of its rank's record in the job, or NO_RECORD if the file does not count */
    size_t *record;
};

/* Returns the index of the rank's record in the job, or NO_RECORD. Records are sorted by rank, and at most
 * one record of a rank has figures. */
static size_t rank_record_of(const struct second *second, const struct profile *rank)
{
    const struct profile *job = second->balance.job;
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
            return job_why_foreign(&second->like, rank) ? NO_RECORD : first;
    return NO_RECORD;
}

static uint32_t *map_nodes_to_job(struct second *second, const struct profile *rank)
{
    uint32_t *place = memory_array(rank->node_count, sizeof *place);
    struct job_keys keys;
    job_keys_start(&keys, second->balance.job, rank);
    for (size_t i = 1; i < rank->node_count; i++) {
        const struct merged_node *node = &rank->nodes[i];
        place[i] =
            node_tree_child(&second->tree, place[node->parent], node->kind, job_key_of(&keys, node->kind, node->key));
    }
    job_keys_end(&keys);
    return place;
}

typedef void (*take_rank)(struct balance *balance, const struct profile *rank, const uint32_t *place, size_t record);

static void read_rank(struct second *second, const char *path, size_t *record, take_rank take)
{
    char error[512];
    struct profile *rank = profile_read(path, error, sizeof error);
    *record = rank ? rank_record_of(second, rank) : NO_RECORD;
    if (*record != NO_RECORD) {
        uint32_t *place = map_nodes_to_job(second, rank);
        take(&second->balance, rank, place, *record);
        free(place);
    }
    profile_free(rank);
}

static bool is_late_record(size_t record, const size_t *late, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (late[i] == record)
            return true;
    return false;
}

/* Ends the second reading. A rank that still runs may have new nodes, modules and names by then; they are
 * removed from the job. */
static void balance_finish(struct second *second)
{
    struct profile *job = second->balance.job;
    node_tree_end(&second->tree);
    balance_end(&second->balance);
    job->node_count = second->balance.nodes;
    job->module_count = second->modules;
    job->name_count = second->names;
    if (second->names)
        memcpy(job->names, second->name, second->names * sizeof *job->names);
    free(second->name);
    free(second->record);
    job_reference_free(&second->like);
}

void job_add_balance(struct profile *job, const char *const *paths, size_t count, const char *identity)
{
    struct second second = {.like = {.identity = identity}, .modules = job->module_count, .names = job->name_count};
    size_t late[BALANCE_RANKS];
    if (!balance_start(&second.balance, job))
        return;
    void (*progress)(size_t done, size_t total) = profile_read_progress;
    profile_read_progress = NULL;
    node_tree_resume(&second.tree, job);
    job_reference_find(&second.like, paths, count);
    second.record = memory_array(count, sizeof *second.record);
    second.name = memory_array(job->name_count, sizeof *second.name);
    if (job->name_count)
        memcpy(second.name, job->names, job->name_count * sizeof *second.name);
    for (size_t i = 0; i < count; i++) {
        read_rank(&second, paths[i], &second.record[i], balance_add_rank);
        if (progress)
            progress(i + 1, count);
    }
    balance_charge_calls(&second.balance);
    size_t late_count = balance_late(&second.balance, late);
    for (size_t i = 0; i < count; i++)
        if (second.record[i] != NO_RECORD && is_late_record(second.record[i], late, late_count))
            read_rank(&second, paths[i], &second.record[i], balance_charge_contexts);
    profile_read_progress = progress;
    balance_finish(&second);
}
