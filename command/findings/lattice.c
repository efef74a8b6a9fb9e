/* Finds long executions at regular distances. */
#include "command/findings/lattice.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "command/text/memory.h"

#define LEAST       4    /* long ones */
#define LONGER      1.5  /* an execution is long if it takes this many times the lower quartile */
#define CHANCE      1e-3 /* largest probability that random positions give such a lattice */
#define LEAST_HITS  0.9  /* least share of the lattice's points that must be long */
#define MOST_STRAYS 0.2  /* largest share of the other executions that may be long */

struct numbers {
    const double *duration;
    size_t count;
    size_t *longs; /* indices of the long executions */
    size_t long_count, known;
};

static int compare_durations(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double lower_quartile_duration(const struct numbers *numbers)
{
    double *sorted = memory_array(numbers->count + 1, sizeof *sorted);
    size_t known = 0;
    for (size_t i = 0; i < numbers->count; i++)
        if (!isnan(numbers->duration[i]))
            sorted[known++] = numbers->duration[i];
    qsort(sorted, known, sizeof *sorted, compare_durations);
    double quartile = sorted[known / 4];
    free(sorted);
    return quartile;
}

static void find_long_executions(struct numbers *numbers)
{
    double least = LONGER * lower_quartile_duration(numbers);
    for (size_t i = 0; i < numbers->count; i++) {
        numbers->known += !isnan(numbers->duration[i]);
        if (numbers->duration[i] > least)
            numbers->longs[numbers->long_count++] = i;
    }
}

static double log_binomial(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Returns the probability that at least `hits` of `points` executions are long by chance, if `longs` of
 * `known` are. */
static double chance_of_lattice(size_t hits, size_t points, size_t longs, size_t known)
{
    double sum = 0;
    for (size_t i = hits; i <= points && i <= longs && points - i <= known - longs; i++)
        sum +=
            exp(log_binomial((double)longs, (double)i) + log_binomial((double)(known - longs), (double)(points - i)) -
                log_binomial((double)known, (double)points));
    return sum;
}

/* Returns the number of executions on the lattice whose duration is known. */
static size_t count_lattice_points(const struct numbers *numbers, size_t every, size_t first)
{
    size_t points = 0;
    for (size_t i = first; i < numbers->count; i += every)
        points += !isnan(numbers->duration[i]);
    return points;
}

/* Finds the least probable lattice among those with enough long points. */
static bool find_least_likely_lattice(const struct numbers *numbers, struct lattice *lattice)
{
    size_t most_every = numbers->count / LEAST, *hits = memory_array(most_every + 1, sizeof *hits);
    double least = 1, tried = (double)most_every * (double)(most_every + 1) / 2;
    for (size_t every = 2; every <= most_every; every++) {
        for (size_t i = 0; i < every; i++)
            hits[i] = 0;
        for (size_t i = 0; i < numbers->long_count; i++)
            hits[numbers->longs[i] % every]++;
        for (size_t first = 0; first < every; first++) {
            size_t points = hits[first] < LEAST ? SIZE_MAX : count_lattice_points(numbers, every, first);
            if ((double)hits[first] < LEAST_HITS * (double)points)
                continue;
            double chance = chance_of_lattice(hits[first], points, numbers->long_count, numbers->known);
            if (!(chance < least))
                continue;
            least = chance;
            *lattice = (struct lattice){.every = every, .first = first, .points = points, .hits = hits[first]};
        }
    }
    free(hits);
    return least * tried <= CHANCE;
}

static void lattice_measure(const struct numbers *numbers, struct lattice *lattice)
{
    double on = 0, off = 0;
    for (size_t i = 0; i < numbers->count; i++) {
        if (isnan(numbers->duration[i]))
            continue;
        *(lattice_has(lattice, i) ? &on : &off) += numbers->duration[i];
    }
    lattice->others = numbers->known - lattice->points;
    lattice->strays = numbers->long_count - lattice->hits;
    lattice->seconds = on / (double)lattice->points;
    lattice->usual = lattice->others ? off / (double)lattice->others : 0;
}

bool lattice_find(const double *duration, size_t count, struct lattice *lattice)
{
    struct numbers numbers = {.duration = duration, .count = count < LATTICE_MOST ? count : LATTICE_MOST};
    numbers.longs = memory_array(numbers.count + 1, sizeof *numbers.longs);
    find_long_executions(&numbers);
    bool found = numbers.known >= 2 * LEAST && find_least_likely_lattice(&numbers, lattice);
    if (found)
        lattice_measure(&numbers, lattice);
    free(numbers.longs);
    return found && (double)lattice->strays <= MOST_STRAYS * (double)lattice->others && lattice->usual > 0 &&
           lattice->seconds >= LONGER * lattice->usual;
}
