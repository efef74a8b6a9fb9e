/* The rules of this house: as in sampler.c. */
#include "ompt_tool/sample_stopped.h"

#include "blame/attribute.h"
#include "cct/time.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/tracing.h"

/* Below the root, as nothing in the program is the cause; its inverse_busy is the length of the stop. That nobody idles meanwhile is the reader's
 * to see to, who knows T. */
bool sample_stopped(struct thread *thread, const struct delivery *delivery)
{
    uint32_t node_idx = tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_STOPPED);
    struct profile_metric *metric = attribute_at(&thread->tree, node_idx);
    uint32_t threads = thread_sampled();
    double each = delivery->p / PROFILE_LANE_BINS, inverse = delivery->p / (threads ? threads : 1);
    double between_ns = (double)(delivery->census_ns - delivery->due_ns);
    if (!metric)
        return false;
    account_own(metric, false, delivery->p, delivery->count);
    metric->inverse_busy += inverse;
    for (uint32_t i = 0; i < PROFILE_LANE_BINS; i++) { /* without holes */
        uint64_t time_ns = delivery->due_ns + (uint64_t)(between_ns * (i + 0.5) / PROFILE_LANE_BINS);
        time_add_state(&thread->tree, time_ns, PROFILE_TIME_STOPPED, each);
        time_add(&thread->tree, node_idx, time_ns,
                 (struct profile_time_value){(float)each, (float)(inverse / PROFILE_LANE_BINS), 0, 0});
    }
    thread->ledger->blocked += delivery->p;
    thread->ledger->recorded += delivery->count;
    counters_book(thread, node_idx);
    tracing_add(thread, node_idx, PROFILE_TIME_STOPPED, delivery);
    return true;
}
