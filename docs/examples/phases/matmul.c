/* Products of matrices of three sizes, in five outer iterations. Which size, which iteration and which
 * routine take the time? Each iteration is a phase, and the size is a parameter. Filling and multiplying are
 * events. The event of row_product serves as a warning: the routine is too short and too frequent for an
 * event.
 *
 * The program verifies each product C = A B by comparing C x with A (B x) for a vector x.
 * Usage: matmul [smallest size] */
#include <math.h>
#include <stdlib.h>

#include "blame.h"
#include "clocked.h"

enum { OUTER = 5, SIZES = 3 };

static struct clocked outer = {"outer", 0, 0, 0}, fill_time = {"fill", 0, 0, 0}, multiply_time = {"multiply", 0, 0, 0};
static struct clocked size_times[SIZES];

static void fill(int n, int seed, double *matrix)
{
    blame_event_begin("fill");
    clocked_begin(&fill_time);
    for (long i = 0; i < (long)n * n; i++)
        matrix[i] = (double)((i + seed) * 2654435761u % 1000) / 1000;
    clocked_end(&fill_time);
    blame_event_end("fill");
}

static void multiply(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    blame_event_begin("multiply");
    clocked_begin(&multiply_time);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
    clocked_end(&multiply_time);
    blame_event_end("multiply");
}

/* Returns the product of a row and a vector. The routine is short, and is called once for each row of each
 * product. */
static double row_product(int n, const double *row, const double *x)
{
    double sum = 0;
    blame_event_begin("row product");
    for (int j = 0; j < n; j++)
        sum += row[j] * x[j];
    blame_event_end("row product");
    return sum;
}

static void times_vector(int n, const double *matrix, const double *x, double *y)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        y[i] = row_product(n, matrix + (long)i * n, x);
}

/* Returns the largest difference between C x and A (B x), divided by n. */
static double error_of(int n, const double *a, const double *b, const double *c, double *vectors)
{
    double *x = vectors, *bx = vectors + n, *abx = vectors + 2 * n, *cx = vectors + 3 * n, worst = 0;
    for (int i = 0; i < n; i++)
        x[i] = 1.0 / (1 + i);
    times_vector(n, b, x, bx);
    times_vector(n, a, bx, abx);
    times_vector(n, c, x, cx);
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(cx[i] - abx[i]) / n);
    return worst;
}

static double product(int n, int seed, double *space)
{
    double *a = space, *b = a + (long)n * n, *c = b + (long)n * n;
    fill(n, seed, a);
    fill(n, seed + 1, b);
    multiply(n, a, b, c);
    return error_of(n, a, b, c, c + (long)n * n);
}

static double iterate(int smallest, int iteration, double *space)
{
    double worst = 0;
    blame_iteration_begin("outer", iteration);
    clocked_begin(&outer);
    for (int i = 0; i < SIZES; i++) {
        int n = smallest << i;
        blame_parameter_begin("size", n);
        clocked_begin(&size_times[i]);
        worst = fmax(worst, product(n, iteration, space));
        clocked_end(&size_times[i]);
        blame_parameter_end("size");
    }
    double seconds = clocked_end(&outer);
    blame_iteration_end("outer");
    printf("clocked outer [%d] 1 %.6f\n", iteration, seconds);
    return worst;
}

int main(int argc, char **argv)
{
    char names[SIZES][32];
    int smallest = argc > 1 ? atoi(argv[1]) : 160;
    if (smallest < 1 || smallest > 4000)
        return fputs("usage: matmul [smallest size 1..4000]\n", stderr), 2;
    long largest = (long)smallest << (SIZES - 1);
    double *space = malloc((size_t)(3 * largest * largest + 4 * largest) * sizeof(double)), worst = 0;
    if (!space)
        return fputs("matmul: out of memory\n", stderr), 1;
    for (int i = 0; i < SIZES; i++) {
        snprintf(names[i], sizeof(names[i]), "size = %d", smallest << i);
        size_times[i].name = names[i];
    }
    for (int iteration = 0; iteration < OUTER; iteration++)
        worst = fmax(worst, iterate(smallest, iteration, space));
    free(space);
    clocked_print(&fill_time);
    clocked_print(&multiply_time);
    for (int i = 0; i < SIZES; i++)
        clocked_print(&size_times[i]);
    int right = worst < 1e-10;
    printf("verified: %s\n", right ? "yes" : "NO");
    return right ? 0 : 1;
}
