/* Takes samples at a known place in the program. The fake runtime has a copy of this code, to take samples in
 * the runtime. */
#ifndef BLAME_BENCHMARKS_GATE_SAMPLE_H
#define BLAME_BENCHMARKS_GATE_SAMPLE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

/* time in ns after which all of the tool's grace times are over, on the program's clock, which the gate slows
 * down */
#define SETTLED_NS 10000
#define LEAVES     4 /* number of places at which timed samples are taken in turn */

typedef void (*sample_handler)(int, siginfo_t *, void *);

static sample_handler handler;
static int handler_signal;

static bool gate_find_sample_handler(int signal)
{
    struct sigaction action;
    if (sigaction(signal, NULL, &action) != 0 || !(action.sa_flags & SA_SIGINFO))
        return false;
    handler = action.sa_sigaction;
    handler_signal = signal;
    return true;
}

/* Waits until all of the tool's grace times are over, so that a sample runs the same code in every run. */
static void gate_let_time_pass(void)
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

/* A function to which time_samples may point. It then gets LEAVES register contexts with the same stack, and
 * no sample is taken here (times.c). */
typedef void (*sample_timer)(sample_handler handler, int signal, siginfo_t *info, ucontext_t *contexts);

static sample_timer time_samples;

/* Sets the registers that a stack walk needs, as if a signal had interrupted the calling function here.
 * getcontext() would add a system call to the time that is measured. */
static inline __attribute__((always_inline)) void gate_be_interrupted_here(ucontext_t *context)
{
    greg_t rip, rsp, rbp;
    __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2" : "=r"(rip), "=r"(rsp), "=r"(rbp));
    context->uc_mcontext.gregs[REG_RIP] = rip;
    context->uc_mcontext.gregs[REG_RSP] = rsp;
    context->uc_mcontext.gregs[REG_RBP] = rbp;
}

static __attribute__((noinline)) void hand_samples(siginfo_t *info)
{
    ucontext_t contexts[LEAVES];
    memset(contexts, 0, sizeof(contexts));
    gate_be_interrupted_here(&contexts[0]);
    gate_be_interrupted_here(&contexts[1]);
    gate_be_interrupted_here(&contexts[2]);
    gate_be_interrupted_here(&contexts[3]);
    time_samples(handler, handler_signal, info, contexts);
    __asm__ volatile("" ::: "memory");
}

/* Takes samples as if a timer's signal had interrupted this function. */
static __attribute__((noinline)) void gate_samples_here(int count)
{
    siginfo_t info;
    ucontext_t context;
    memset(&info, 0, sizeof(info));
    memset(&context, 0, sizeof(context));
    info.si_signo = handler_signal;
    info.si_code = SI_TIMER;
    gate_let_time_pass();
    if (time_samples)
        hand_samples(&info);
    for (volatile int i = 0; i < count && !time_samples; i++) {
        getcontext(&context);
        send_sample(&info, &context);
    }
    __asm__ volatile("" ::: "memory");
}

#endif
