/* Heat in a box, computed by the alternating direction method. Each step solves a tridiagonal system along
 * every line in x, then in y, then in z. All three directions need the same arithmetic. The lines in z,
 * however, are solved one plane at a time and with a large stride, so only as many threads have work as a
 * plane has blocks. A profile by function blames solve_lines, a profile by phase blames z.
 *
 * The program verifies that the first mode of the box decays by a known factor in each step.
 * Usage: adi [size [steps]] */
#include <math.h>
#include <stdlib.h>

#include "blame.h"
#include "clocked.h"

enum { BLOCK = 64 };
static const double diffusion = 0.4; /* dt / dx^2 */

static struct clocked step_time = {"step", 0, 0, 0};
static struct clocked axes[3] = {{"x", 0, 0, 0}, {"y", 0, 0, 0}, {"z", 0, 0, 0}};

/* Solves (1 + 2 d) u[i] - d (u[i - 1] + u[i + 1]) = old u[i] for one line; u is 0 beyond both ends of the
 * line. All lines have the same factors. */
static void solve_line(int n, long stride, const double *factor, double *u)
{
    u[0] *= factor[0];
    for (int i = 1; i < n; i++)
        u[i * stride] = (u[i * stride] + diffusion * u[(i - 1) * stride]) * factor[i];
    for (int i = n - 2; i >= 0; i--)
        u[i * stride] += diffusion * factor[i] * u[(i + 1) * stride];
}

static void make_factors(int n, double *factor)
{
    factor[0] = 1 / (1 + 2 * diffusion);
    for (int i = 1; i < n; i++)
        factor[i] = 1 / (1 + 2 * diffusion - diffusion * diffusion * factor[i - 1]);
}

static void solve_x(int n, const double *factor, double *u)
{
    blame_phase_begin("x");
    clocked_begin(&axes[0]);
#pragma omp parallel for schedule(static) collapse(2)
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            solve_line(n, 1, factor, u + ((long)z * n + y) * n);
    clocked_end(&axes[0]);
    blame_phase_end("x");
}

static void solve_y(int n, const double *factor, double *u)
{
    blame_phase_begin("y");
    clocked_begin(&axes[1]);
#pragma omp parallel for schedule(static) collapse(2)
    for (int z = 0; z < n; z++)
        for (int x = 0; x < n; x++)
            solve_line(n, n, factor, u + (long)z * n * n + x);
    clocked_end(&axes[1]);
    blame_phase_end("y");
}

/* Runs one parallel region for each plane, with a loop over the plane's blocks of lines. There are only a few
 * blocks, so most threads wait. */
static void solve_z(int n, const double *factor, double *u)
{
    blame_phase_begin("z");
    clocked_begin(&axes[2]);
    for (int y = 0; y < n; y++) {
#pragma omp parallel for schedule(static)
        for (int block = 0; block < n; block += BLOCK)
            for (int x = block; x < n && x < block + BLOCK; x++)
                solve_line(n, (long)n * n, factor, u + (long)y * n + x);
    }
    clocked_end(&axes[2]);
    blame_phase_end("z");
}

static void step(int number, int n, const double *factor, double *u)
{
    blame_iteration_begin("step", number);
    clocked_begin(&step_time);
    solve_x(n, factor, u);
    solve_y(n, factor, u);
    solve_z(n, factor, u);
    clocked_end(&step_time);
    blame_iteration_end("step");
}

static double mode(int n, int i)
{
    return sin(M_PI * (i + 1) / (n + 1));
}

static void first_mode(int n, double *u)
{
#pragma omp parallel for schedule(static)
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                u[((long)z * n + y) * n + x] = mode(n, x) * mode(n, y) * mode(n, z);
}

/* Compares u with the exact solution, in which each axis divides the first mode in each step by
 * 1 + 4 d sin^2(pi / (2 (n + 1))). */
static int verify(int n, int steps, const double *u)
{
    double s = sin(M_PI / (2.0 * (n + 1))), factor = 1 + 4 * diffusion * s * s;
    double expected = pow(factor, -3.0 * steps), worst = 0;
    for (int i = 0; i < n; i++) {
        double exact = expected * mode(n, i) * mode(n, i / 2) * mode(n, n - 1 - i);
        worst = fmax(worst, fabs(u[((long)i * n + i / 2) * n + (n - 1 - i)] - exact));
    }
    return worst < 1e-10;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 120, steps = argc > 2 ? atoi(argv[2]) : 25;
    if (n < 2 || n > 1000 || steps < 1)
        return fputs("usage: adi [size 2..1000 [steps]]\n", stderr), 2;
    double *u = malloc((size_t)n * (size_t)n * (size_t)n * sizeof(double)),
           *factor = malloc((size_t)n * sizeof(double));
    if (!u || !factor)
        return fputs("adi: out of memory\n", stderr), 1;
    first_mode(n, u);
    make_factors(n, factor);
    for (int i = 0; i < steps; i++)
        step(i, n, factor, u);
    clocked_print(&step_time);
    for (int axis = 0; axis < 3; axis++)
        clocked_print(&axes[axis]);
    int right = verify(n, steps, u);
    printf("verified: %s\n", right ? "yes" : "NO");
    free(u);
    free(factor);
    return right ? 0 : 1;
}
