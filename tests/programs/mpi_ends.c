/* Jobs that end badly. mpi_ends WAY: the others wait in a barrier, and have said so; HOLD_S later the last rank ends the job: `abort` by
 * MPI_Abort, `killed` by SIGKILL to itself. */
#include <mpi.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "spin.h"

#define HOLD_S 0.3

NAMED static int wait_for_all(void)
{
    int result = MPI_Barrier(MPI_COMM_WORLD);
    return result + 1;
}

NAMED static void end_job(const char *way, int ranks)
{
    int word;
    for (int from = 0; from < ranks - 1; from++)
        MPI_Recv(&word, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    spin(HOLD_S);
    if (strcmp(way, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(way, "killed") == 0)
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    int rank, ranks, level, threads = 0, word = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#pragma omp parallel reduction(+ : threads)
    threads++;
    if (rank == ranks - 1)
        end_job(argc > 1 ? argv[1] : "", ranks);
    MPI_Send(&word, 1, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD);
    printf("%d\n", wait_for_all() + threads);
    MPI_Finalize();
    return 0;
}
