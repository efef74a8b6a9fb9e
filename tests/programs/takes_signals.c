/* A program that uses the signals that samples come by, by argument, once the OpenMP runtime runs:
 *     all_realtime  handlers for all real-time signals
 *     all           handlers for all signals that may have one
 *     ignores       ignores the highest real-time signal
 *     resets        all signals have their defaults
 *     blocks        all signals are blocked in all threads
 *     first         all_realtime, but before the runtime starts
 *     deletes       all timers of the process, which it has not made
 * It counts what its handlers get: while it settles, and afterwards, when there must be nothing more; and says how long both took. */
#include "analytic.h"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t settled;
static int early, late;

static void count(int signal_number)
{
    (void)signal_number;
    __atomic_fetch_add(settled ? &late : &early, 1, __ATOMIC_RELAXED);
}

static void handle(int from, int to, void (*handler)(int))
{
    for (int number = from; number <= to; number++)
        signal(number, handler); /* refused for those that no program may have */
}

#define REGION_S 0.005

NAMED static void compute_with_signals(void)
{
    spin_until(clock_s() + REGION_S);
    __asm__ volatile("");
}

/* In so many regions at least, however long they take: at their begins the tool looks. Returns how long it took. */
static double compute_in_regions(double seconds)
{
    double begin_s = clock_s();
    int least = (int)(seconds / REGION_S / 2);
    for (int i = 0; i < least || clock_s() < begin_s + seconds; i++) {
#pragma omp parallel num_threads(2)
        compute_with_signals();
    }
    return clock_s() - begin_s;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    sigset_t set;
    sigfillset(&set);
    if (strcmp(way, "first") == 0)
        handle(SIGRTMIN, SIGRTMAX, count);
    compute_in_regions(0.02);
    if (strcmp(way, "all_realtime") == 0)
        handle(SIGRTMIN, SIGRTMAX, count);
    if (strcmp(way, "all") == 0)
        handle(1, SIGRTMAX, count);
    for (long number = 0; strcmp(way, "deletes") == 0 && number < 1000; number++)
        syscall(SYS_timer_delete, number);
    if (strcmp(way, "ignores") == 0)
        signal(SIGRTMAX, SIG_IGN);
    if (strcmp(way, "resets") == 0)
        handle(1, SIGRTMAX, SIG_DFL);
    if (strcmp(way, "blocks") == 0) {
#pragma omp parallel num_threads(2)
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    double early_s = compute_in_regions(0.3);
    settled = 1;
    double late_s = compute_in_regions(0.4);
    printf("late %d\n", late);
    fprintf(stderr, "early %d in %.3f s, then %.3f s\n", early, early_s, late_s);
    return 3;
}
