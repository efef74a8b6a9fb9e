/* Regions of two runtimes inside each other. argv: the library of the outer one, and that of the inner one. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static int (*inner)(void);
static int (*start_inner)(void);
static int sums[2];
static volatile int is_started;

/* The first thread starts the inner runtime: a runtime that a worker starts tells less. */
static void call(int number)
{
    while (number && !is_started)
        usleep(1000);
    if (!number)
        start_inner();
    is_started = 1;
    sums[number] = inner();
}

static void *function_of(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *function = handle ? dlsym(handle, name) : NULL;
    if (!function)
        fprintf(stderr, "%s\n", dlerror());
    return function;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    void (*by_team)(void (*)(int)) = (void (*)(void (*)(int)))function_of(argv[1], "call_by_team");
    int (*outer)(void) = (int (*)(void))function_of(argv[1], "sum_of_team");
    inner = (int (*)(void))function_of(argv[2], "sum_of_team");
    start_inner = (int (*)(void))function_of(argv[2], "omp_get_max_threads");
    if (!by_team || !outer || !inner || !start_inner)
        return 1;
    by_team(call);
    printf("sum %d\n", sums[0] + sums[1] + inner() + outer());
    return 0;
}
