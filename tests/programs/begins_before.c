/* A library starts the OpenMP runtime before main begins, so that the runtime ends behind the program's exit handlers. Ends normally, or
 * with an argument ends the runtime itself. */
#include <omp.h>
#include <stdio.h>

int threads_then(void);

#ifdef LIBRARY
static int threads;

__attribute__((constructor)) static void begin(void)
{
    threads = omp_get_max_threads();
}

int threads_then(void)
{
    return threads;
}
#else
int main(int argc, char **argv)
{
    (void)argv;
#pragma omp parallel
    (void)omp_get_thread_num();
    if (argc > 1)
        omp_pause_resource_all(omp_pause_hard);
    return threads_then() < 1;
}
#endif
