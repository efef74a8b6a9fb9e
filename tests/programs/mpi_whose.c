/* Ranks that wait for one that is known by construction, and clock how long. mpi_whose HOW [ROUNDS], HOW is
 *     late      rank 0 is late to a barrier
 *     rotating  another rank is each round
 *     thread    one thread of rank 0 is, as all wait for its team
 *     chain     rank 0 is late to send; each of the others waits for the one before, but for the last, which has its own work
 * In each round all others say that they are about to wait, and then the late one works for HOLD_S in be_late(). It clocks that,
 * and prints what it makes of waiting, so long for each of the others that wait; in all, and rank by rank. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spin.h"

#define HOLD_S  0.1
#define READY_S 0.002 /* from saying so until one waits, on a core */

static int rank, ranks;
static double held_s; /* in be_late(), the last time */

NAMED double be_late(void)
{
    double begin = omp_get_wtime(), sum = spin(HOLD_S);
    held_s = omp_get_wtime() - begin;
    return sum;
}

NAMED double mind_own_business(void)
{
    return spin(READY_S);
}

NAMED double have_a_late_thread(void)
{
    double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += omp_get_thread_num() == 1 ? be_late() : 0;
    return sum;
}

/* From so many ranks. A test of MPI's never waits. */
static void hear_of(int senders)
{
    for (int heard = 0; heard < senders; heard++) {
        int there = 0, number;
        MPI_Status status;
        while (!there)
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, &status);
        MPI_Recv(&number, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void say_so(int late)
{
    MPI_Send(&rank, 1, MPI_INT, late, 1, MPI_COMM_WORLD);
}

static double round_of_barrier(int late, int in_thread, double *sum)
{
    double clocked = 0;
    if (rank == late) {
        hear_of(ranks - 1);
        *sum += spin(READY_S);
        *sum += in_thread ? have_a_late_thread() : be_late();
        clocked = (ranks - 1) * held_s;
    } else {
        say_so(late);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return clocked;
}

static double round_of_chain(double *sum)
{
    double clocked = 0;
    int word = 0, last = ranks - 2; /* of the chain */
    if (rank == 0) {
        hear_of(last);
        *sum += spin(READY_S);
        *sum += be_late();
        clocked = last * held_s;
    } else if (rank <= last) {
        say_so(0);
        MPI_Recv(&word, 1, MPI_INT, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank < last)
        MPI_Send(&word, 1, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
    return clocked;
}

/* Who has its own work waits for nobody before the chain has ended, and keeps nobody waiting behind it. */
static double end_chain(void)
{
    int ended = 0, last = ranks - 1;
    double sum = 0;
    if (rank == 0)
        MPI_Send(&ended, 1, MPI_INT, last, 3, MPI_COMM_WORLD);
    while (rank == last && !ended) {
        sum += mind_own_business();
        MPI_Iprobe(0, 3, MPI_COMM_WORLD, &ended, MPI_STATUS_IGNORE);
    }
    if (rank == last)
        MPI_Recv(&ended, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return sum;
}

int main(int argc, char **argv)
{
    int level, rounds = argc > 2 ? atoi(argv[2]) : 5;
    const char *how = argc > 1 ? argv[1] : "late";
    double sum = 0, clocked = 0, all = 0;
#pragma omp parallel reduction(+ : sum) /* the tool starts with OpenMP */
    sum += 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < rounds; round++)
        clocked += strcmp(how, "chain") == 0 ? round_of_chain(&sum)
                                             : round_of_barrier(strcmp(how, "rotating") == 0 ? round % ranks : 0,
                                                                strcmp(how, "thread") == 0, &sum);
    if (strcmp(how, "chain") == 0)
        sum += end_chain();
    MPI_Reduce(&clocked, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    double *of_rank = calloc((size_t)ranks, sizeof(double));
    MPI_Gather(&clocked, 1, MPI_DOUBLE, of_rank, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("waited %.6f s for", sum > 0 ? all : 0);
    for (int late = 0; rank == 0 && late < ranks; late++)
        printf(" %.6f%s", of_rank[late], late + 1 < ranks ? "" : "\n");
    free(of_rank);
    MPI_Finalize();
    return 0;
}
