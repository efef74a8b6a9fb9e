/* Every OpenMP construct that the symbol tests ask about, in C. The tests find constructs by the lines of the
 * pragmas below, so the numbers in tests/unit/test_symbols.c follow this file: append, do not insert. */
/* clang-format off */
#include <stdio.h>

int names_data[64];
static volatile double sink;

static inline __attribute__((always_inline)) double inner_square(double value)
{
    return value * value + sink;
}

static inline __attribute__((always_inline)) double middle_scale(double value)
{
    double squared = inner_square(value);
    return squared * 3.0 + sink;
}

__attribute__((noinline)) double plain_function(double value)
{
    double scaled = middle_scale(value);
    sink += scaled;
    return scaled + sink;
}

__attribute__((noinline)) void relax(double *grid, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        grid[i] = plain_function(grid[i]);
        sink += grid[i];
    }
    sink += 1.0;
}

__attribute__((noinline)) long fib(int n)
{
    long left, right;
    if (n < 2) {
        return n;
    }
#pragma omp task shared(left) firstprivate(n)
    {
        left = fib(n - 1);
        sink += left;
    }
#pragma omp task shared(right) firstprivate(n)
    {
        right = fib(n - 2);
        sink += right;
    }
#pragma omp taskwait
    return left + right;
}

__attribute__((noinline)) void nested(double *grid, int count)
{
#pragma omp parallel
    {
        sink += 1.0;
#pragma omp parallel for
        for (int i = 0; i < count; i++) {
            grid[i] += plain_function(sink);
        }
        sink += 2.0;
    }
    sink += 3.0;
}

__attribute__((noinline)) void taskloops(double *grid, int count)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop
        for (int i = 0; i < count; i++) {
            grid[i] += plain_function(sink);
        }
    }
    sink += 3.0;
}

__attribute__((noinline)) void leagues(double *grid, int count)
{
#pragma omp teams distribute parallel for
    for (int i = 0; i < count; i++) {
        grid[i] += plain_function(sink);
    }
    sink += 3.0;
}

__attribute__((noinline)) void criticals(void)
{
#pragma omp parallel
    {
#pragma omp critical(bank)
        sink += plain_function(sink);
#pragma omp critical
        sink += plain_function(sink);
    }
    sink += 3.0;
}

int main(int argc, char **argv)
{
    double grid[64] = {argc};
    long result = 0;
    (void)argv;
    relax(grid, 64);
#pragma omp parallel
#pragma omp single
    result = fib(12);
    nested(grid, 64);
    taskloops(grid, 64);
    leagues(grid, 64);
    criticals();
    names_data[3] = (int)result;
    printf("%ld %d\n", result, sink > 0.0);
    return 0;
}

/* GCC keeps the address of the task's body in a register during the loop, which it enters by a jump. */
__attribute__((noinline)) void creates_in_loop(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 400; i++) {
        if (sink == 0.0)
            for (int k = 0; k < 1000; k++)
                names_data[0]++;
#pragma omp task
        names_data[1]--;
    }
}
