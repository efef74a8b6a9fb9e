/* How many instructions a call takes, counted one by one: the processor traps behind each. */
#ifndef BLAME_TESTS_INSTRUCTIONS_H
#define BLAME_TESTS_INSTRUCTIONS_H

#include <signal.h>
#include <ucontext.h>

#if !defined(__x86_64__) || defined(SANITIZED)
#define INSTRUCTIONS_COUNT 0 /* a sanitizer's are counted, too */

static inline long instructions_of(void (*call)(void), long most)
{
    (void)most;
    call();
    return -1;
}
#else
#define INSTRUCTIONS_COUNT 1
#define INSTRUCTIONS_TRAP  0x100 /* TF */

static volatile long instructions_counted, instructions_most;

static void instructions_count(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    if (++instructions_counted >= instructions_most)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~INSTRUCTIONS_TRAP;
}

/* Makes the call with a trap behind each of its instructions. */
static inline void instructions_trap(void (*call)(void))
{
    __asm__ volatile("sub $128, %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp"
                     :
                     : "i"(INSTRUCTIONS_TRAP)
                     : "memory", "cc");
    call();
    __asm__ volatile("sub $128, %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp"
                     :
                     : "i"(~INSTRUCTIONS_TRAP)
                     : "memory", "cc");
}

/* Counts no further than `most`. */
static inline long instructions_of(void (*call)(void), long most)
{
    struct sigaction count = {.sa_sigaction = instructions_count, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGTRAP, &count, &before);
    instructions_counted = 0;
    instructions_most = most;
    instructions_trap(call);
    sigaction(SIGTRAP, &before, NULL);
    return instructions_counted;
}
#endif

/* Asserts that the call takes some so many: at most half as much again, and so many that the state is the one that was meant. A trap
 * takes microseconds on a virtual machine: keep it below 100,000. */
#define assert_instructions(call, about)                                                                               \
    do {                                                                                                               \
        long counted_ = instructions_of(call, 2 * (about));                                                            \
        if (INSTRUCTIONS_COUNT && (counted_ < (about) / 3 || counted_ > (about) * 3 / 2))                              \
            fail_msg("%ld instructions, not some %ld", counted_, (long)(about));                                       \
    } while (0)

#endif
