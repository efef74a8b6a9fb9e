/* Who may call MPI, and when. mpi_levels WAY, which is
 *   funneled    the first thread calls it in a region, while the others wait at the barrier;
 *   serialized  each thread in its turn, in a critical section;
 *   multiple    all threads at once, each with its own partner;
 *   tasks       tasks that wait, on whichever thread;
 *   first       OpenMP before MPI_Init, and again behind MPI_Finalize.
 * Rank 0 is late each time: the others have said that they are at the call, and wait in it for HOLD_S. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "spin.h"

#define HOLD_S 0.3
#define TEAM   2

static int rank, ranks;

NAMED long add_up(void)
{
    long own = rank, sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* From rank 0 to each of the others. */
NAMED long pass(int tag)
{
    long number = tag;
    if (rank)
        MPI_Recv(&number, 1, MPI_LONG, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 1; !rank && to < ranks; to++)
        MPI_Send(&number, 1, MPI_LONG, to, tag, MPI_COMM_WORLD);
    return number;
}

/* number: of the thread or task, which are several. */
NAMED void be_late(int number)
{
    int tag = 100 + number, word = 0;
    if (rank)
        MPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    for (int from = 1; !rank && from < ranks; from++)
        MPI_Recv(&word, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!rank)
        spin(HOLD_S);
}

static long in_region(const char *way)
{
    long sum = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : sum)
    {
        if (strcmp(way, "funneled") == 0 && omp_get_thread_num() == 0) {
            be_late(0);
            sum += add_up();
        } else if (strcmp(way, "serialized") == 0) {
#pragma omp critical(turn)
            {
                be_late(0);
                sum += add_up();
            }
        } else if (strcmp(way, "multiple") == 0) {
            be_late(omp_get_thread_num());
            sum += pass(omp_get_thread_num());
        }
    }
    return sum;
}

static long in_tasks(void)
{
    long sum = 0;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    for (int i = 0; i < TEAM; i++) /* each has a thread: none waits for what another is to do first */
#pragma omp task shared(sum) firstprivate(i)
    {
        be_late(i);
        long number = pass(i);
#pragma omp atomic
        sum += number;
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    long sum = 0;
    int level, wanted = strcmp(way, "serialized") == 0                              ? MPI_THREAD_SERIALIZED
                        : strcmp(way, "multiple") == 0 || strcmp(way, "tasks") == 0 ? MPI_THREAD_MULTIPLE
                                                                                    : MPI_THREAD_FUNNELED;
    if (strcmp(way, "first") == 0)
        sum += in_region(way);
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (level < wanted) {
        printf("rank %d: no such level\n", rank);
    } else if (strcmp(way, "tasks") == 0) {
        sum += in_tasks();
    } else if (strcmp(way, "first") == 0) {
        be_late(0);
        sum += add_up();
    } else {
        sum += in_region(way);
    }
    MPI_Finalize();
    sum += in_region("");
    printf("rank %d: %ld\n", rank, sum);
    return 0;
}
