/* Calls libgomp as programs do: by name, by address, and by dlsym(). Prints whether all calls came to one copy, and
 * which file that is. */
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

typedef void parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);

/* No prototype is in omp.h, and its address is taken: no compiler makes it. */
void GOMP_critical_end(void);

static int sum;

/* Where omp_get_thread_num() belongs to another copy than the region, all threads have number 0. */
static void add(void *number)
{
    int own = ((int (*)(void))number)() + 1;
#pragma omp atomic
    sum += own;
}

int main(void)
{
    Dl_info file = {0};
    int by_name = 0;
    void *library = dlopen("libgomp.so.1", RTLD_NOW);
    union {
        void *found;
        parallel *call;
    } region = {dlsym(library, "GOMP_parallel")};
#pragma omp parallel num_threads(2) reduction(+ : by_name)
    by_name += omp_get_thread_num() + 1;
    if (region.call)
        region.call(add, (void *)omp_get_thread_num, 2, 0);
    dladdr(dlsym(RTLD_DEFAULT, "omp_get_wtime"), &file);
    printf("sum %d %d\n%d %d\n%s\n", by_name, sum,
           (void *)GOMP_critical_end == dlsym(RTLD_DEFAULT, "GOMP_critical_end"),
           (void *)omp_get_thread_num == dlsym(RTLD_DEFAULT, "omp_get_thread_num"), file.dli_fname);
    return 0;
}
