/* Calls what libomp has something to say about, and libgomp has not. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    omp_set_nested(1);
#pragma omp parallel num_threads(2)
#pragma omp master
    puts("one region");
    return 0;
}
