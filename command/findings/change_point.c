/* Finds the bin at which a ratio changes from one level to another. */
#include "command/findings/change_point.h"

#include <math.h>
#include <stdlib.h>

#include "command/text/memory.h"

/* Threshold of Shao and Zhang's statistic (JASA 105, 2010). Without a change, the statistic exceeds 68.6 in
 * one of a hundred long series. Bursts, and the test of four series per run, need a higher threshold
 * (tests/unit/test_findings_alarms.c). */
#define THRESHOLD 150.0
/* least number of bins in the run; with fewer, a change cannot be distinguished from chance */
#define LEAST_BINS 40
#define LEAST_SIDE 4   /* least number of bins in each part */
#define LEAST_PART 25  /* each part has at least 1/25 of all bins */
#define LEAST      0.1 /* least difference between the two levels, which are from 0 to 1 */
/* number of bins in a piece. Each piece of a part should lie on the same side of the midpoint between the
 * levels as the part itself */
#define PIECE    4
#define MOST_ODD 0.15 /* largest share of a part that may lie on the other side */
/* least share of the change that lies between the last quarter of the first part and the first quarter of the
 * second; a slower change is a drift */
#define SUDDEN 0.75

/* Cumulative sums: element i is the sum of all bins before bin i. */
struct sums {
    const double *part, *whole;
    size_t bins;
};

static double bins_ratio(const struct sums *sums, size_t from, size_t to)
{
    double whole = sums->whole[to] - sums->whole[from];
    return whole > 0 ? (sums->part[to] - sums->part[from]) / whole : 0;
}

static size_t least_change_part(size_t bins)
{
    size_t side = bins / LEAST_PART;
    return side > LEAST_SIDE ? side : LEAST_SIDE;
}

/* Returns the bin at which a split into two levels explains most of the variation, by least squares. */
static size_t find_level_split(const struct sums *sums)
{
    size_t best = 0, side = least_change_part(sums->bins);
    double most = 0, all = sums->whole[sums->bins];
    for (size_t at = side; at + side <= sums->bins; at++) {
        double before = sums->whole[at], difference = bins_ratio(sums, 0, at) - bins_ratio(sums, at, sums->bins);
        double explained = difference * difference * before * (all - before);
        if (explained > most) {
            most = explained;
            best = at;
        }
    }
    return best;
}

/* Returns how far the cumulative sums within [from, to) wander from a straight line, as the sum of squared
 * deviations. */
static double wander_of_sums(const struct sums *sums, size_t from, size_t to)
{
    double level = bins_ratio(sums, from, to), sum = 0;
    for (size_t i = from + 1; i <= to; i++) {
        double off = sums->part[i] - sums->part[from] - level * (sums->whole[i] - sums->whole[from]);
        sum += off * off;
    }
    return sum;
}

/* Returns whether the change is significant, compared with how far the sums wander within the two parts.
 * Autocorrelation increases both, so their quotient stays comparable. */
static bool is_change_significant(const struct sums *sums, size_t at)
{
    double off = sums->part[at] - bins_ratio(sums, 0, sums->bins) * sums->whole[at];
    double noise = wander_of_sums(sums, 0, at) + wander_of_sums(sums, at, sums->bins);
    return off * off * (double)sums->bins > THRESHOLD * noise;
}

/* Returns whether [from, to) lies on the side of `level` for most of its time. */
static bool is_of_one_level(const struct sums *sums, size_t from, size_t to, double level, double other)
{
    double odd = 0, middle = (level + other) / 2;
    for (size_t i = from; i < to; i += PIECE) {
        size_t end = i + PIECE < to ? i + PIECE : to;
        if (i > from && to - i < PIECE) /* the last piece has as many bins as the others */
            i = to - PIECE;
        double here = bins_ratio(sums, i, end);
        bool empty = !(sums->whole[end] > sums->whole[i]);
        if (!empty && (here > middle) != (level > middle))
            odd += (double)(end - i);
    }
    return odd <= MOST_ODD * (double)(to - from);
}

static bool is_change_sudden(const struct sums *sums, size_t at, const struct change *change)
{
    size_t before = (at + 3) / 4, after = (sums->bins - at + 3) / 4;
    double jump = bins_ratio(sums, at, at + after) - bins_ratio(sums, at - before, at);
    return jump / (change->after - change->before) >= SUDDEN;
}

bool change_find(const double *part, const double *whole, size_t bins, struct change *change)
{
    double *part_before = memory_array(bins + 1, sizeof *part_before);
    double *whole_before = memory_array(bins + 1, sizeof *whole_before);
    struct sums sums = {.part = part_before, .whole = whole_before, .bins = bins};
    for (size_t i = 0; i < bins; i++) {
        part_before[i + 1] = part_before[i] + part[i];
        whole_before[i + 1] = whole_before[i] + whole[i];
    }
    size_t at = bins >= LEAST_BINS ? find_level_split(&sums) : 0;
    *change = (struct change){.at = at, .before = bins_ratio(&sums, 0, at), .after = bins_ratio(&sums, at, bins)};
    bool found = at && fabs(change->after - change->before) >= LEAST && is_change_significant(&sums, at) &&
                 is_of_one_level(&sums, 0, at, change->before, change->after) &&
                 is_of_one_level(&sums, at, bins, change->after, change->before) && is_change_sudden(&sums, at, change);
    free(part_before);
    free(whole_before);
    return found;
}
