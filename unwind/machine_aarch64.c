#include "unwind/machine_aarch64.h"

#include <sys/syscall.h>

static uintptr_t returns_to;

static void machine_note_return(int signal)
{
    (void)signal;
    returns_to = (uintptr_t)__builtin_return_address(0);
}

uintptr_t machine_trampoline(int signal)
{
    struct sigaction before, noting = {.sa_handler = machine_note_return, .sa_flags = SA_RESTART};
    sigset_t only, mask;
    sigemptyset(&noting.sa_mask);
    sigemptyset(&only);
    sigaddset(&only, signal);
    if (sigaction(signal, &noting, &before) != 0)
        return 0;
    pthread_sigmask(SIG_UNBLOCK, &only, &mask);
    syscall(SYS_tgkill, getpid(), os_tid(), signal); /* the signal is handled before tgkill returns */
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(signal, &before, NULL);
    return machine_strip(returns_to);
}
