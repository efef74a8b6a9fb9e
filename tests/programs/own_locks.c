/* A program that calls fstat() and clock_gettime() all the time; with LIBRARY, preloaded: functions of these names that hold
 * a lock, tell the time 50 years late, and must not be called once the library has ended. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(LIBRARY)
#define YEARS_S 1576800000

static atomic_flag held = ATOMIC_FLAG_INIT;
static atomic_bool ended;

static void lock(const char *name)
{
    if (ended) {
        fprintf(stderr, "%s() was called when its library had ended\n", name);
        abort();
    }
    while (atomic_flag_test_and_set(&held))
        sched_yield();
    for (volatile int i = 0; i < 2000; i++)
        ; /* a signal comes while it is held */
}

int fstat(int fd, struct stat *status)
{
    lock("fstat");
    int result = (int)syscall(SYS_fstat, fd, status);
    atomic_flag_clear(&held);
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    lock("clock_gettime");
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec += YEARS_S;
    atomic_flag_clear(&held);
    return result;
}

__attribute__((destructor)) static void end(void)
{
    ended = 1;
}
#else
int main(void)
{
    long calls = 0;
#pragma omp parallel num_threads(2) reduction(+ : calls)
    for (int i = 0; i < 10000; i++) {
        struct stat status;
        struct timespec time;
        calls += fstat(STDERR_FILENO, &status) == 0 && clock_gettime(CLOCK_MONOTONIC, &time) == 0;
    }
    printf("%ld calls\n", calls);
    return 0;
}
#endif
