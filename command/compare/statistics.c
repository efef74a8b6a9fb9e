#include "command/compare/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL           0.05 /* probability that chance goes beyond one bound */
#define COVERAGE        0.95
#define STANDARD_ERRORS 3
/* maximum number of pairs for which the exact test is used; with more pairs, the normal approximation is as
 * good */
#define EXACT_PAIRS 4096
#define NORMAL_5    1.6448536269514722

static int statistics_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double statistics_median(double *value, size_t count)
{
    if (!count)
        return 0;
    qsort(value, count, sizeof *value, statistics_compare);
    return count % 2 ? value[count / 2] : 0.5 * (value[count / 2 - 1] + value[count / 2]);
}

/* Uses the binomial distribution: the k-th smallest of n values exceeds the median with the same probability
 * as n coin tosses give fewer than k heads. */
struct statistics_interval statistics_interval_of(double *value, size_t count)
{
    if (!count)
        return (struct statistics_interval){0};
    qsort(value, count, sizeof *value, statistics_compare);
    double term = pow(0.5, (double)count), tail = term;
    struct statistics_interval result = {value[0], value[count - 1], 1 - 2 * tail};
    for (size_t k = 2; 2 * k <= count; k++) {
        term *= (double)(count - k + 2) / (double)(k - 1);
        tail += term;
        if (1 - 2 * tail < COVERAGE)
            break;
        result = (struct statistics_interval){value[k - 1], value[count - k], 1 - 2 * tail};
    }
    return result;
}

/* Returns the largest rank for which P(U < rank) is at most LEVEL. U is the Mann-Whitney statistic of two
 * sides that do not differ. Uses the generating function prod (1 - q^(m+i)) / (1 - q^i). */
static size_t statistics_exact_rank(size_t n, size_t m)
{
    double ways[EXACT_PAIRS / 2 + 2] = {1}, all = 1, sum = 0;
    size_t most = n * m / 2;
    for (size_t i = 1; i <= n; i++) {
        for (size_t u = most + 1; u-- > m + i;)
            ways[u] -= ways[u - m - i];
        for (size_t u = i; u <= most; u++)
            ways[u] += ways[u - i];
        all *= (double)(m + i) / (double)i;
    }
    size_t rank = 0;
    while (rank <= most && (sum + ways[rank]) / all <= LEVEL * (1 + 1e-9))
        sum += ways[rank++];
    return rank;
}

size_t statistics_rank(size_t before, size_t after)
{
    double n = (double)before, m = (double)after;
    if (!before || !after)
        return 0;
    if (before * after <= EXACT_PAIRS)
        return statistics_exact_rank(before < after ? before : after, before < after ? after : before);
    double rank = 0.5 * n * m - 0.5 - NORMAL_5 * sqrt(n * m * (n + m + 1) / 12);
    return rank > 0 ? (size_t)rank : 0;
}

bool statistics_repeated(size_t before, size_t after)
{
    return statistics_rank(before, after) > 0;
}

struct statistics_change statistics_change_of(const struct statistics_side *before, const struct statistics_side *after,
                                              double factor, double *pair)
{
    size_t pairs = 0, rank = statistics_rank(before->count, after->count);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < before->count; i++)
        for (size_t j = 0; j < after->count; j++) {
            double change = after->value[j] - factor * before->value[i];
            double error = STANDARD_ERRORS * sqrt(after->variance[j] + factor * factor * before->variance[i]);
            low = fmin(low, change - error);
            high = fmax(high, change + error);
            pair[pairs++] = change;
        }
    if (!rank)
        return (struct statistics_change){low, high};
    qsort(pair, pairs, sizeof *pair, statistics_compare);
    return (struct statistics_change){pair[rank - 1], pair[pairs - rank]};
}
