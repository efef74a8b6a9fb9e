/* Serial code that spends its time in others' code: in libm, in libc's sort, with a comparison of its own, and in
 * C++ templates, in the allocator, in a copy. Whoever reads a finding knows the functions below, no others. */
#include <algorithm>
#include <cmath>
#include <cstring>

#define _Thread_local thread_local
#include "analytic.h"

#define SECONDS 0.2
#define COUNT   50000

static volatile double sink;

/* What a function does is the same however long it has no core. */
HELPER double cpu_s()
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

NAMED static void accumulate(double end_s)
{
    double sum = 0;
    while (cpu_s() < end_s)
        for (int i = 0; i < 1000; i++)
            sum += std::cos(sum + i);
    sink = sum;
}

static int compare(const void *left, const void *right)
{
    double a = *static_cast<const double *>(left), b = *static_cast<const double *>(right);
    return (a > b) - (a < b);
}

static double values[COUNT], copy[COUNT * 20], others[COUNT * 20];

HELPER void fill()
{
    for (unsigned i = 0; i < COUNT; i++)
        values[i] = i * 2654435761u % COUNT;
}

NAMED static void rank_values(double end_s)
{
    while (cpu_s() < end_s) {
        fill();
        qsort(values, COUNT, sizeof *values, compare);
    }
}

NAMED static void arrange(double end_s)
{
    while (cpu_s() < end_s) {
        fill();
        std::sort(values, values + COUNT);
    }
}

NAMED static void allocate(double end_s)
{
    void *piece[500];
    while (cpu_s() < end_s) {
        for (size_t i = 0; i < 500; i++)
            piece[i] = malloc(1 + i * 37 % 5000);
        for (size_t i = 0; i < 500; i++)
            free(piece[i]);
    }
}

NAMED static void transfer(double end_s)
{
    while (cpu_s() < end_s) {
        memcpy(copy, others, sizeof copy);
        memcpy(others, copy, sizeof copy);
        __asm__ volatile("" ::"r"(copy), "r"(others) : "memory");
    }
}

int main()
{
    static void (*const all[])(double) = {accumulate, rank_values, arrange, allocate, transfer};
#pragma omp parallel num_threads(2)
    spin_until(clock_s() + 0.01);
    for (auto one : all)
        one(cpu_s() + SECONDS);
    return 0;
}
