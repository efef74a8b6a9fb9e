/* A job of MPI's: all ranks compute in the same functions, the last one in another, too, and all meet at the end. Argument:
 * a rank that ends itself by SIGKILL before that. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SHARE_S 0.05 /* of a thread's own CPU time: as much beside load */

__attribute__((noinline)) static void spin(double seconds)
{
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < seconds);
    __asm__ volatile("");
}

__attribute__((noinline)) static void every_ranks_share(void)
{
    spin(SHARE_S);
    __asm__ volatile("");
}

__attribute__((noinline)) static void last_ranks_share(void)
{
    spin(2 * SHARE_S);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    int rank, ranks, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#pragma omp parallel num_threads(2)
    every_ranks_share();
    if (rank == ranks - 1)
        last_ranks_share();
    if (argc > 1 && atoi(argv[1]) == rank)
        raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks\n", ranks);
    MPI_Finalize();
    return 0;
}
