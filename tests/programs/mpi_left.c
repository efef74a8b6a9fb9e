/* As a library (LIBRARY), an MPI whose barrier does what it is told. As a program, one that leaves the barrier by longjmp(), works, and waits in
 * the next one. */
#include <setjmp.h>
#include <stdio.h>

#include "spin.h"

extern void (*in_barrier)(void);
int MPI_Barrier(int communicator);

#ifdef LIBRARY
void (*in_barrier)(void);

int MPI_Barrier(int communicator)
{
    in_barrier();
    return communicator;
}
#else
#define EACH_S 0.2

static jmp_buf out;

static void wait_and_leave(void)
{
    spin(EACH_S);
    longjmp(out, 1);
}

static void just_wait(void)
{
    spin(EACH_S);
}

NAMED static int wait_here(int communicator)
{
    int result = MPI_Barrier(communicator);
    return result + 1;
}

NAMED static double work(int depth)
{
    volatile char room[200] = {0}; /* where the frame of the call was */
    double sum = depth ? work(depth - 1) : spin(EACH_S);
    return sum + room[0];
}

int main(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    in_barrier = wait_and_leave;
    if (!setjmp(out))
        wait_here(1);
    double sum = work(8);
    in_barrier = just_wait;
    int result = wait_here(5);
    printf("%d %s\n", result, sum > 0 && threads ? "good" : "bad");
    return 0;
}
#endif
