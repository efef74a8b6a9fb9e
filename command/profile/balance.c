#include "command/profile/balance.h"

#include <math.h>
#include <stdlib.h>

#include "base/mpi_calls.h"
#include "command/text/memory.h"

#define NOTHING 1e-9 /* fraction of the mean; smaller differences are rounding errors */

static bool balance_rank_has_sums(const struct profile_rank *rank)
{
    return rank->state <= PROFILE_RANK_OPEN;
}

/* Returns whether a rank leaves this MPI function only after all ranks of the communicator have called it. In
 * functions with a root, and in most functions for files and windows, a rank may wait for only some of them. */
static bool balance_function_meets_all(uint64_t function)
{
    static const uint8_t meets[MPI_CALL_COUNT] = {
        [MPI_CALL_Barrier] = 1,         [MPI_CALL_Allgather] = 1,      [MPI_CALL_Allgatherv] = 1,
        [MPI_CALL_Alltoall] = 1,        [MPI_CALL_Alltoallv] = 1,      [MPI_CALL_Alltoallw] = 1,
        [MPI_CALL_Allreduce] = 1,       [MPI_CALL_Reduce_scatter] = 1, [MPI_CALL_Reduce_scatter_block] = 1,
        [MPI_CALL_Comm_dup] = 1,        [MPI_CALL_Comm_create] = 1,    [MPI_CALL_Comm_split] = 1,
        [MPI_CALL_Comm_split_type] = 1, [MPI_CALL_Win_create] = 1,     [MPI_CALL_Win_allocate] = 1,
        [MPI_CALL_Finalize] = 1,
    };
    return function < MPI_CALL_COUNT && meets[function];
}

static uint32_t balance_count_ranks(const struct profile *job)
{
    return job->header.ranks > job->header.merged ? job->header.ranks : job->header.merged;
}

/* Returns whether the calls of this node were made on communicators with all ranks of the job. In a smaller
 * communicator, a rank without waiting may just not be a member. MPI_Finalize has no communicator. */
static bool balance_call_has_all_ranks(const struct profile *job, const struct merged_node *node)
{
    const struct profile_sums *sums = &node->metric;
    return node->key == MPI_CALL_Finalize || sums->mpi_ranks >= (balance_count_ranks(job) - 0.5) * sums->mpi_calls;
}

static void balance_choose_calls(struct balance *balance)
{
    const struct profile *job = balance->job;
    double *unblamed = memory_array(job->node_count, sizeof *unblamed);
    for (uint32_t i = 1; i < job->node_count; i++) {
        const struct merged_node *node = &job->nodes[i];
        if (node->kind == PROFILE_NODE_MPI && balance_function_meets_all(node->key) && node->metric.mpi_wait > 0 &&
            balance_call_has_all_ranks(job, node))
            unblamed[i] += node->metric.mpi_wait;
        else if (node->kind == PROFILE_NODE_RANKS)
            unblamed[node->parent] -= node->metric.rank_waited;
    }
    for (; balance->calls < BALANCE_CALLS; balance->calls++) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < job->node_count; i++)
            if (unblamed[i] > (most ? unblamed[most] : 0))
                most = i;
        if (!most)
            break;
        balance->call[balance->calls] = most;
        unblamed[most] = 0;
    }
    free(unblamed);
}

/* Returns whether each rank is one process, and at least one rank could not see all others. If a rank had two
 * processes, each process's file would show less waiting than the rank had. */
static bool balance_ranks_are_comparable(const struct profile *job)
{
    const struct profile_rank *before = NULL;
    bool seen = job->header.ranks_seen >= balance_count_ranks(job);
    for (size_t i = 0; i < job->rank_count; i++) {
        if (!balance_rank_has_sums(&job->ranks[i]))
            continue;
        if (job->ranks[i].process || (before && before->rank == job->ranks[i].rank))
            return false;
        before = &job->ranks[i];
    }
    return job->header.merged > 1 && !seen;
}

bool balance_start(struct balance *balance, struct profile *job)
{
    *balance = (struct balance){.job = job, .nodes = job->node_count};
    if (balance_ranks_are_comparable(job))
        balance_choose_calls(balance);
    if (!balance->calls)
        return false;
    balance->waits = memory_array(job->rank_count, sizeof *balance->waits);
    balance->time = memory_array(balance->nodes, sizeof *balance->time);
    balance->context = memory_array(balance->nodes, sizeof *balance->context);
    return true;
}

/* Adds to time[], for each of the job's nodes, the rank's inverse_busy outside MPI: the node's share of the
 * time in which a thread was busy. */
static void balance_add_times(const struct balance *balance, const struct profile *rank, const uint32_t *node_map,
                              double *time)
{
    for (size_t i = 0; i < rank->node_count; i++) {
        const struct merged_node *node = &rank->nodes[i];
        uint32_t at = node_map[node->kind == PROFILE_NODE_LOCK ? node->parent : i];
        if (at < balance->nodes && node->kind != PROFILE_NODE_WAITERS && node->kind != PROFILE_NODE_RANKS &&
            node->kind != PROFILE_NODE_MPI)
            time[at] += node->metric.inverse_busy;
    }
}

void balance_add_rank(struct balance *balance, const struct profile *rank, const uint32_t *node_map, size_t record)
{
    struct balance_waits *waits = &balance->waits[record];
    waits->known = true;
    balance->ranks++;
    balance_add_times(balance, rank, node_map, balance->time);
    for (size_t i = 0; i < rank->node_count; i++) {
        const struct merged_node *node = &rank->nodes[i];
        if (node->kind != PROFILE_NODE_MPI && node->kind != PROFILE_NODE_RANKS)
            continue;
        uint32_t at = node_map[node->kind == PROFILE_NODE_RANKS ? node->parent : i];
        for (size_t call = 0; call < balance->calls; call++)
            if (balance->call[call] == at) {
                waits->all[call] += node->metric.mpi_wait;
                waits->unblamed[call] += node->metric.mpi_wait - node->metric.rank_waited;
            }
    }
}

/* When a rank arrived at a call, known by how long it waited there. */
struct arrival {
    double wait;
    double unblamed; /* fraction of `wait` for which no rank of the same node is blamed */
    size_t record;
};

/* Sorts by waiting time, longest first: the rank that waited longest arrived first. */
static int balance_compare_arrivals(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;
    if (a->wait != b->wait)
        return a->wait > b->wait ? -1 : 1;
    return (a->record > b->record) - (a->record < b->record);
}

/* Charges the waiting in one call to the late ranks, as if all ranks had met only once. Between two arrivals,
 * the waiting of the ranks that have arrived is charged in equal parts to the ranks that have not. */
static void balance_charge_call(struct balance *balance, size_t call, struct arrival *arrival)
{
    struct profile *job = balance->job;
    struct profile_balance *sum = &balance->of_call[call];
    size_t count = 0;
    /* number of waiting ranks, each weighted by its unblamed fraction; ns charged so far to each rank that
     * has not arrived */
    double there = 0, each = 0;
    for (size_t i = 0; i < job->rank_count; i++) {
        double all = balance->waits[i].all[call], unblamed = balance->waits[i].unblamed[call];
        if (balance->waits[i].known)
            arrival[count++] = (struct arrival){all, all > 0 ? fmin(1, fmax(0, unblamed / all)) : 0, i};
    }
    qsort(arrival, count, sizeof *arrival, balance_compare_arrivals);
    for (size_t i = 0; i < count; i++) {
        struct profile_rank *rank = &job->ranks[arrival[i].record];
        if (i > 0)
            each += there * (arrival[i - 1].wait - arrival[i].wait) / (double)(count - i);
        there += arrival[i].unblamed;
        rank->charged += each;
        sum->charged += each;
        if (each > sum->most) {
            sum->most = each;
            sum->most_rank = rank->rank;
        }
    }
    sum->common = count ? there * arrival[count - 1].wait : 0;
}

void balance_charge_calls(struct balance *balance)
{
    struct arrival *arrival = memory_array(balance->job->rank_count, sizeof *arrival);
    for (size_t call = 0; call < balance->calls; call++)
        balance_charge_call(balance, call, arrival);
    free(arrival);
    balance->more_ranks = (struct profile_balance){0};
    for (size_t i = 0; i < balance->job->rank_count; i++)
        balance->more_ranks.charged += balance->job->ranks[i].charged;
}

size_t balance_late(const struct balance *balance, size_t late[BALANCE_RANKS])
{
    const struct profile_rank *ranks = balance->job->ranks;
    size_t count = 0;
    for (size_t i = 0; i < balance->job->rank_count; i++) {
        if (!(ranks[i].charged > 0) || (count == BALANCE_RANKS && ranks[i].charged <= ranks[late[count - 1]].charged))
            continue;
        size_t at = count < BALANCE_RANKS ? count++ : count - 1;
        for (; at > 0 && ranks[late[at - 1]].charged < ranks[i].charged; at--)
            late[at] = late[at - 1];
        late[at] = i;
    }
    return count;
}

static void balance_add_charge(struct profile_balance *to, double charged, uint32_t rank, double time, double mean)
{
    to->charged += charged;
    if (charged <= to->most)
        return;
    to->most = charged;
    to->most_rank = rank;
    to->time = time;
    to->mean = mean;
}

struct excess {
    double own, whole; /* ns above the mean over the ranks: in the context alone, and with its callees */
    double weight;     /* weight of the context in the division of its caller's charge */
    /* sum of the weights by which the context's charge is divided: its own weight, and those of its callees */
    double parts;
    double charged;
};

/* Computes the weights from the leaves to the root. A context's weight is its inclusive excess, which varies
 * less by chance than many small parts. The weight is at least the largest weight of a callee, because a
 * callee that took less than the mean must not hide one that took more. */
static void balance_weigh_contexts(struct excess *excess, const struct merged_node *nodes, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        struct excess *of = &excess[i], *above = &excess[nodes[i].parent];
        of->whole += of->own;
        of->weight = fmax(of->weight, fmax(0, fmax(of->own, of->whole)));
        of->parts += fmax(0, of->own);
        if (i == 0)
            return;
        above->whole += of->whole;
        above->weight = fmax(above->weight, of->weight);
        above->parts += of->weight;
    }
}

void balance_charge_contexts(struct balance *balance, const struct profile *rank, const uint32_t *node_map,
                             size_t record)
{
    const struct profile_rank *late = &balance->job->ranks[record];
    struct excess *excess = memory_array(balance->nodes, sizeof *excess);
    double *time = memory_array(balance->nodes, sizeof *time);
    balance_add_times(balance, rank, node_map, time);
    for (size_t i = 0; i < balance->nodes; i++) {
        double mean = balance->time[i] / (double)balance->ranks;
        excess[i].own = fabs(time[i] - mean) > NOTHING * mean ? time[i] - mean : 0;
    }
    balance_weigh_contexts(excess, balance->job->nodes, balance->nodes);
    excess[0].charged = late->charged;
    balance->more_ranks.charged -= late->charged;
    if (!(excess[0].parts > 0))
        balance_add_charge(&balance->no_context, late->charged, late->rank, 0, 0);
    for (size_t i = 0; i < balance->nodes; i++) {
        const struct excess *above = &excess[balance->job->nodes[i].parent];
        if (i > 0 && above->charged > 0 && above->parts > 0)
            excess[i].charged = above->charged * excess[i].weight / above->parts;
        if (excess[i].charged > 0 && excess[i].own > 0)
            balance_add_charge(&balance->context[i], excess[i].charged * excess[i].own / excess[i].parts, late->rank,
                               time[i], balance->time[i] / (double)balance->ranks);
    }
    free(time);
    free(excess);
}

static void balance_put(struct profile *job, size_t *room, uint32_t node, uint32_t key,
                        const struct profile_balance *balance)
{
    memory_grow(&job->balances, room, job->balance_count, sizeof *job->balances);
    job->balances[job->balance_count++] = (struct merged_balance){node, key, *balance};
}

static int balance_compare_records(const void *left, const void *right)
{
    const struct merged_balance *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

static void balance_sort(struct profile *profile)
{
    if (profile->balance_count)
        qsort(profile->balances, profile->balance_count, sizeof *profile->balances, balance_compare_records);
}

void balance_end(struct balance *balance)
{
    struct profile *job = balance->job;
    size_t room = 0;
    for (size_t i = 0; i < balance->calls; i++)
        balance_put(job, &room, balance->call[i], PROFILE_BALANCE_CALL, &balance->of_call[i]);
    for (uint32_t i = 0; i < balance->nodes; i++)
        if (balance->context[i].charged > 0)
            balance_put(job, &room, i, PROFILE_BALANCE_CONTEXT, &balance->context[i]);
    if (balance->no_context.charged > 0)
        balance_put(job, &room, 0, PROFILE_BALANCE_NO_CONTEXT, &balance->no_context);
    balance->more_ranks.charged = fmax(0, balance->more_ranks.charged);
    if (balance->more_ranks.charged > 0)
        balance_put(job, &room, 0, PROFILE_BALANCE_MORE_RANKS, &balance->more_ranks);
    balance_sort(job);
    free(balance->waits);
    free(balance->time);
    free(balance->context);
}

static bool balance_sane(const struct profile_balance *balance)
{
    const double numbers[] = {balance->charged, balance->most, balance->common, balance->time, balance->mean};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!profile_number_sane(numbers[i]) || numbers[i] < 0)
            return false;
    return true;
}

const char *profile_read_balances(const struct profile_chunks *chunks, const uint32_t *node_map,
                                  struct profile *profile)
{
    struct profile_below below;
    const struct profile_balance *balance;
    size_t room = 0;
    uint32_t at = 0;
    while (profile->header.merged &&
           (balance = profile_next_below(chunks, node_map, PROFILE_NODE_BALANCE, &at, &below))) {
        if (below.node->key >= PROFILE_BALANCE_KEYS)
            continue;
        if (!balance_sane(balance))
            return "damaged: the waiting time charged to a rank is not a possible value";
        balance_put(profile, &room, below.merged, (uint32_t)below.node->key, balance);
    }
    balance_sort(profile);
    return NULL;
}
