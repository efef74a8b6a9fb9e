/* CG, modelled on the NAS Parallel Benchmarks: finds the smallest eigenvalue of a large sparse symmetric
 * matrix by inverse iteration. Each step solves a linear system by 25 iterations of the conjugate gradient
 * method. A solve is one parallel region with many short worksharing loops, barriers and reductions. */
#include "cg_matrix.h"

struct work {
    double *x, *z, *p, *q, *r;
};

/* Solves A z = x approximately, and returns the norm of the residual. */
static double cg_solve(const struct matrix *a, const struct work *w)
{
    const int n = a->order;
    double *x = w->x, *z = w->z, *p = w->p, *q = w->q, *r = w->r;
    double rho = 0.0, rho_before = 0.0, pq = 0.0, residual = 0.0;
#pragma omp parallel
    {
#pragma omp for reduction(+ : rho)
        for (int j = 0; j < n; j++) {
            z[j] = 0.0;
            r[j] = p[j] = x[j];
            rho += x[j] * x[j];
        }
        for (int iteration = 0; iteration < SOLVER_ITERATIONS; iteration++) {
#pragma omp single
            {
                rho_before = rho;
                rho = pq = 0.0;
            }
#pragma omp for reduction(+ : pq)
            for (int j = 0; j < n; j++) {
                q[j] = cg_row_product(a, j, p);
                pq += p[j] * q[j];
            }
            const double alpha = rho_before / pq;
#pragma omp for reduction(+ : rho)
            for (int j = 0; j < n; j++) {
                z[j] += alpha * p[j];
                r[j] -= alpha * q[j];
                rho += r[j] * r[j];
            }
            const double beta = rho / rho_before;
#pragma omp for
            for (int j = 0; j < n; j++)
                p[j] = r[j] + beta * p[j];
        }
#pragma omp for reduction(+ : residual)
        for (int j = 0; j < n; j++) {
            double difference = x[j] - cg_row_product(a, j, z);
            residual += difference * difference;
        }
    }
    return sqrt(residual);
}

/* Computes one step of the inverse iteration, and returns zeta. */
static double cg_iterate(const struct problem *problem, const struct matrix *a, const struct work *w, double *residual)
{
    double xz = 0.0, zz = 0.0;
    *residual = cg_solve(a, w);
#pragma omp parallel for reduction(+ : xz, zz)
    for (int j = 0; j < a->order; j++) {
        xz += w->x[j] * w->z[j];
        zz += w->z[j] * w->z[j];
    }
    const double scale = 1.0 / sqrt(zz);
#pragma omp parallel for
    for (int j = 0; j < a->order; j++)
        w->x[j] = scale * w->z[j];
    return problem->shift + 1.0 / xz;
}

static void cg_set_ones(const struct work *w, int order)
{
#pragma omp parallel for
    for (int j = 0; j < order; j++)
        w->x[j] = 1.0;
}

static double *cg_new_vector(int order)
{
    return kernel_alloc(order, sizeof(double));
}

int main(int argc, char **argv)
{
    struct kernel_class class = kernel_parse_class(argc, argv, "cg");
    const struct problem *problem = &problems[class.index];
    int n = problem->order;
    struct matrix a = cg_make_matrix(problem);
    struct work w = {cg_new_vector(n), cg_new_vector(n), cg_new_vector(n), cg_new_vector(n), cg_new_vector(n)};
    double zeta = 0.0, residual = 0.0, seconds = 0.0;
    bool verified = true;

    /* as the benchmark prescribes, one step that is not timed touches all data */
    cg_set_ones(&w, n);
    cg_iterate(problem, &a, &w, &residual);
    for (long repeat = 0; repeat < class.repeat; repeat++) {
        cg_set_ones(&w, n);
        double begin_s = kernel_clock_s();
        for (int i = 0; i < OUTER_ITERATIONS; i++)
            zeta = cg_iterate(problem, &a, &w, &residual);
        seconds += kernel_clock_s() - begin_s;
        verified = verified && cg_is_verified(problem, zeta, residual);
    }

    cg_free_matrix(&a);
    free(w.x);
    free(w.z);
    free(w.p);
    free(w.q);
    free(w.r);
    return kernel_report("cg", class.text, seconds, verified);
}
