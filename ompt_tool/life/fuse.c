#include "ompt_tool/life/fuse.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/bind.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/registers.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "unwind/linked.h"

/* greatest distance in bytes of the interrupted stack pointer from the place on the stack where the fuse was
 * lit; a fiber, whose stack may be small, is further away */
#define NEAR_BYTES (8u << 20)

#define START_MS 1000 /* time in ms that another thread has to start the measurement */
static const struct timespec millisecond = {.tv_nsec = 1000000};

/* BLOWN: the initial thread starts the measurement. Who changes LIT, by compare and exchange, decides. */
enum { OUT, LIT, BLOWN };

static struct {
    bool (*start)(uintptr_t stack);
    uint32_t state;
    bool forbidden; /* whether neither this process nor its children may start a measurement any more */
    pid_t process;  /* the process that has the timer */
    timer_t timer;
    uintptr_t near;   /* an address in the initial thread's stack */
    uintptr_t loader; /* an address in the dynamic loader */
    struct restart_state restart;
} fuse;

static bool fuse_is_near(uintptr_t stack)
{
    return stack - fuse.near + NEAR_BYTES <= 2 * NEAR_BYTES;
}

static bool fuse_is_in_library(uintptr_t address, uintptr_t inside)
{
    struct linked_object object, library;
    return linked_find(address, &object) && linked_find(inside, &library) && object.start == library.start;
}

/* Returns true if the measurement can start now, although it starts in a signal handler. */
static bool fuse_may_blow(const ucontext_t *context)
{
    return fuse_is_near(registers_sp(context)) && !fuse_is_in_library(registers_pc(context), fuse.loader);
}

void fuse_put_out(void)
{
    uint32_t lit = LIT;
    if (compare_exchange(&fuse.state, &lit, OUT)) {
        if (fuse.process == getpid())
            os_timer_stop(fuse.timer);
        return;
    }
    for (uint32_t ms = 0; load_acquire(&fuse.state) == BLOWN && ms < START_MS; ms++)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &millisecond, NULL);
}

void fuse_forbid(void)
{
    fuse.forbidden = true;
    fuse_put_out();
}

/* Starts the measurement in the signal handler. Returns the state of the interrupted call. */
static struct restart_state *fuse_blow(void)
{
    uint32_t lit = LIT;
    if (!compare_exchange(&fuse.state, &lit, BLOWN))
        return &fuse.restart;
    os_timer_stop(fuse.timer);
    sampler_drop_stranger_stack();
    bool started = fuse.start(fuse.near) && thread_self;
    if (started)
        thread_self->restart = fuse.restart;
    store_release(&fuse.state, OUT);
    return started ? &thread_self->restart : &fuse.restart;
}

void fuse_blow_before_thread(void)
{
    uint32_t lit = LIT;
    int saved_errno = errno;
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    if (load_relaxed(&fuse.state) != LIT || os_tid() != getpid() || fuse.process != getpid() || !fuse_is_near(stack) ||
        !compare_exchange(&fuse.state, &lit, BLOWN))
        return;
    os_timer_stop(fuse.timer);
    sampler_drop_stranger_stack();
    uint64_t begun_ns = clock_process_cpu_ns();
    fuse.start(stack);
    session.cpu_before_ns += clock_process_cpu_ns() - begun_ns;
    store_release(&fuse.state, OUT);
    errno = saved_errno;
}

/* Handles a signal in a thread that is not measured. */
static void fuse_on_signal(const siginfo_t *info, ucontext_t *context)
{
    struct restart_state *restart = &fuse.restart;
    int saved_errno = errno;
    if (os_tid() != getpid()) /* a late signal of a timer that was another thread's */
        return;
    uint64_t now_ns = clock_now_ns();
    restart_enter(restart, context);
    bool ours = info->si_code == SI_TIMER && fuse.process == getpid() && load_relaxed(&fuse.state) == LIT;
    if (ours && fuse_may_blow(context))
        restart = fuse_blow();
    else if (ours)
        os_timer_set(fuse.timer, true, FUSE_AGAIN_NS, 0);
    restart_interrupted_call(restart, context, now_ns);
    errno = saved_errno;
    restart_leave(restart, context);
}

/* Sets the fuse's timer. */
static bool fuse_set_timer(void)
{
    int signal = sampler_signal();
    fuse.near = (uintptr_t)__builtin_frame_address(0);
    fuse.process = getpid();
    restart_state_init(&fuse.restart, sampler_signals());
    session.cpu_before_ns = clock_process_cpu_ns();
    store_release(&fuse.state, LIT); /* before the first signal */
    sampler_on_stranger = fuse_on_signal;
    if (!signal || !sampler_make_stranger_stack() || !os_process_timer_start(&fuse.timer, signal, SESSION_LEAST_CPU_NS))
        store_release(&fuse.state, OUT);
    return fuse.state == LIT;
}

/* Lights a fuse in a forked child, which inherits no timer. If the fork came while another thread started the
 * measurement, nobody continues that, and the child is not measured. */
static void fuse_forked(void)
{
    session.plain = false;
    if (load_acquire(&fuse.state) != BLOWN && !fuse.forbidden)
        fuse_set_timer();
}

bool fuse_light(bool (*start)(uintptr_t stack))
{
    fuse.start = start;
    fuse.loader = (uintptr_t)bind_find_in_libc("__tls_get_addr");
    if (!fuse_set_timer())
        return false;
    pthread_atfork(NULL, NULL, fuse_forked);
    return true;
}
