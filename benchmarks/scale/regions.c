/* Empty parallel regions, very many: does a region cost more, or leave more behind, after a hundred million
 * others? Prints `regions nanoseconds resident_bytes` at the end of each tenth: the time is a region's in
 * that tenth. Usage: regions COUNT */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static long resident_bytes(void)
{
    long pages = -1;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        pages = -1;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    long count = argc == 2 ? atol(argv[1]) : 0;
    if (count < 10)
        return fputs("usage: regions COUNT\n", stderr), 2;
    for (int tenth = 1; tenth <= 10; tenth++) {
        long share = count / 10;
        double begin_ns = now_ns();
        for (long i = 0; i < share; i++) {
#pragma omp parallel
            __asm__ volatile("" ::: "memory");
        }
        double ns = (now_ns() - begin_ns) / (double)share;
        printf("%ld %.2f %ld\n", share * tenth, ns, resident_bytes());
        fflush(stdout);
    }
    return 0;
}
