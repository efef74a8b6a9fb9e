#include "report/profile/fold.h"

const struct merged_fold *profile_fold_of(const struct profile *profile, uint32_t name, bool outliers)
{
    for (size_t i = 0; i < profile->fold_count; i++)
        if (profile->folds[i].counts.name == name && profile->folds[i].outliers == outliers)
            return &profile->folds[i];
    return NULL;
}

struct profile profile_of_fold(const struct profile *profile, const struct merged_fold *fold)
{
    struct profile folded = *profile;
    folded.nodes = fold->nodes;
    folded.node_count = fold->node_count;
    folded.header.before_start_ns = 0;
    folded.probe_count = folded.counters_count = folded.spread_count = folded.balance_count = folded.lock_count = 0;
    return folded;
}

void fold_sum_bins(struct merged_fold *fold)
{
    for (size_t node = 0; node < fold->node_count; node++) {
        struct profile_sums *sums = &fold->nodes[node].metric;
        *sums = (struct profile_sums){0};
        for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++) {
            const struct profile_time_value *value = &fold->bins[node][bin];
            sums->work += (double)value->own;
            sums->inverse_busy += (double)value->inverse_busy;
            sums->shared_idle += (double)value->shared_idle;
            sums->lock_wait += (double)value->lock_wait;
        }
    }
}
