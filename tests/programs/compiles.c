/* A program that compiles code of its own, runs it in a region and tells its names as compilers do that perf is to know: in /tmp/perf-PID.map.
 * argv[1]: "link", the file is a link to it. */
#include "analytic.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* mov %rdi, %rcx; 1: dec %rcx; jnz 1b; ret */
static const unsigned char counts[] = {0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3};

static void write_map(const unsigned char *code, const char *path)
{
    FILE *map = fopen(path, "w");
    if (!map)
        exit(1);
    fprintf(map, "%lx 1000 before\nno line of it\n%lx %zx counts \"all\", \x1b[31mred<b>\n%lx 10 other\n",
            (unsigned long)code, (unsigned long)code, sizeof counts, (unsigned long)code + sizeof counts);
    fclose(map);
}

NAMED static void run(const unsigned char *code, double seconds)
{
    void (*count)(long);
    memcpy(&count, &code, sizeof count);
    for (double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + seconds; seconds_of(CLOCK_THREAD_CPUTIME_ID) < end;)
        count(1000000);
}

int main(int argc, char **argv)
{
    char path[64], other[] = "compiled.map", whole[4096];
    bool linked = argc > 1 && strcmp(argv[1], "link") == 0;
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, counts, sizeof counts);
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    write_map(code, linked ? other : path);
    if (linked && (!realpath(other, whole) || symlink(whole, path) != 0))
        return 1;
#pragma omp parallel num_threads(2)
    run(code, 0.2);
    return 0;
}
