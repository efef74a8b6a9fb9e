#include "ompt_tool/sampling/sample_signal.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/kernel.h"
#include "base/os.h"

/* The kernel's own form of struct sigaction. */
struct signal_action {
    uintptr_t handler;
    unsigned long flags, restorer;
    uint64_t mask;
};

/* Changes the handler so that it also blocks the C library's two internal signals, which sigfillset() leaves
 * out. Otherwise pthread_cancel() could end the thread while the handler changes data. */
static bool sample_signal_block_library_signals(int signal)
{
    struct signal_action action;
    if (kernel_call(SYS_rt_sigaction, signal, 0, (long)&action, sizeof(action.mask), 0, 0) != 0)
        return false;
    for (int i = __SIGRTMIN; i < SIGRTMIN; i++)
        action.mask |= (uint64_t)1 << (i - 1);
    return kernel_call(SYS_rt_sigaction, signal, (long)&action, 0, sizeof(action.mask), 0, 0) == 0;
}

static bool sample_signal_try(sample_handler *handler, int signal)
{
    struct sigaction old, action;
    if (sigaction(signal, NULL, &old) != 0 || old.sa_handler != SIG_DFL)
        return false;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = sample_entry(handler);
    action.sa_flags = SA_RESTART | SA_SIGINFO | SAMPLE_ENTRY_FLAG;
    /* The program's signals wait until the handler ends; restart.c sees which are pending. */
    sigfillset(&action.sa_mask);
    /* A fault whose signal is blocked would end the program (fault.c). */
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    return sigaction(signal, &action, NULL) == 0 && sample_signal_block_library_signals(signal);
}

int sample_signal_install(sample_handler *handler, int wanted)
{
    if (wanted && sample_signal_try(handler, wanted))
        return wanted;
    /* Of several pending signals, the kernel delivers the highest last, so its frame is on top of the others. */
    for (int signal = SIGRTMAX; signal >= SIGRTMIN; signal--)
        if (sample_signal_try(handler, signal))
            return signal;
    return sample_signal_try(handler, SIGSTKFLT) ? SIGSTKFLT : 0; /* Linux itself never sends SIGSTKFLT */
}

bool sample_signal_comes_to(sample_handler *handler, int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_sigaction == sample_entry(handler);
}

bool sample_signal_is_blocked(int tid, int signal)
{
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
    os_read_text(path, text, sizeof(text));
    const char *blocked = strstr(text, "\nSigBlk:");
    return blocked && strtoull(blocked + strlen("\nSigBlk:"), NULL, 16) >> (signal - 1) & 1;
}

bool sample_signal_block(int signal)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return pthread_sigmask(SIG_BLOCK, &set, &before) == 0 && !sigismember(&before, signal);
}

void sample_signal_unblock(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
