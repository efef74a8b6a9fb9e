/* One thread loads, calls and unloads a shared object for ever, the other computes, both sampled: neither may
 * hang or crash on a path through code that is gone. argv[1] is the object. */
#include "analytic.h"
#include <dlfcn.h>

typedef unsigned long (*plugin_function)(unsigned long);

NAMED static int load_and_call(const char *file)
{
    void *handle = dlopen(file, RTLD_NOW);
    if (!handle)
        return 0;
    plugin_function work = (plugin_function)dlsym(handle, "plugin_work");
    int done = work && work(88172645463325252ul) != 0;
    return dlclose(handle) == 0 && done;
}

NAMED static void compute_beside(double end_s)
{
    spin_until(end_s);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    int rounds = 0, failed = 0;
    if (argc < 2)
        return 2;
    double end_s;
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        end_s = clock_s() + 1.5; /* from when both are there */
        if (omp_get_thread_num() == 1)
            compute_beside(end_s);
        else
            for (; clock_s() < end_s || rounds <= 100; rounds++)
                failed += !load_and_call(argv[1]);
    }
    printf("failed %d\n", failed);
    return failed != 0;
}
