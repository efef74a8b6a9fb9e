/* Heat in a plate whose rows are divided into strips, one for each MPI rank. The last strip has three times
 * as many rows as each other strip, unless the third argument is "even". docs/jobs.md measures both cases.
 *
 *   mpicc -O2 -g -fopenmp -o strips docs/examples/strips.c
 *   mpirun -n 2 ./strips [rows [steps [even]]] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 1000 };

struct strip {
    int rows, above, below; /* number of rows; ranks above and below, or MPI_PROC_NULL */
    double *now, *next;     /* this rank's rows, with copies of one neighbour row above and one below */
};

static double *row(double *field, int number)
{
    return field + (size_t)number * COLUMNS;
}

static void exchange(struct strip *strip)
{
    MPI_Sendrecv(row(strip->now, 1), COLUMNS, MPI_DOUBLE, strip->above, 0, row(strip->now, strip->rows + 1), COLUMNS,
                 MPI_DOUBLE, strip->below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(strip->now, strip->rows), COLUMNS, MPI_DOUBLE, strip->below, 1, row(strip->now, 0), COLUMNS,
                 MPI_DOUBLE, strip->above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double update(struct strip *strip)
{
    double change = 0;
#pragma omp parallel for reduction(+ : change)
    for (int i = 1; i <= strip->rows; i++) {
        const double *here = row(strip->now, i), *above = here - COLUMNS, *below = here + COLUMNS;
        for (int j = 1; j < COLUMNS - 1; j++) {
            double value = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
            change += (value - here[j]) * (value - here[j]);
            row(strip->next, i)[j] = value;
        }
    }
    double *swapped = strip->now;
    strip->now = strip->next;
    strip->next = swapped;
    return change;
}

static double sum_of_ranks(double own)
{
    double sum;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks, level, all = argc > 1 ? atoi(argv[1]) : 4000, steps = argc > 2 ? atoi(argv[2]) : 300;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int last = argc > 3 && strcmp(argv[3], "even") == 0 ? 1 : 3, share = all / (ranks - 1 + last);
    struct strip strip = {.rows = rank == ranks - 1 ? all - share * (ranks - 1) : share,
                          .above = rank ? rank - 1 : MPI_PROC_NULL,
                          .below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL};
    strip.now = calloc((size_t)(strip.rows + 2) * COLUMNS, sizeof(double));
    strip.next = calloc((size_t)(strip.rows + 2) * COLUMNS, sizeof(double));
    if (!strip.now || !strip.next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int j = 0; rank == 0 && j < COLUMNS; j++)
        strip.now[j] = strip.next[j] = 1;
    double change = 0;
    for (int step = 0; step < steps; step++) {
        exchange(&strip);
        change = sum_of_ranks(update(&strip));
    }
    if (rank == 0)
        printf("change of the last step: %.6g\n", change);
    free(strip.now);
    free(strip.next);
    MPI_Finalize();
    return 0;
}
