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

/* What neighbours tell of n inverse_busy - own. */
static double error_idle(const double *variance, double n)
{
    return n * n * variance[PROFILE_NEIGHBOURS_INVERSE_BUSY] - n * variance[PROFILE_NEIGHBOURS_BOTH] +
           variance[PROFILE_NEIGHBOURS_OWN];
}

static bool error_is_beside_teams(const struct error_terms *terms, size_t sum)
{
    return sum == PROFILE_NEIGHBOURS_CORES && !terms->without_team;
}

/* Core idleness beside teams is C/T thread idleness + (C/T - 1) own: its deviation is at most the sum of theirs. */
static double error_beside_teams(const struct error_terms *terms, double of_idle, double of_own)
{
    double each = terms->cores / terms->threads;
    double deviation = each * sqrt(fmax(0, of_idle)) + fabs(each - 1) * sqrt(fmax(0, of_own));
    return deviation * deviation;
}

static double error_compared(const struct error_terms *terms, const double *variance, size_t sum)
{
    double of_idle = error_idle(variance, terms->threads);
    if (error_is_beside_teams(terms, sum))
        return error_beside_teams(terms, of_idle, variance[PROFILE_NEIGHBOURS_OWN]);
    return sum == PROFILE_NEIGHBOURS_INVERSE_BUSY ? of_idle : variance[sum];
}

/* Adds the sums of all nodes, of which those of ranks have rank idleness only. */
static struct profile_sums error_total(const struct profile *profile)
{
    struct profile_sums total = {.samples = 0};
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].kind == PROFILE_NODE_RANKS)
            total.rank_idle += profile->nodes[i].metric.rank_idle;
        else if (profile->nodes[i].kind != PROFILE_NODE_WAITERS)
            profile_sums_add(&total, &profile->nodes[i].metric);
    return total;
}

/* Finds the metric whose variance a sum of neighbours describes, and its value in s. Returns false if there is none. */
static bool error_metric_of(const struct error_terms *terms, const struct profile_sums *total, size_t sum,
                            enum metric *metric, double *value)
{
    double own = profile_sums_own(total);
    const struct {
        enum metric metric;
        double ns;
    } of[PROFILE_NEIGHBOURS_SUMS] = {
        [PROFILE_NEIGHBOURS_WORK] = {METRIC_WORK, total->work},
        [PROFILE_NEIGHBOURS_LOCK_WAIT] = {METRIC_LOCK_WAIT, total->lock_wait},
        [PROFILE_NEIGHBOURS_LOCK_WAIT_HERE] = {METRIC_LOCK_WAIT_HERE, total->lock_wait_here},
        [PROFILE_NEIGHBOURS_MPI_WAIT] = {METRIC_MPI_WAIT, total->mpi_wait},
        [PROFILE_NEIGHBOURS_SHARED_IDLENESS] = {METRIC_SHARED_IDLENESS, total->shared_idle},
        [PROFILE_NEIGHBOURS_INVERSE_BUSY] = {METRIC_THREAD_IDLENESS, terms->threads * total->inverse_busy - own},
        [PROFILE_NEIGHBOURS_BLOCKED] = {METRIC_BLOCKED, total->blocked},
        [PROFILE_NEIGHBOURS_NO_CORE] = {METRIC_NO_CORE, total->no_core},
        [PROFILE_NEIGHBOURS_CORES] = {METRIC_CORE_IDLENESS, terms->without_team
                                                                ? total->core_idle
                                                                : terms->cores * total->inverse_busy - own},
        [PROFILE_NEIGHBOURS_RANKS] = {METRIC_RANK_IDLENESS, total->rank_idle}};
    *metric = of[sum].metric;
    *value = 1e-9 * of[sum].ns;
    return sum != PROFILE_NEIGHBOURS_OWN && sum != PROFILE_NEIGHBOURS_BOTH;
}

/* Sets for each kind of time what makes the whole program's variance that of its neighbouring samples, if that is less
 * than the bound. */
static void error_count_periods(struct error_terms *terms, const struct profile *profile)
{
    struct profile_sums total = error_total(profile);
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++) {
        double value, variance = fmax(0, 1e-18 * error_compared(terms, profile->variance, i));
        enum metric metric;
        /* it may be 0 where rows have much of either sign, so its value tells no number of periods */
        bool cancels = error_is_beside_teams(terms, i);
        bool has = profile->has_variance[cancels ? 0 : i / PROFILE_NEIGHBOURS_EACH];
        if (!error_metric_of(terms, &total, i, &metric, &value) || !has)
            continue;
        struct error_form form = error_form_of(terms, metric);
        double rain = error_rain(&form, value, error_basis_of(&total));
        if (variance < error_left(&form, value, rain)) {
            if (!cancels)
                terms->periods[i] = value * value / (rain - variance);
            terms->rains[i] = rain * rain / (rain - variance);
        }
    }
}

/* Returns whether a tree has all that its thread's samples add. Waiting for locks, and the idleness that it is blamed for, are
 * booked by the holder although the waiter's samples found them. */
static bool error_is_of_one_tree(const struct error_terms *terms, enum metric metric)
{
    switch (metric) {
    case METRIC_LOCK_WAIT:
        return false;
    case METRIC_IDLENESS:
    case METRIC_SHARED_IDLENESS:
    case METRIC_THREAD_IDLENESS:
    case METRIC_CORE_IDLENESS:
    case METRIC_BLAME:
    case METRIC_EFFORT:
    case METRIC_ORDER:
        return !terms->waits;
    default:
        return true;
    }
}

/* The same of each set of trees. A row that only some of them have cannot have been in the periods of the others. */
static void error_count_tree(struct error_terms *terms, const struct profile_tree_set *set, struct error_trees *of)
{
    double lived = of->lifetime / terms->period;
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++) {
        double value, variance = fmax(0, 1e-18 * error_compared(terms, set->variance, i));
        enum metric metric;
        if (!error_metric_of(terms, &set->sums, i, &metric, &value) || terms->rains[i] <= 0 ||
            !error_is_of_one_tree(terms, metric))
            continue;
        struct error_form form = error_form_of(terms, metric);
        double rain = error_rain(&form, value, error_basis_of(&set->sums));
        double even = fmax(value * value / lived, rain - variance);
        if (even <= 0)
            continue;
        of->periods[i] = error_is_beside_teams(terms, i) ? 0 : (float)(value * value / even);
        of->rains[i] = (float)(rain * rain / even);
    }
}

static void error_count_trees(struct error_terms *terms, const struct profile *profile)
{
    if (!profile->tree_sets)
        return;
    for (size_t i = 0; i < profile->thread_count; i++) {
        uint64_t tree = profile->threads[i].tree;
        if (!tree) { /* an older file */
            terms->trees = 0;
            return;
        }
        terms->of_trees[tree % PROFILE_TREE_SETS].lifetime +=
            (float)(1e-9 * profile_thread_sampled_ns(profile, &profile->threads[i]));
        terms->trees |= 1ull << tree % PROFILE_TREE_SETS;
    }
    for (uint32_t i = 0; i < PROFILE_TREE_SETS; i++)
        if (terms->of_trees[i].lifetime > 0)
            error_count_tree(terms, &profile->tree_sets[i], &terms->of_trees[i]);
}

bool error_tells_trees(const struct error_terms *terms, uint64_t trees)
{
    return trees && !(trees & ~terms->trees) && trees != terms->trees;
}

struct error_form error_form_within(const struct error_terms *terms, enum metric metric, uint64_t trees)
{
    struct error_form form = error_form_of(terms, metric);
    enum profile_neighbours_sum sum = error_sum_of(terms, metric);
    bool compared = sum < PROFILE_NEIGHBOURS_SUMS && form.rains > 0;
    double all = 0, rains = 0;
    if (!error_tells_trees(terms, trees) || !error_is_of_one_tree(terms, metric))
        return form;
    for (uint64_t left = trees; left; left &= left - 1) {
        const struct error_trees *of = &terms->of_trees[__builtin_ctzll(left)];
        all += (double)(compared ? of->periods[sum] : of->lifetime / (float)terms->period);
        rains += compared ? (double)of->rains[sum] : 0;
    }
    if (all > 0)
        form.all = form.all > 0 ? fmin(form.all, all) : all;
    if (rains > 0)
        form.rains = fmin(form.rains, rains);
    return form;
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
    if (terms.period > 0)
        error_count_trees(&terms, profile);
    return terms;
}

struct error_terms error_terms_bound(const struct error_terms *terms)
{
    struct error_terms bound = *terms;
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++)
        bound.periods[i] = bound.rains[i] = 0;
    bound.trees = 0;
    return bound;
}

/* The variance if samples are independent but for those that found the same context in successive periods. INFINITY:
 * unknown. */
static double error_of_stays(const struct error_terms *terms, enum metric metric, double value, double rain,
                             const struct error_basis *basis)
{
    enum profile_neighbours_sum sum = error_sum_of(terms, metric);
    bool beside_teams = error_is_beside_teams(terms, sum);
    if (sum == PROFILE_NEIGHBOURS_SUMS || terms->rains[sum] <= 0 || sum == PROFILE_NEIGHBOURS_LOCK_WAIT ||
        (beside_teams && terms->waits)) /* waiters' shares are booked without them */
        return INFINITY;
    if (beside_teams) {
        double idle = terms->threads / terms->cores * (value + basis->own) - basis->own;
        struct error_form form = error_form_of(terms, METRIC_THREAD_IDLENESS);
        double of_idle = error_rain(&form, idle, *basis) + error_idle(basis->beyond, terms->threads);
        return error_beside_teams(terms, of_idle, terms->period * basis->own + basis->beyond[PROFILE_NEIGHBOURS_OWN]);
    }
    double squares = metric == METRIC_RANK_IDLENESS   ? basis->rank_squares
                     : metric == METRIC_CORE_IDLENESS ? basis->core_squares
                                                      : 0;
    double independent = squares > 0 ? fmin(rain, terms->period * squares) : rain;
    return independent + error_compared(terms, basis->beyond, sum);
}

double error_variance(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis)
{
    struct error_form form = error_form_within(terms, metric, basis.trees);
    double alone = error_alone(&form, value, basis), rain = error_rain(&form, value, basis);
    double stays = form.together * fmax(0, error_of_stays(terms, metric, value, rain, &basis));
    double left = fmin(error_left(&form, value, rain), stays), unseen = fmax(left, form.ends * rain);
    return form.few * (alone > 0 ? unseen / alone : 1) + left;
}

double error_beyond(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis)
{
    struct error_form form = error_form_of(terms, metric);
    double rain = error_rain(&form, value, basis);
    double stays = error_of_stays(terms, metric, value, rain, &basis);
    return isfinite(stays) ? stays - rain : 0;
}

struct error_basis error_basis_of(const struct profile_sums *sums)
{
    struct error_basis basis = {.own = 1e-9 * profile_sums_own(sums),
                                .idle_beside = 1e-9 * (double)sums->idle_beside,
                                .trees = sums->trees,
                                .rank_squares = 1e-9 * sums->rank_squares,
                                .core_squares = 1e-9 * sums->core_squares};
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++)
        basis.beyond[i] = 1e-18 * (double)sums->beyond[i];
    return basis;
}

void error_basis_add(struct error_basis *to, struct error_basis from)
{
    to->own += from.own;
    to->idle_beside += from.idle_beside;
    to->trees |= from.trees;
    to->rank_squares += from.rank_squares;
    to->core_squares += from.core_squares;
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++)
        to->beyond[i] += from.beyond[i];
}

double error_of(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis)
{
    return ERROR_DEVIATIONS * sqrt(error_variance(terms, metric, value, basis));
}

double metric_error(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    struct error_basis basis = error_basis_of(sums);
    if (rows->by_exclusive) /* rows of many contexts; the page adds them up itself */
        basis.trees = 0;
    return error_of(&rows->error, metric, metric_value(rows, sums, metric), basis);
}
