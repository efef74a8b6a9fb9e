/* Ranks that wait for one that is late by design. mpi_late [ROUNDS]: in each round all ranks work in a region, then rank 0 waits
 * until each of the others has said that it is at the call, works for HOLD_S more, and comes to the call: so long they wait in it. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "spin.h"

#define HOLD_S 0.1

NAMED double in_region(void)
{
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += spin(0.002);
    return sum;
}

/* A test of MPI's never waits. */
NAMED void hear_of(int ranks)
{
    for (int rank = 1; rank < ranks; rank++) {
        int there = 0, number;
        while (!there)
            MPI_Iprobe(rank, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        MPI_Recv(&number, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

NAMED double be_late(int ranks)
{
    hear_of(ranks);
    return spin(HOLD_S);
}

NAMED long add_up(long own)
{
    long sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks, level;
    long sum = 0;
    double work = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = argc > 1 ? atoi(argv[1]) : 5; round > 0; round--) {
        work += in_region();
        if (rank == 0)
            work += be_late(ranks);
        else
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        sum += add_up(rank + round);
    }
    printf("rank %d of %d: %ld%s\n", rank, ranks, sum, work < 0 ? "!" : "");
    MPI_Finalize();
    return 0;
}
