#include "blame/account.h"

#include "cct/profile_format.h"

static double inverse_busy(double p, struct census census)
{
    return p / (census.busy ? census.busy : 1);
}

static double shared_idle(double p, struct census census)
{
    double busy = census.busy ? census.busy : 1;
    double in_use = census.in_use > busy ? census.in_use : busy;
    return p * (in_use / busy - 1);
}

void account_own(struct profile_metric *metric, bool overhead, double p, uint64_t count)
{
    metric->samples += count;
    if (overhead)
        metric->overhead += p;
    else
        metric->work += p;
}

struct lock_blame account_idleness(struct profile_metric *metric, double p, struct census census)
{
    double idle = shared_idle(p, census), inverse = inverse_busy(p, census);
    metric->inverse_busy += inverse;
    metric->shared_idle += idle;
    if (census.busy > 1)
        metric->idle_beside += (float)(idle - idle / census.busy);
    return (struct lock_blame){.inverse_busy = inverse, .shared_idle = idle};
}

void account_busy(struct profile_metric *metric, bool overhead, double p, uint64_t count, struct census census)
{
    account_own(metric, overhead, p, count);
    account_idleness(metric, p, census);
}

void account_cores(struct profile_cores *sums, double p, uint32_t running, uint32_t cores)
{
    double each = p / (running ? running : 1);
    if (running <= cores)
        sums->idle += each * (cores - running);
    else
        sums->beyond += each * (running - cores);
}

struct lock_blame account_waiter(double p, struct census census)
{
    return (struct lock_blame){p, inverse_busy(p, census), shared_idle(p, census)};
}

void account_waiting_here(struct profile_metric *metric, double p, uint64_t count, bool first_of_wait)
{
    metric->samples += count;
    metric->lock_wait_here += p;
    metric->waits += first_of_wait;
}

void account_blame(struct profile_metric *metric, const struct lock_blame *blame)
{
    metric->lock_wait += blame->lock_wait;
    metric->inverse_busy += blame->inverse_busy;
    metric->shared_idle += blame->shared_idle;
}

void account_idle(struct profile_thread *ledger, double p, bool parked)
{
    ledger->idle += p;
    if (parked)
        ledger->parked += p;
}

bool account_is_taking(const struct state_line *line, const struct delivery *delivery, uint64_t lock_key,
                       uint32_t holder)
{
    const struct clock_reading *clocks = &delivery->clocks;
    uint64_t since_ticks = line->wait_since, since_ns = clock_ticks_ns(clocks, since_ticks);
    if (directed_is_for_any_holder(lock_key))
        return false;
    if (holder != STATE_NO_HOLDER)
        return holder == state_line_number(line) && !state_awaits_own(line, lock_key);
    if (!since_ticks)
        return true;
    /* If the lock was held when the wait began, or another thread has taken it since, it is now being handed
     * over. A thread that has asked for a free lock and lost its core still waits for nobody. */
    if (state_handover_after((int64_t)since_ticks, lock_key, &holder) != STATE_FREE)
        return false;
    return !state_others_wait(line, lock_key) && state_was_free_at(clocks, since_ns, lock_key);
}
