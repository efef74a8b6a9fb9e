/* npb/cg.c for several ranks. The matrix is cut into blocks of rows. Each rank has one block and the
 * corresponding parts of the vectors. Before each product, the whole vector is gathered on all ranks. Each
 * iteration has three collective calls, with short regions between them. The result is compared with the zeta
 * that NPB publishes. */
#include "../npb/cg_matrix.h"
#include "ranks.h"

struct part {
    const struct matrix *a;
    int first, rows;
    int *counts, *begins;      /* for each rank, its number of rows and its first row */
    double *whole;             /* whole vector, gathered from all ranks */
    double *x, *z, *p, *q, *r; /* parts of the vectors that this rank has */
};

static struct part mpi_cg_new_part(const struct matrix *a, struct ranks ranks)
{
    struct part part = {.a = a,
                        .counts = kernel_alloc((size_t)ranks.count, sizeof(int)),
                        .begins = kernel_alloc((size_t)ranks.count, sizeof(int)),
                        .whole = kernel_alloc((size_t)a->order, sizeof(double))};
    for (int rank = 0; rank < ranks.count; rank++) {
        part.begins[rank] = (int)ranks_block(a->order, ranks.count, rank);
        part.counts[rank] = (int)ranks_block(a->order, ranks.count, rank + 1) - part.begins[rank];
    }
    part.first = part.begins[ranks.rank];
    part.rows = part.counts[ranks.rank];
    double **vectors[] = {&part.x, &part.z, &part.p, &part.q, &part.r};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = kernel_alloc((size_t)part.rows, sizeof(double));
    return part;
}

static void mpi_cg_free_part(struct part *part)
{
    void *memory[] = {part->counts, part->begins, part->whole, part->x, part->z, part->p, part->q, part->r};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
}

static double mpi_cg_add_up(double own)
{
    double all;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void mpi_cg_gather(const struct part *part, const double *vector)
{
    MPI_Allgatherv(vector, part->rows, MPI_DOUBLE, part->whole, part->counts, part->begins, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* Computes q = A p, and returns the dot product of p and q. */
static double mpi_cg_multiply(const struct part *part)
{
    double pq = 0.0;
    mpi_cg_gather(part, part->p);
#pragma omp parallel for reduction(+ : pq)
    for (int j = 0; j < part->rows; j++) {
        part->q[j] = cg_row_product(part->a, part->first + j, part->whole);
        pq += part->p[j] * part->q[j];
    }
    return mpi_cg_add_up(pq);
}

/* Adds alpha p to z. Returns the square of the norm of the residual that remains. */
static double mpi_cg_advance(const struct part *part, double alpha)
{
    double rho = 0.0;
#pragma omp parallel for reduction(+ : rho)
    for (int j = 0; j < part->rows; j++) {
        part->z[j] += alpha * part->p[j];
        part->r[j] -= alpha * part->q[j];
        rho += part->r[j] * part->r[j];
    }
    return mpi_cg_add_up(rho);
}

static double mpi_cg_residual_of(const struct part *part)
{
    double residual = 0.0;
    mpi_cg_gather(part, part->z);
#pragma omp parallel for reduction(+ : residual)
    for (int j = 0; j < part->rows; j++) {
        double difference = part->x[j] - cg_row_product(part->a, part->first + j, part->whole);
        residual += difference * difference;
    }
    return sqrt(mpi_cg_add_up(residual));
}

/* Solves A z = x approximately, and returns the norm of the residual. */
static double mpi_cg_solve(const struct part *part)
{
    double rho = 0.0;
#pragma omp parallel for reduction(+ : rho)
    for (int j = 0; j < part->rows; j++) {
        part->z[j] = 0.0;
        part->r[j] = part->p[j] = part->x[j];
        rho += part->x[j] * part->x[j];
    }
    rho = mpi_cg_add_up(rho);
    for (int iteration = 0; iteration < SOLVER_ITERATIONS; iteration++) {
        double before = rho;
        rho = mpi_cg_advance(part, before / mpi_cg_multiply(part));
        const double beta = rho / before;
#pragma omp parallel for
        for (int j = 0; j < part->rows; j++)
            part->p[j] = part->r[j] + beta * part->p[j];
    }
    return mpi_cg_residual_of(part);
}

/* Computes one step of the inverse iteration, and returns zeta. */
static double mpi_cg_iterate(const struct problem *problem, const struct part *part, double *residual)
{
    double xz = 0.0, zz = 0.0;
    *residual = mpi_cg_solve(part);
#pragma omp parallel for reduction(+ : xz, zz)
    for (int j = 0; j < part->rows; j++) {
        xz += part->x[j] * part->z[j];
        zz += part->z[j] * part->z[j];
    }
    const double scale = 1.0 / sqrt(mpi_cg_add_up(zz));
#pragma omp parallel for
    for (int j = 0; j < part->rows; j++)
        part->x[j] = scale * part->z[j];
    return problem->shift + 1.0 / mpi_cg_add_up(xz);
}

int main(int argc, char **argv)
{
    struct ranks ranks = ranks_init(&argc, &argv);
    struct kernel_class class = kernel_parse_class(argc, argv, "cg");
    const struct problem *problem = &problems[class.index];
    struct matrix a = cg_make_matrix(problem);
    struct part part = mpi_cg_new_part(&a, ranks);
    double zeta = 0.0, residual = 0.0, seconds = 0.0;
    bool verified = true;

    for (long repeat = 0; repeat < class.repeat; repeat++) {
        for (int j = 0; j < part.rows; j++)
            part.x[j] = 1.0;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin_s = kernel_clock_s();
        for (int i = 0; i < OUTER_ITERATIONS; i++)
            zeta = mpi_cg_iterate(problem, &part, &residual);
        seconds += kernel_clock_s() - begin_s;
        verified = verified && cg_is_verified(problem, zeta, residual);
    }
    mpi_cg_free_part(&part);
    cg_free_matrix(&a);
    return ranks_report(ranks, "cg", class.text, seconds, verified);
}
