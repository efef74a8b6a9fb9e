/* Measures an MPI call that could wait but never does: MPI_Wait without a request. An OpenMP region runs
 * first, so that the tool is active. Prints the time of a call in rank 0 in ns, one line for each batch. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 21, CALLS = 200000 };

int main(int argc, char **argv)
{
    int rank, threads = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel reduction(+ : threads)
    threads++;
    for (int batch = 0; batch < BATCHES; batch++) {
        MPI_Request none = MPI_REQUEST_NULL;
        double begin_s = MPI_Wtime();
        for (int call = 0; call < CALLS; call++)
            MPI_Wait(&none, MPI_STATUS_IGNORE);
        double taken_ns = (MPI_Wtime() - begin_s) / CALLS * 1e9;
        if (rank == 0)
            printf("%.3f\n", taken_ns);
    }
    MPI_Finalize();
    return threads ? EXIT_SUCCESS : EXIT_FAILURE;
}
