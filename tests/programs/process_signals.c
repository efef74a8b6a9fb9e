/* Time-outs of serial code by alarm and siglongjmp, beside the workers of a region: their handler must run on the
 * initial thread, whose stack it leaves. Status 0: all did. With the argument "awaits" the time-outs begin
 * when the workers that idle have stopped taking SIGALRM. In regions, and in what these start, nothing is blocked. With the
 * argument "ended" the initial thread ends, and it must be a worker that SIGTERM ends the program by. */
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analytic.h"

#define TIMEOUTS 200
#define THREADS  3

static sigjmp_buf before;
static pid_t initial, workers[THREADS];
static volatile sig_atomic_t elsewhere;

static void on_alarm(int signal_number)
{
    (void)signal_number;
    if (gettid() != initial)
        elsewhere++; /* and not from its stack */
    else
        siglongjmp(before, 1);
}

static bool blocks_alarms(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, SIGALRM) || sigismember(&mask, SIGINT);
}

/* How many of the team's threads, or of the processes that they start, block signals that nobody has blocked. */
static int blocked_in_region(void)
{
    int blocked = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : blocked)
    {
        workers[omp_get_thread_num()] = gettid();
        spin_until(clock_s() + 0.05);
        blocked += blocks_alarms();
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(blocks_alarms());
        waitpid(child, &status, 0);
        blocked += status != 0;
    }
    return blocked;
}

static bool takes_alarms(pid_t thread)
{
    char name[64], line[256];
    unsigned long long mask = 0;
    snprintf(name, sizeof(name), "/proc/self/task/%d/status", thread);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "SigBlk: %llx", &mask);
    if (file)
        fclose(file);
    /* In a sample all are blocked, SIGUSR1, too: it will take them behind that. */
    return !(mask & 1ull << (SIGALRM - 1)) || mask & 1ull << (SIGUSR1 - 1);
}

static void await_bystanders(void)
{
    for (int i = 1; i < THREADS; i++)
        for (int waited = 0; waited < 60000 && takes_alarms(workers[i]); waited++)
            usleep(1000);
}

static void *outlive(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    blocked_in_region();
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    await_bystanders();
    kill(getpid(), SIGTERM);
    usleep(200000000);
    exit(1);
    return unused;
}

int main(int count, char **arguments)
{
    static bool awaits;
    awaits = count > 1 && strcmp(arguments[1], "awaits") == 0;
    pthread_t thread;
    if (count > 1 && strcmp(arguments[1], "ended") == 0 && pthread_create(&thread, NULL, outlive, NULL) == 0)
        pthread_exit(NULL);
    initial = gettid();
    signal(SIGALRM, on_alarm);
    for (int round = 0; round < 2; round++) {
        int blocked = blocked_in_region();
        if (awaits)
            await_bystanders();
        volatile int timeouts = 0;
        while (timeouts + elsewhere < TIMEOUTS) {
            struct itimerval once = {.it_value = {.tv_usec = 500 + timeouts * 37 % 3000}};
            if (sigsetjmp(before, 1) == 0) {
                setitimer(ITIMER_REAL, &once, NULL);
                for (int had = elsewhere; had == elsewhere;)
                    __asm__ volatile("");
            } else {
                timeouts++;
            }
        }
        printf("blocked %d elsewhere %d\n", blocked, (int)elsewhere);
    }
    return elsewhere != 0;
}
