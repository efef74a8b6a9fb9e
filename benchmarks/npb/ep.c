/* EP, modelled on the NAS Parallel Benchmarks: makes pairs of Gaussian random numbers by the polar method,
 * and counts how many are in each square annulus. The work is embarrassingly parallel: one region with one
 * reduction, and almost no time in the runtime. */
#include <math.h>

#include "../kernel.h"
#include "npb_random.h"

#define SEED        UINT64_C(271828183)
#define BATCH_PAIRS (1 << 16)
#define ANNULI      10

struct problem {
    int pairs_log2;
    double sum_x, sum_y;
};

static const struct problem problems[] = {
    {24, -3.247834652034740e+3, -6.958407078382297e+3},
    {25, -2.863319731645753e+3, -6.320053679109499e+3},
    {28, -4.295875165629892e+3, -1.580732573678431e+4},
};

struct tally {
    double sum_x, sum_y;
    long accepted;
    long annulus[ANNULI];
};

static void ep_run_batch(long batch, struct tally *tally)
{
    uint64_t state = npb_random_skip(SEED, 2 * (uint64_t)batch * BATCH_PAIRS);
    for (int i = 0; i < BATCH_PAIRS; i++) {
        double x = 2.0 * npb_random_next(&state) - 1.0;
        double y = 2.0 * npb_random_next(&state) - 1.0;
        double square = x * x + y * y;
        if (square > 1.0)
            continue;
        double scale = sqrt(-2.0 * log(square) / square);
        x *= scale;
        y *= scale;
        tally->annulus[(int)fmax(fabs(x), fabs(y))]++;
        tally->accepted++;
        tally->sum_x += x;
        tally->sum_y += y;
    }
}

static struct tally ep_run(const struct problem *problem)
{
    long batches = (1L << problem->pairs_log2) / BATCH_PAIRS;
    struct tally total = {0};
#pragma omp parallel
    {
        struct tally mine = {0};
#pragma omp for schedule(static)
        for (long batch = 0; batch < batches; batch++)
            ep_run_batch(batch, &mine);
#pragma omp critical(ep_total)
        {
            total.sum_x += mine.sum_x;
            total.sum_y += mine.sum_y;
            total.accepted += mine.accepted;
            for (int i = 0; i < ANNULI; i++)
                total.annulus[i] += mine.annulus[i];
        }
    }
    return total;
}

static bool ep_is_verified(const struct problem *problem, const struct tally *total)
{
    const double tolerance = 1e-8;
    long counted = 0;
    for (int i = 0; i < ANNULI; i++)
        counted += total->annulus[i];
    return counted == total->accepted && fabs(total->sum_x / problem->sum_x - 1.0) <= tolerance &&
           fabs(total->sum_y / problem->sum_y - 1.0) <= tolerance;
}

int main(int argc, char **argv)
{
    struct kernel_class class = kernel_parse_class(argc, argv, "ep");
    const struct problem *problem = &problems[class.index];
    double seconds = 0.0;
    bool verified = true;
    for (long i = 0; i < class.repeat; i++) {
        double begin_s = kernel_clock_s();
        struct tally total = ep_run(problem);
        seconds += kernel_clock_s() - begin_s;
        verified = verified && ep_is_verified(problem, &total);
    }
    return kernel_report("ep", class.text, seconds, verified);
}
