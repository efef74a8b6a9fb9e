/* This file runs in the signal handler: the rules at the head of sampler.c apply. */
#include "ompt_tool/sampling/fault.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/os.h"
#include "ompt_tool/sampling/sample_signal.h"
#include "ompt_tool/sampling/sleeper.h"

static const int watched[] = {SIGSEGV, SIGBUS};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

/* Lets the signal have the effect that it would have without this handler. A faulting instruction is executed
 * again, and faults again without a handler. A signal that was sent by a process is sent once more. */
static void fault_leave_to_kernel(int signal, siginfo_t *info)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, NULL);
    bool again = info->si_code > 0 && !(signal == SIGBUS && info->si_code == BUS_MCEERR_AO);
    if (!again)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), os_tid(), signal, info);
}

/* Ends the sample during which the fault occurred. The program's signals are blocked during a sample, so the
 * fault is the tool's own. */
static void handle_fault(int signal, siginfo_t *info, void *context)
{
    struct thread *thread = thread_self;
    (void)context;
    if (!thread || !load_relaxed(&thread->inside.guarded) || info->si_code <= 0) {
        fault_leave_to_kernel(signal, info);
        return;
    }
    store_relaxed(&thread->inside.guarded, false);
    siglongjmp(thread->inside.before_sample, 1);
}

void fault_watch(void)
{
    static uint32_t watching;
    uint32_t expected = 0;
    if (!compare_exchange(&watching, &expected, 1))
        return;
    for (size_t i = 0; i < WATCHED; i++) {
        struct sigaction old, action;
        if (sigaction(watched[i], NULL, &old) != 0 || old.sa_handler != SIG_DFL)
            continue; /* The program has its own handler, which is kept. */
        memset(&action, 0, sizeof(action));
        action.sa_sigaction = handle_fault;
        /* SA_NODEFER: the handler is left by a jump, after which its signal must not stay blocked. No
         * SA_ONSTACK where the sample's signal frame is at the top of the alternate stack: the kernel would
         * put this handler's frame over it. */
        action.sa_flags = SA_SIGINFO | SA_NODEFER | (SA_ONSTACK & ~SAMPLE_ENTRY_FLAG);
        sigaction(watched[i], &action, NULL);
    }
}

void fault_record_sleeper(struct thread *thread, const struct delivery *delivery, bool by_cpu_timer,
                          const ucontext_t *context)
{
    struct profile_thread *ledger = thread->ledger;
    if (likely(sigsetjmp(thread->inside.before_sample, 0) == 0)) {
        store_relaxed(&thread->inside.guarded, true);
        signal_fence();
        sleeper_record(thread, delivery, by_cpu_timer, context);
    } else {
        ledger->delivered = ledger->recorded; /* Any part of the time may have been recorded. */
        for (int cause = 0; cause < PROFILE_DROP_REASONS; cause++)
            ledger->delivered += ledger->dropped[cause];
        sleeper_drop(thread, delivery->clocks.ns, PROFILE_DROP_FAULT);
    }
    signal_fence();
    store_relaxed(&thread->inside.guarded, false);
}

void fault_record_sample(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t recorded = thread->ledger->recorded;
    if (likely(sigsetjmp(thread->inside.before_sample, 0) == 0)) {
        store_relaxed(&thread->inside.guarded, true);
        signal_fence();
        sample_record(thread, delivery, context);
    } else if (thread->ledger->recorded == recorded) {
        sample_drop(thread, delivery, PROFILE_DROP_FAULT);
    }
    signal_fence();
    store_relaxed(&thread->inside.guarded, false);
}
