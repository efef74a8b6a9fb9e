/* What awaits_later.c loads: a parent that waits for its child, which the other thread executes, by a dependence. */
#include <omp.h>

void await_child(double seconds);

void await_child(double seconds)
{
    int begun = 0, done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : done) shared(begun, done)
        {
            double begin_s = omp_get_wtime();
            __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
            while (omp_get_wtime() - begin_s < seconds)
                ;
            done = 1;
        }
        while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
            ;
#pragma omp taskwait depend(in : done)
    }
}
