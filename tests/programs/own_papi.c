/* A program that counts with PAPI itself, and goes on doing so whatever the tool does with PAPI. */
#include "analytic.h"
#include <papi.h>
#include <sys/mman.h>

#define PAGES 2000

NAMED static int touch_pages(void)
{
    volatile char *memory = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    madvise((void *)memory, PAGES * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; i++)
        memory[i * 4096] = 1;
    return 1;
}

int main(void)
{
    int set = PAPI_NULL, threads = 0;
    long long faults;
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
        return 1;
    if (PAPI_get_component_info(PAPI_get_component_index("perf_event"))->disabled)
        return 4;
    if (PAPI_create_eventset(&set) != PAPI_OK || PAPI_add_named_event(set, "perf::PAGE-FAULTS") != PAPI_OK ||
        PAPI_start(set) != PAPI_OK)
        return 1;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads += touch_pages();
    if (PAPI_stop(set, &faults) != PAPI_OK)
        return 2;
    printf("own count %s\n", faults >= PAGES && faults < 2 * PAGES ? "right" : "wrong");
    PAPI_shutdown();
    return threads == 2 ? 6 : 3;
}
