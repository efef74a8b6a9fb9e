#include "report/rows/error.h"

#include <math.h>

#define UNSEEN   2.0         /* samples that may have been missed by chance where few came, as variance */
#define TOGETHER (4.0 / 3.0) /* most that threads which draw their moments together can add to the variance */

struct error_terms error_terms_of(const struct profile *profile)
{
    const struct profile_header *header = &profile->header;
    struct error_terms terms = {.threads = fmax(header->threads_max, 1), .cores = fmax(header->cores, 1)};
    double rate = profile_least_rate(profile);
    if (profile_text(profile, "sample"))
        terms.period = (double)header->period_ns * 1e-9;
    else if (rate > 0)
        terms.period = 1 / rate;
    if (profile_text(profile, "sample") || header->clock != 0)
        return terms;
    terms.lifetime = 1e-9 * (double)header->before_start_ns; /* values have it, too, and without an error */
    for (size_t i = 0; i < profile->thread_count; i++)
        terms.lifetime += 1e-9 * thread_sampled_ns(profile, &profile->threads[i]);
    return terms;
}

/* Most that a moment of one thread adds to a metric; core idleness that is negative somewhere: or takes from it. */
static double heaviest(const struct error_terms *terms, enum metric metric)
{
    switch (metric) {
    case METRIC_IDLENESS:
    case METRIC_SHARED_IDLENESS:
    case METRIC_THREAD_IDLENESS:
        return terms->threads - 1; /* T/b - 1 */
    case METRIC_CORE_IDLENESS:
        return fmax(terms->cores - 1, 1 - terms->cores / terms->threads); /* from C/T - 1 to C - 1 */
    case METRIC_BLAME:
    case METRIC_EFFORT:
    case METRIC_ORDER:
        return terms->threads; /* 1 + T/b - 1 */
    default:
        return 1;
    }
}

struct error_form error_form_of(const struct error_terms *terms, enum metric metric)
{
    double most = (metric == METRIC_SAMPLES ? 1 : terms->period) * heaviest(terms, metric);
    struct error_form form = {.few = UNSEEN * most * most, .each = most};
    if (metric == METRIC_CORE_IDLENESS && terms->cores < terms->threads) {
        double up = terms->cores - 1, down = 1 - terms->cores / terms->threads; /* (w + down) (up - w) >= 0 */
        form.each = terms->period * (up - down);
        form.own = terms->period * up * down;
    } else if (terms->period > 0) {
        form.all = most * terms->lifetime / terms->period;
        form.together = terms->threads > 1 ? TOGETHER : 1;
    }
    return form;
}

double error_variance(const struct error_terms *terms, enum metric metric, double value, double own)
{
    struct error_form form = error_form_of(terms, metric);
    double left = form.all > 0 ? fmin(1, form.together * fmax(0, 1 - value / form.all)) : 1;
    return form.few + fmax(0, form.each * value * left + form.own * own);
}

double error_of(const struct error_terms *terms, enum metric metric, double value, double own)
{
    return ERROR_DEVIATIONS * sqrt(error_variance(terms, metric, value, own));
}

double metric_error(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    return error_of(&rows->error, metric, metric_value(rows, sums, metric), 1e-9 * profile_sums_own(sums));
}
