/* Known numbers of page faults, context switches and seconds of processor time, for counters: on each of two
 * threads a function that touches fresh pages, one that sleeps many times, one that computes. Prints what
 * getrusage() says of each:
 *
 *     counted FUNCTION faults NUMBER switches NUMBER cpu SECONDS
 *
 * argv: pages, sleeps and seconds of each thread; then, optionally, "fork": the child does it all once more,
 * "close": the threads close every descriptor above 2 first and open a pipe at each, "exit": the program ends
 * inside the region, while the other thread sleeps in code of the program, or "open" and how many descriptors the program needs at last. */
#include "analytic.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static struct {
    long faults, switches;
    double cpu_s;
} counted[3];
static const char *const names[] = {"touch_pages", "sleep_often", "compute"};

NAMED static void touch_pages(volatile char *memory, long pages)
{
    for (long i = 0; i < pages; i++)
        memory[i * PAGE] = 1;
}

NAMED static void sleep_often(long sleeps)
{
    struct timespec shortly = {0, 200000};
    for (long i = 0; i < sleeps; i++)
        nanosleep(&shortly, NULL);
}

NAMED static void compute(double seconds)
{
    double begin = omp_get_wtime();
    volatile double sum = 0;
    while (omp_get_wtime() - begin < seconds)
        for (int i = 0; i < 1000; i++)
            sum += i;
}

static double cpu_seconds(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

static struct rusage usage_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage;
}

static void count(int part, const struct rusage *before)
{
    struct rusage after = usage_now();
#pragma omp critical(counted)
    {
        counted[part].faults += after.ru_minflt - before->ru_minflt;
        counted[part].switches += after.ru_nvcsw - before->ru_nvcsw;
        counted[part].cpu_s += cpu_seconds(&after) - cpu_seconds(before);
    }
}

static void one_thread(long pages, long sleeps, double seconds)
{
    struct rusage before = usage_now();
    if (pages) {
        char *memory = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            exit(3);
        madvise(memory, (size_t)pages * PAGE, MADV_NOHUGEPAGE);
        touch_pages(memory, pages);
        munmap(memory, (size_t)pages * PAGE);
    }
    count(0, &before);
    before = usage_now();
    sleep_often(sleeps);
    count(1, &before);
    before = usage_now();
    compute(seconds);
    count(2, &before);
}

/* What a daemon does, and the worst that can come after it: its own files get the numbers. */
static void close_all(void)
{
    int ends[2];
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    while (pipe(ends) == 0 && ends[1] < 1000)
        if (write(ends[1], "program's own data, more than a counter", 40) != 40)
            exit(4);
}

static void check_pipes(void)
{
    char text[64];
    for (int fd = 3; fd < 999; fd += 2)
        if (read(fd, text, sizeof text) != 40)
            exit(5);
}

/* A thread in the runtime could be in one of the tool's callbacks, which the tool does not wait for without end. */
static void end_inside(void)
{
    static atomic_bool asleep;
    if (omp_get_thread_num() == 0) {
        while (!atomic_load(&asleep))
            usleep(1000);
        exit(6);
    }
    atomic_store(&asleep, true);
    for (;;)
        pause();
}

static void all_threads(char **argv, int closing)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp master
        if (closing)
            close_all();
#pragma omp barrier
        one_thread(atol(argv[1]), atol(argv[2]), atof(argv[3]));
        if (argv[4] && strcmp(argv[4], "exit") == 0)
            end_inside();
    }
    if (closing)
        check_pipes();
    for (int part = 0; part < 3; part++)
        printf("counted %s faults %ld switches %ld cpu %.6f\n", names[part], counted[part].faults,
               counted[part].switches, counted[part].cpu_s);
    fflush(stdout);
    memset(counted, 0, sizeof counted);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    all_threads(argv, argc > 4 && strcmp(argv[4], "close") == 0);
    for (int i = 0; argc > 5 && strcmp(argv[4], "open") == 0 && i < atoi(argv[5]); i++)
        if (dup(0) < 0)
            return 7;
    if (argc > 4 && strcmp(argv[4], "fork") == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            all_threads(argv, 0);
            exit(0);
        }
        int status = 1;
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
    }
    return 6;
}
