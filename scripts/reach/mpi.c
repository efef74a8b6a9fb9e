/* openmp.c in each rank; the first rank has twice the work. */
#include <mpi.h>
#include <stdio.h>

static __attribute__((noinline)) long slow(long row, int rank)
{
    volatile long sum = 0;
    for (long i = 0; i < (rank ? 100000 : 200000); i++)
        sum += i ^ row;
    return sum;
}

int main(int argc, char **argv)
{
    long mine = 0, total = 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel for reduction(+ : mine)
    for (long row = 0; row < 400; row++)
        mine += slow(row, rank);
    MPI_Reduce(&mine, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\n", total);
    MPI_Finalize();
    return 0;
}
