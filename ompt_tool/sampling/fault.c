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

static const int watched[] = {SIGSEGV, SIGBUS};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

/* Does what the kernel would have done without this handler. A faulting instruction is executed again, and
 * its fault then has no handler. A signal that a process has sent is sent once more. */
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

/* Ends the sample that faulted. The program's signals are blocked during a sample, so a fault between its
 * start and its end is the tool's own. */
static void handle_fault(int signal, siginfo_t *info, void *context)
{
    struct thread *thread = thread_self;
    (void)context;
    if (!thread || !load_relaxed(&thread->guarded) || info->si_code <= 0) {
        fault_leave_to_kernel(signal, info);
        return;
    }
    store_relaxed(&thread->guarded, false);
    siglongjmp(thread->before_sample, 1);
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
            continue; /* keep the program's own handler */
        memset(&action, 0, sizeof(action));
        action.sa_sigaction = handle_fault;
        /* The handler is left by a jump, so it must not block its signal (SA_NODEFER). If the frame of the
         * sample's signal is at the top of the alternate stack, this handler must not start there too (no
         * SA_ONSTACK): its frame would overwrite that one. */
        action.sa_flags = SA_SIGINFO | SA_NODEFER | (SA_ONSTACK & ~SAMPLE_ENTRY_FLAG);
        sigaction(watched[i], &action, NULL);
    }
}

void fault_record_sample(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t recorded = thread->ledger->recorded;
    if (likely(sigsetjmp(thread->before_sample, 0) == 0)) {
        store_relaxed(&thread->guarded, true);
        signal_fence();
        sample_record(thread, delivery, context);
    } else if (thread->ledger->recorded == recorded) {
        sample_drop(thread, delivery, PROFILE_DROP_FAULT);
    }
    signal_fence();
    store_relaxed(&thread->guarded, false);
}
