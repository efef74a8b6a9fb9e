/* A library with thread-local storage that has to be there before main (initial-exec), and its program. */
#ifdef LIBRARY
#ifndef ALIGNMENT
#define ALIGNMENT 1
#endif
__thread char room[4000] __attribute__((tls_model("initial-exec"), aligned(ALIGNMENT)));

int touch(int value)
{
    room[value] = 1;
    return room[value] + room[100];
}
#else
#include <stdio.h>

int touch(int value);

int main(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += touch(3);
    printf("%d\n", sum);
    return 5;
}
#endif
