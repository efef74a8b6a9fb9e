/* Threads of OpenMP that sleep and wait in system calls: none may see that it was interrupted. */
#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

enum { ROUNDS = 6, WAIT_MS = 50, WORK = 200000 };

static int wait_in_calls(int queue)
{
    struct timespec sleep = {0, WAIT_MS * 1000000l};
    struct timeval limit = {0, WAIT_MS * 1000};
    struct pollfd none;
    struct epoll_event event;
    int seen = nanosleep(&sleep, NULL) != 0;
    seen += poll(&none, 0, WAIT_MS) != 0;
    seen += epoll_wait(queue, &event, 1, WAIT_MS) != 0;
    return seen + (select(0, NULL, NULL, NULL, &limit) != 0);
}

int main(void)
{
    int seen = 0, queue = epoll_create1(0);
#pragma omp parallel num_threads(3) reduction(+ : seen)
    for (int i = 0; i < ROUNDS; i++) {
        volatile double sum = 0;
        int work = WORK * (1 + omp_get_thread_num());
        seen += wait_in_calls(queue);
        for (int k = 0; k < work; k++)
            sum += k;
    }
    printf("%d waits were interrupted\n", seen);
    return seen != 0;
}
