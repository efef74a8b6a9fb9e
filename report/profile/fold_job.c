#include "report/profile/fold_job.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/fold.h"
#include "report/profile/node_tree.h"
#include "report/text/memory.h"

static void add_value(struct profile_time_value *to, const struct profile_time_value *from, float threads)
{
    to->own += from->own;
    to->inverse_busy += from->inverse_busy * threads;
    to->shared_idle += from->shared_idle;
    to->lock_wait += from->lock_wait;
}

static void add_counts(struct profile_fold *to, const struct profile_fold *from)
{
    for (int i = 0; i < 2; i++) {
        to->instances[i] += from->instances[i];
        to->duration_ns[i] += from->duration_ns[i];
        to->samples[i] += from->samples[i];
    }
    to->left_out += from->left_out;
    to->thinned += from->thinned;
    to->overtaken += from->overtaken;
    to->cut += from->cut;
    to->no_room += from->no_room;
    if (from->high_ns) {
        to->low_ns = to->high_ns && to->low_ns < from->low_ns ? to->low_ns : from->low_ns;
        to->high_ns = to->high_ns > from->high_ns ? to->high_ns : from->high_ns;
    }
}

/* The job's fold of that name, made if it is not there. */
static struct merged_fold *fold_of(struct profile *job, uint32_t name, bool outliers)
{
    for (size_t i = 0; i < job->fold_count; i++)
        if (job->folds[i].counts.name == name && job->folds[i].outliers == outliers)
            return &job->folds[i];
    job->folds = memory_check(reallocarray(job->folds, job->fold_count + 1, sizeof *job->folds));
    job->folds[job->fold_count] = (struct merged_fold){.counts.name = name, .outliers = outliers};
    return &job->folds[job->fold_count++];
}

static void join(struct merged_fold *to, const struct merged_fold *from, const struct job_keys *keys, float threads)
{
    struct profile shell = {.nodes = to->nodes, .node_count = to->node_count};
    struct node_tree tree;
    uint32_t *place = memory_array(from->node_count, sizeof *place);
    size_t before = to->node_count;
    if (before)
        node_tree_resume(&tree, &shell);
    else
        node_tree_start(&tree, &shell);
    for (size_t i = 1; i < from->node_count; i++) {
        const struct merged_node *node = &from->nodes[i];
        place[i] = node_tree_child(&tree, place[node->parent], node->kind, job_key_of(keys, node->kind, node->key));
    }
    node_tree_end(&tree);
    to->nodes = shell.nodes;
    to->node_count = shell.node_count;
    to->bins = memory_check(reallocarray(to->bins, to->node_count, sizeof *to->bins));
    memset(to->bins + before, 0, (to->node_count - before) * sizeof *to->bins);
    for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++) {
        for (size_t i = 0; i < from->node_count; i++)
            add_value(&to->bins[place[i]][bin], &from->bins[i][bin], threads);
        add_value(&to->squares[bin], &from->squares[bin], 1);
    }
    free(place);
}

void folds_join(struct profile *job, const struct profile *rank, const struct job_keys *keys)
{
    for (size_t i = 0; i < rank->fold_count; i++) {
        const struct merged_fold *from = &rank->folds[i];
        uint32_t name = (uint32_t)job_key_of(keys, PROFILE_NODE_PHASE, from->counts.name);
        struct merged_fold *to = fold_of(job, name, from->outliers);
        add_counts(&to->counts, &from->counts);
        join(to, from, keys, (float)rank->header.threads_max);
    }
}

void folds_divide(struct profile *job)
{
    for (size_t i = 0; i < job->fold_count; i++) {
        struct merged_fold *fold = &job->folds[i];
        for (size_t node = 0; node < fold->node_count; node++)
            for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++)
                fold->bins[node][bin].inverse_busy /= (float)job->header.threads_max;
        fold_sum_bins(fold);
    }
}
