/* As a library (LIBRARY), an MPI whose barrier lasts until standard input has ended. As a program, a rank of two that read what the other one prints: rank 1
 * waits in the barrier; rank 0 works meanwhile, and when its main thread has ended its worker goes on for a while, as one does that has no core to end on. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spin.h"

int MPI_Barrier(int communicator);

#ifdef LIBRARY
int MPI_Barrier(int communicator)
{
    char ignored;
    while (read(STDIN_FILENO, &ignored, 1) > 0)
        ;
    return communicator;
}
#else
#define WORK_S 0.3
#define GONE_S 0.7

static void linger(void *unused)
{
    (void)unused;
    usleep((unsigned)(1e6 * GONE_S));
}

int main(void)
{
    pthread_key_t key;
    char begun = '.';
    double sum = 0;
    int first = strcmp(getenv("OMPI_COMM_WORLD_RANK"), "0") == 0;
    pthread_key_create(&key, linger);
#pragma omp parallel num_threads(2)
    pthread_setspecific(key, first ? &key : NULL);
    pthread_setspecific(key, NULL); /* the main thread's */
    if (!first)
        return write(STDOUT_FILENO, &begun, 1) == 1 ? MPI_Barrier(0) : 1;
    if (read(STDIN_FILENO, &begun, 1) == 1)
        sum = spin(WORK_S);
    return !(sum > 0);
}
#endif
