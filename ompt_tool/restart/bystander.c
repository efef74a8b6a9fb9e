#include "ompt_tool/restart/bystander.h"

#include <signal.h>
#include <string.h>

#include "ompt_tool/restart/restart_state.h"

#define BIT(signal) (1ull << ((signal)-1))

static const uint64_t of_the_process = BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGALRM) | BIT(SIGTERM) |
                                       BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU) |
                                       BIT(SIGIO) | BIT(SIGWINCH);

void bystander_begin(uint64_t *added, ucontext_t *context)
{
    uint64_t mask = restart_mask_of(context);
    if (*added)
        return;
    *added = of_the_process & ~mask;
    restart_set_mask(context, mask | *added);
}

void bystander_wakes(uint64_t *added, ucontext_t *context)
{
    restart_set_mask(context, restart_mask_of(context) & ~*added);
    *added = 0;
}

/* Returns the mask that was. */
static uint64_t change_mask(int how, uint64_t signals)
{
    sigset_t set, old;
    sigemptyset(&set);
    memcpy(&set, &signals, sizeof(signals));
    pthread_sigmask(how, &set, &old);
    memcpy(&signals, &old, sizeof(signals));
    return signals;
}

void bystander_now(uint64_t *added)
{
    uint64_t mask = change_mask(SIG_BLOCK, of_the_process);
    *added |= of_the_process & ~mask; /* a sample before the call may have added all */
}

void bystander_end(uint64_t *added)
{
    if (!*added)
        return;
    change_mask(SIG_UNBLOCK, *added);
    *added = 0;
}
