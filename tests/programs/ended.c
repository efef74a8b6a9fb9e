/* Ends its measurement (omp_control_tool) and goes on: regions, a thread of its own that begins then, and a handler for the signal by which
 * samples came. Prints how many timers the process has by then, and whether a file that argv[1] names (a pattern) stays as it was. */
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>

#include "analytic.h"

/* The signal of one of them, 0 where there is none. */
static int tell_timers(const char *when)
{
    char line[256];
    int count = 0, signal = 0;
    FILE *file = fopen("/proc/self/timers", "r");
    while (file && fgets(line, sizeof line, file)) {
        count += strncmp(line, "ID:", 3) == 0;
        sscanf(line, "signal: %d/", &signal);
    }
    if (file)
        fclose(file);
    printf("%s: %d timers\n", when, count);
    return signal;
}

static uint64_t sum_of(const char *pattern)
{
    glob_t found;
    uint64_t sum = 14695981039346656037u;
    FILE *file = glob(pattern, 0, NULL, &found) == 0 ? fopen(found.gl_pathv[0], "rb") : NULL;
    for (int byte; file && (byte = getc(file)) != EOF;)
        sum = (sum ^ (unsigned char)byte) * 1099511628211u;
    if (file)
        fclose(file);
    return sum;
}

static void regions(double seconds)
{
    for (double end_s = clock_s() + seconds; clock_s() < end_s;) {
#pragma omp parallel num_threads(2)
        spin_until(clock_s() + 0.002);
    }
}

static void *begins_late(void *unused)
{
    regions(0.05);
    tell_timers("a thread that begins then");
    return unused;
}

static void take(int signal)
{
    (void)signal;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    regions(0.1);
    int number = tell_timers("measured");
    errno = 4242;
    omp_control_tool(omp_control_tool_end, 0, NULL);
    printf("errno %d\n", errno);
    uint64_t sum = sum_of(argc > 1 ? argv[1] : "");
    tell_timers("ended");
    pthread_create(&thread, NULL, begins_late, NULL);
    pthread_join(thread, NULL);
    signal(number, take);
    regions(0.5);
    tell_timers("taken");
    printf("the file is %s\n", sum_of(argc > 1 ? argv[1] : "") == sum ? "as it was" : "another");
    return 0;
}
