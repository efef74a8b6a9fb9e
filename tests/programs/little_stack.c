/* "signal": a handler works for 0.3 s on a signal stack of 16 KB, of which it takes 6; prints whether what lies below it is as it was. "exit": a thread with
 * the least stack that there may be ends the program, status 3. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "analytic.h"

#define STACK 16384
#define BELOW 8192
#define MARK  0x5a

static char room[BELOW + STACK] __attribute__((aligned(4096)));

static void works(int signal)
{
    char half[6144];
    memset(half, signal, sizeof half);
    __asm__ volatile("" : : "r"(half) : "memory");
    spin_until(clock_s() + 0.3);
    __asm__ volatile("" : : "r"(half) : "memory");
}

static void *ends(void *unused)
{
    (void)unused;
    exit(3);
}

int main(int argc, char **argv)
{
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads++;
    if (argc > 1 && strcmp(argv[1], "exit") == 0) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 20480);
        if (pthread_create(&thread, &attributes, ends, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
        return 2;
    }
    memset(room, MARK, sizeof room);
    sigaltstack(&(stack_t){.ss_sp = room + BELOW, .ss_size = STACK}, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = works, .sa_flags = SA_ONSTACK}, NULL);
    raise(SIGUSR1);
    int changed = 0;
    for (int i = 0; i < BELOW; i++)
        changed += room[i] != MARK;
    printf("changed below: %d\n", changed);
    return 0;
}
