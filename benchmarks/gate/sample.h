/* Samples at a known place: in the program, and (the same code once more) in the fake runtime. */
#ifndef BLAME_BENCHMARKS_GATE_SAMPLE_H
#define BLAME_BENCHMARKS_GATE_SAMPLE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define SETTLED_NS 10000 /* on the program's clock, which is slow */

typedef void (*sample_handler)(int, siginfo_t *, void *);

static sample_handler handler;
static int handler_signal;

static bool sample_find_handler(int signal)
{
    struct sigaction action;
    if (sigaction(signal, NULL, &action) != 0 || !(action.sa_flags & SA_SIGINFO))
        return false;
    handler = action.sa_sigaction;
    handler_signal = signal;
    return true;
}

/* Longer than the tool's graces, so that a sample takes the same way in every run. */
static void let_time_pass(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < SETTLED_NS);
}

static __attribute__((noinline)) void send_sample(siginfo_t *info, ucontext_t *context)
{
    handler(handler_signal, info, context);
    __asm__ volatile("" ::: "memory");
}

/* As if a timer had expired in this function, where the walk begins. */
static __attribute__((noinline)) void samples_here(int count)
{
    siginfo_t info;
    ucontext_t context;
    memset(&info, 0, sizeof(info));
    memset(&context, 0, sizeof(context));
    info.si_signo = handler_signal;
    info.si_code = SI_TIMER;
    let_time_pass();
    for (volatile int i = 0; i < count; i++) {
        getcontext(&context);
        send_sample(&info, &context);
    }
    __asm__ volatile("" ::: "memory");
}

#endif
