#include "ompt_tool/restart/bystander.h"

#include <signal.h>
#include <string.h>

#include "base/atomics.h"
#include "base/kernel.h"
#include "ompt_tool/restart/restart_state.h"

/* time in ns for which a signal must stay pending; under heavy load, even the initial thread may be without a
 * core for 0.5 s */
#define PATIENCE_NS 1500000000u
#define LOOKS       8u
#define BIT(signal) (1ull << ((signal) - 1))

static const uint64_t of_the_process = BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGALRM) | BIT(SIGTERM) |
                                       BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU) |
                                       BIT(SIGIO) | BIT(SIGWINCH);

/* signals that the initial thread does not take, so that the tool no longer blocks them */
static uint64_t left_alone;

/* Finds signals that no thread takes, which means that all looks during PATIENCE_NS find them pending. A
 * signal that is merely sent again and again is missing in some of these looks. */
static void bystander_look_at_pending(struct bystander *bystander, uint64_t now_ns)
{
    uint64_t pending = 0;
    kernel_call(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0, 0);
    pending &= bystander->added;
    bystander->pending &= pending;
    if (likely(!bystander->pending)) {
        bystander->pending = pending;
        bystander->looks = 0;
        bystander->since_ns = now_ns;
    } else if (++bystander->looks >= LOOKS && now_ns - bystander->since_ns >= PATIENCE_NS) {
        fetch_or_acq_rel(&left_alone, bystander->pending);
    }
}

void bystander_begin(struct bystander *bystander, ucontext_t *context, uint64_t now_ns)
{
    uint64_t mask = restart_mask_of(context), taken = of_the_process & ~load_relaxed(&left_alone);
    if (!bystander->added) {
        *bystander = (struct bystander){.added = taken & ~mask};
        restart_set_mask(context, mask | bystander->added);
        return;
    }
    bystander_look_at_pending(bystander, now_ns);
    uint64_t left = bystander->added & load_relaxed(&left_alone);
    if (unlikely(left)) {
        restart_set_mask(context, mask & ~left);
        bystander->added &= ~left;
    }
}

void bystander_wakes(struct bystander *bystander, ucontext_t *context)
{
    restart_set_mask(context, restart_mask_of(context) & ~bystander->added);
    bystander->added = 0;
}

/* Changes the calling thread's signal mask. Returns the previous mask. */
static uint64_t bystander_change_mask(int how, uint64_t signals)
{
    sigset_t set, old;
    sigemptyset(&set);
    memcpy(&set, &signals, sizeof(signals));
    pthread_sigmask(how, &set, &old);
    memcpy(&signals, &old, sizeof(signals));
    return signals;
}

void bystander_now(struct bystander *bystander)
{
    uint64_t taken = of_the_process & ~load_relaxed(&left_alone);
    uint64_t mask = bystander_change_mask(SIG_BLOCK, taken);
    bystander->added |= taken & ~mask; /* a sample just before this call may already have added all of them */
    bystander->pending = 0;
}

void bystander_end(struct bystander *bystander)
{
    if (!bystander->added)
        return;
    bystander_change_mask(SIG_UNBLOCK, bystander->added);
    bystander->added = 0;
}
