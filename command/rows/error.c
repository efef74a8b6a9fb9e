#include "command/rows/error.h"

#include <math.h>

/* variance, in samples, added to every value because chance may have missed that many samples */
#define UNSEEN 2.0
/* part of that if neighbouring samples show that visits are long: the two ends of one visit have a variance of 1/3 */
#define UNSEEN_OF_LONG (1 / 6.0)

/* Returns the sum whose variance describes the metric, PROFILE_NEIGHBOURS_SUMS if there is none. */
static enum profile_neighbours_sum error_sum_of(const struct error_terms *terms, enum metric metric)
{
    switch (metric) {
    case METRIC_WORK:
        return PROFILE_NEIGHBOURS_WORK;
    case METRIC_LOCK_WAIT:
        return PROFILE_NEIGHBOURS_LOCK_WAIT;
    case METRIC_LOCK_WAIT_HERE:
        return PROFILE_NEIGHBOURS_LOCK_WAIT_HERE;
    case METRIC_MPI_WAIT:
        return PROFILE_NEIGHBOURS_MPI_WAIT;
    case METRIC_IDLENESS:
        return terms->shared ? PROFILE_NEIGHBOURS_SHARED_IDLENESS : PROFILE_NEIGHBOURS_INVERSE_BUSY;
    case METRIC_SHARED_IDLENESS:
        return PROFILE_NEIGHBOURS_SHARED_IDLENESS;
    case METRIC_THREAD_IDLENESS:
        return PROFILE_NEIGHBOURS_INVERSE_BUSY;
    case METRIC_BLOCKED:
        return PROFILE_NEIGHBOURS_BLOCKED;
    case METRIC_NO_CORE:
        return PROFILE_NEIGHBOURS_NO_CORE;
    case METRIC_CORE_IDLENESS:
        return PROFILE_NEIGHBOURS_CORES;
    case METRIC_RANK_IDLENESS:
        return PROFILE_NEIGHBOURS_RANKS;
    default:
        return PROFILE_NEIGHBOURS_SUMS;
    }
}

/* Upper bound on the factor by which simultaneous sampling of threads increases the variance: N / (N - 1) for N parts of a
 * period. */
static double error_together(double threads)
{
    double parts = 4;
    while (parts < threads)
        parts *= 2;
    return threads > 1 ? parts / (parts - 1) : 1;
}

struct error_form error_form_of(const struct error_terms *terms, enum metric metric)
{
    double unit = metric == METRIC_SAMPLES ? 1 : terms->period, t = terms->threads, c = terms->cores;
    double up = 1, down = 0, beside = 0; /* one sample of one thread adds between -down and up to the value */
    switch (metric) {
    case METRIC_IDLENESS:
    case METRIC_SHARED_IDLENESS:
    case METRIC_THREAD_IDLENESS: /* T/b - 1, for T threads of which b are busy */
        up = t - 1;
        beside = t;
        break;
    case METRIC_CORE_IDLENESS: /* C/b - 1, for C cores */
        up = terms->without_team ? c : c - 1;
        if (terms->without_team) /* (C - r)/r, and C while no thread runs */
            break;
        down = terms->waits ? fmax(t - c, 0) : 1 - c / t; /* with the waiters' shares, if there are any */
        beside = c * c / t;
        break;
    case METRIC_LOCK_WAIT: /* number of threads that wait for locks that the sampled thread holds */
        up = fmax(t - 1, 1);
        break;
    case METRIC_RANK_IDLENESS: /* number of waiting ranks / number of busy ranks */
        up = fmax(terms->ranks - 1, 0);
        break;
    case METRIC_BLAME:
    case METRIC_EFFORT:
    case METRIC_ORDER: /* 1 + T/b - 1 */
        up = beside = t;
        break;
    default:
        break;
    }
    double most = unit * fmax(up, down);
    enum profile_neighbours_sum sum = error_sum_of(terms, metric);
    /* Neighbours show each thread's own variance. Threads that take turns on a core, or outside teams, do opposite things. */
    bool compared = sum < PROFILE_NEIGHBOURS_SUMS && terms->rains[sum] > 0;
    double all = terms->period > 0 ? terms->lifetime / terms->period : 0;
    if (compared)
        all = terms->periods[sum];
    return (struct error_form){
        .few = UNSEEN * most * most,
        .each = unit * (up - down),
        .own = unit * up * down,
        .beside = unit * beside,
        .all = all,
        .rains = compared ? terms->rains[sum] : 0,
        .ends = compared ? UNSEEN_OF_LONG : 1,
        .together = !compared || metric == METRIC_NO_CORE || terms->without_team ? error_together(t) : 1};
}

static double error_alone(const struct error_form *form, double value, struct error_basis basis)
{
    return fabs(form->each * value + form->own * basis.own);
}

static double error_rain(const struct error_form *form, double value, struct error_basis basis)
{
    return fmax(0, error_alone(form, value, basis) - form->beside * basis.idle_beside);
}

static double error_left(const struct error_form *form, double value, double rain)
{
    double even = form->all > 0 || form->rains > 0 ? INFINITY : 0;
    if (form->all > 0)
        even = value * value / form->all;
    if (form->rains > 0)
        even = fmin(even, rain * rain / form->rains);
    return fmin(rain, form->together * fmax(0, rain - even));
}

/* Thread idleness I is T inverse_busy - own, for the T that is known at the end. Core idleness beside teams is C/T I +
 * (C/T - 1) own: its deviation is at most the sum of theirs. A late sample divides its periods between blocked and no core,
 * so what is wrong with the one is wrong with the other. */
static double error_compared(const struct error_terms *terms, const struct profile *profile, size_t sum)
{
    const double *variance = profile->variance;
    double t = terms->threads, each = terms->cores / t, own = variance[PROFILE_NEIGHBOURS_OWN];
    bool beside_teams = sum == PROFILE_NEIGHBOURS_CORES && !terms->without_team;
    if (sum == PROFILE_NEIGHBOURS_BLOCKED)
        return variance[sum] + fmax(0, variance[PROFILE_NEIGHBOURS_NO_CORE]);
    if (sum != PROFILE_NEIGHBOURS_INVERSE_BUSY && !beside_teams)
        return variance[sum];
    double idle = t * t * variance[PROFILE_NEIGHBOURS_INVERSE_BUSY] - t * variance[PROFILE_NEIGHBOURS_BOTH] + own;
    if (!beside_teams)
        return idle;
    double deviation = each * sqrt(fmax(0, idle)) + fabs(each - 1) * sqrt(fmax(0, own));
    return deviation * deviation;
}

/* Sets for each kind of time what makes the whole program's variance that of its neighbouring samples, if that is less
 * than the bound. */
static void error_count_periods(struct error_terms *terms, const struct profile *profile)
{
    struct profile_sums total = {.samples = 0};
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].kind == PROFILE_NODE_RANKS)
            total.rank_idle += profile->nodes[i].metric.rank_idle;
        else if (profile->nodes[i].kind != PROFILE_NODE_WAITERS)
            profile_sums_add(&total, &profile->nodes[i].metric);
    double own = profile_sums_own(&total);
    const struct {
        enum metric metric;
        double ns;
    } sums[] = {[PROFILE_NEIGHBOURS_WORK] = {METRIC_WORK, total.work},
                [PROFILE_NEIGHBOURS_LOCK_WAIT] = {METRIC_LOCK_WAIT, total.lock_wait},
                [PROFILE_NEIGHBOURS_LOCK_WAIT_HERE] = {METRIC_LOCK_WAIT_HERE, total.lock_wait_here},
                [PROFILE_NEIGHBOURS_MPI_WAIT] = {METRIC_MPI_WAIT, total.mpi_wait},
                [PROFILE_NEIGHBOURS_SHARED_IDLENESS] = {METRIC_SHARED_IDLENESS, total.shared_idle},
                [PROFILE_NEIGHBOURS_INVERSE_BUSY] = {METRIC_THREAD_IDLENESS, terms->threads * total.inverse_busy - own},
                [PROFILE_NEIGHBOURS_BLOCKED] = {METRIC_BLOCKED, total.blocked},
                [PROFILE_NEIGHBOURS_NO_CORE] = {METRIC_NO_CORE, total.no_core},
                [PROFILE_NEIGHBOURS_CORES] = {METRIC_CORE_IDLENESS, terms->without_team
                                                                        ? total.core_idle
                                                                        : terms->cores * total.inverse_busy - own},
                [PROFILE_NEIGHBOURS_RANKS] = {METRIC_RANK_IDLENESS, total.rank_idle}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        bool has =
            profile
                ->has_variance[i == PROFILE_NEIGHBOURS_CORES && !terms->without_team ? 0 : i / PROFILE_NEIGHBOURS_EACH];
        if (!has || i == PROFILE_NEIGHBOURS_OWN || i == PROFILE_NEIGHBOURS_BOTH)
            continue;
        double value = 1e-9 * sums[i].ns, variance = fmax(0, 1e-18 * error_compared(terms, profile, i));
        struct error_form form = error_form_of(terms, sums[i].metric);
        double rain = error_rain(&form, value, error_basis_of(&total));
        if (variance < error_left(&form, value, rain)) {
            /* core idleness beside teams may be 0 where rows have much of either sign */
            if (i != PROFILE_NEIGHBOURS_CORES || terms->without_team)
                terms->periods[i] = value * value / (rain - variance);
            terms->rains[i] = rain * rain / (rain - variance);
        }
    }
}

struct error_terms error_terms_of(const struct profile *profile)
{
    const struct profile_header *header = &profile->header;
    struct error_terms terms = {.threads = fmax(header->threads_max, 1),
                                .cores = fmax(header->cores, 1),
                                .ranks = fmax(header->ranks_seen, 1),
                                .without_team = header->without_team,
                                .shared = header->environment == 1};
    double rate = profile_least_rate(profile);
    for (size_t i = 0; i < profile->thread_count; i++)
        terms.waits = terms.waits || profile->threads[i].lock_wait > 0;
    if (profile_text(profile, "sample"))
        terms.period = (double)header->period_ns * 1e-9;
    else if (rate > 0)
        terms.period = 1 / rate;
    if (profile_text(profile, "sample") || header->clock != 0)
        return terms;
    /* values include the time before the tool's start, which has no error */
    terms.lifetime = 1e-9 * (double)header->before_start_ns;
    for (size_t i = 0; i < profile->thread_count; i++)
        terms.lifetime += 1e-9 * profile_thread_sampled_ns(profile, &profile->threads[i]);
    error_count_periods(&terms, profile);
    return terms;
}

struct error_terms error_terms_bound(const struct error_terms *terms)
{
    struct error_terms bound = *terms;
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++)
        bound.periods[i] = bound.rains[i] = 0;
    return bound;
}

double error_variance(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis)
{
    struct error_form form = error_form_of(terms, metric);
    double alone = error_alone(&form, value, basis), rain = error_rain(&form, value, basis);
    double left = error_left(&form, value, rain), unseen = fmax(left, form.ends * rain);
    return form.few * (alone > 0 ? unseen / alone : 1) + left;
}

struct error_basis error_basis_of(const struct profile_sums *sums)
{
    return (struct error_basis){1e-9 * profile_sums_own(sums), 1e-9 * (double)sums->idle_beside};
}

void error_basis_add(struct error_basis *to, struct error_basis from)
{
    to->own += from.own;
    to->idle_beside += from.idle_beside;
}

double error_of(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis)
{
    return ERROR_DEVIATIONS * sqrt(error_variance(terms, metric, value, basis));
}

double metric_error(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    return error_of(&rows->error, metric, metric_value(rows, sums, metric), error_basis_of(sums));
}
