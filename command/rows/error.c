#include "command/rows/error.h"

#include <math.h>

/* variance, in samples, added to every value because chance may have missed that many samples */
#define UNSEEN 2.0
/* upper bound on the factor by which simultaneous sampling of threads increases the variance */
#define TOGETHER (4.0 / 3.0)

struct error_terms error_terms_of(const struct profile *profile)
{
    const struct profile_header *header = &profile->header;
    struct error_terms terms = {.threads = fmax(header->threads_max, 1),
                                .cores = fmax(header->cores, 1),
                                .ranks = fmax(header->ranks_seen, 1),
                                .without_team = header->without_team};
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
    return terms;
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
    return (struct error_form){.few = UNSEEN * most * most,
                               .each = unit * (up - down),
                               .own = unit * up * down,
                               .beside = unit * beside,
                               .all = terms->period > 0 ? terms->lifetime / terms->period : 0,
                               .together = t > 1 ? TOGETHER : 1};
}

double error_variance(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis)
{
    struct error_form form = error_form_of(terms, metric);
    double alone = fabs(form.each * value + form.own * basis.own);
    double rain = fmax(0, alone - form.beside * basis.idle_beside);
    double left = form.together * fmax(0, rain - (form.all > 0 ? value * value / form.all : 0));
    return form.few * (alone > 0 ? rain / alone : 1) + fmin(rain, left);
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
