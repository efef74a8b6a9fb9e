/* Thread 0 loads libraries one after the other, each where the last one was (`turns`), or all of them (`all`),
 * and calls each for less than a sampling period; thread 1 computes in the first one's copy meanwhile. Prints
 * how the time in them compares.
 *     library_tour turns|all BESIDE LIBRARY... */
#include "analytic.h"
#include <dlfcn.h>
#include <string.h>

typedef unsigned long (*plugin_function)(unsigned long);

static plugin_function load(const char *file, void **handle)
{
    *handle = dlopen(file, RTLD_NOW);
    plugin_function work = *handle ? (plugin_function)dlsym(*handle, "plugin_work") : NULL;
    if (!work)
        exit(3);
    return work;
}

NAMED static double visit(const char *file, int stays)
{
    void *handle;
    plugin_function work = load(file, &handle);
    double begin_s = clock_s();
    int done = work(88172645463325252ul) != 0;
    double visited_s = clock_s() - begin_s;
    if (!done || (!stays && dlclose(handle) != 0))
        exit(4);
    return visited_s;
}

NAMED static void work_beside(plugin_function work, double end_s)
{
    while (clock_s() < end_s)
        work(1);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    int all = strcmp(argv[1], "all") == 0, count = argc - 3;
    double in_first_s = 0, in_others_s = 0, end_s;
    void *handle;
    plugin_function beside = load(argv[2], &handle);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        end_s = clock_s() + 1.5; /* from when both are there */
        if (omp_get_thread_num() == 1)
            work_beside(beside, end_s);
        else
            for (int i = 0; all ? i < count : clock_s() < end_s; i++)
                *(i % count ? &in_others_s : &in_first_s) += visit(argv[3 + i % count], all);
    }
    fprintf(stderr, "first %.3f others %.3f\n", in_first_s, in_others_s);
    return 0;
}
