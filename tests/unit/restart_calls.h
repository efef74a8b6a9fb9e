/*
 * What test_restart.c, test_restart_signals.c and test_restart_waits.c share: a sampler, and a table of
 * functions that each make one blocking call.
 */
#ifndef BLAME_TESTS_UNIT_RESTART_CALLS_H
#define BLAME_TESTS_UNIT_RESTART_CALLS_H

#include "tests/unit/unit.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/kernel.h"
#include "base/os.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/restart/restart_machine.h"
#include "ompt_tool/sampling/sample_signal.h"
#include "ompt_tool/session/thread.h"

#define MS             1000000l
#define AMPLE_NS       (100000 * MS) /* a limit that no call is to end by, however starved its thread */
#define SAMPLE_SIGNAL  (SIGRTMIN + 3)
#define PROGRAM_SIGNAL SIGUSR1

/* ---- the sampler ---- */

struct sampler {
    struct restart_state state;
    timer_t timer;
    char *stack; /* the handler's */
    unsigned samples, results[4];
    uint64_t now_ns;           /* of the sample */
    const ucontext_t *context; /* as the program goes on */
    mcontext_t registers;      /* as it was interrupted */
    bool waited;               /* it was interrupted in the stub */
    unsigned asleep;           /* samples in a call that waits */
};
static __thread struct sampler sampler __attribute__((tls_model("initial-exec")));
static void (*on_call_put_back)(void);

static void on_sample(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    int saved_errno = errno;
    sampler.now_ns = clock_now_ns();
    restart_enter(&sampler.state, context);
    sampler.samples++;
    sampler.context = context;
    sampler.waited = sampler.state.waiting;
    sampler.asleep += restart_is_asleep(context);
    sampler.registers = sampler.context->uc_mcontext;
    enum restart_result result = restart_interrupted_call(&sampler.state, context, sampler.now_ns);
    sampler.results[result]++;
    if (result == RESTART_DONE && on_call_put_back)
        on_call_put_back();
    restart_note_sample(&sampler.state);
    errno = saved_errno;
    restart_leave(&sampler.state, context);
}

static void set_period(long period_ns)
{
    struct itimerspec period = {{0, period_ns}, {0, period_ns}};
    assert_int_equal(timer_settime(sampler.timer, 0, &period, NULL), 0);
}

/* The entry takes no more of a record than where it begins. */
static void sampler_open(void)
{
    sampler.stack = os_map(THREAD_HANDLER_STACK_BYTES + sizeof(struct thread));
    assert_non_null(sampler.stack);
    thread_self = (struct thread *)(sampler.stack + THREAD_HANDLER_STACK_BYTES);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SAMPLE_SIGNAL};
    if (!sample_signal_comes_to(on_sample, SAMPLE_SIGNAL))
        assert_int_equal(sample_signal_install(on_sample, SAMPLE_SIGNAL), SAMPLE_SIGNAL);
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    restart_state_init(&sampler.state, (uint64_t)1 << (SAMPLE_SIGNAL - 1));
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &sampler.timer), 0);
}

static void sampler_close(void)
{
    timer_delete(sampler.timer);
    thread_self = NULL; /* a late sample returns */
    os_unmap(sampler.stack, THREAD_HANDLER_STACK_BYTES + sizeof(struct thread));
}

/* ---- the calls; each gets a time limit in ns and gives 0 or the errno ---- */

static int epoll_fd, pipe_fds[2], socket_fds[2], semaphores, queue, ring_fd;
static unsigned long aio_context;
static sem_t semaphore;

static struct timespec in_ns(long ns)
{
    return (struct timespec){ns / 1000000000l, ns % 1000000000l};
}

static struct timespec at_ns(clockid_t clock, long ns)
{
    struct timespec at;
    clock_gettime(clock, &at);
    ns += at.tv_nsec;
    return (struct timespec){at.tv_sec + ns / 1000000000l, ns % 1000000000l};
}

/* What a call that ends by its limit returns is 0 for poll and the like, -1 with the given errno for others.
 */
static int outcome(long result, int at_limit)
{
    if (result == -1 && errno == at_limit)
        return 0;
    if (result == -1)
        return errno;
    return at_limit == 0 && result == 0 ? 0 : 1000;
}

static struct timespec remainder_left;

static struct pollfd poll_pipe(void)
{
    return (struct pollfd){.fd = pipe_fds[0], .events = POLLIN};
}

static sigset_t mask_now(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return mask;
}

static sigset_t mask_of(int signal_number)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, signal_number);
    return mask;
}

static fd_set *set_of(int fd)
{
    static fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    return &set;
}

/* The socket's limit. */
static int limited_socket(const struct timeval *limit)
{
    setsockopt(socket_fds[0], SOL_SOCKET, SO_RCVTIMEO, limit, sizeof *limit);
    return socket_fds[0];
}

static char byte;
static struct iovec one_byte = {&byte, 1};
static struct epoll_event event;
static struct {
    long type;
    char text[8];
} message;

/* An expression of `ns`, or of `limit`, `ms` or `us`: the same. */
#define CALL(name, at_limit, expression)                                                                               \
    static int call_##name(long ns)                                                                                    \
    {                                                                                                                  \
        struct timespec limit = in_ns(ns);                                                                             \
        struct timeval us = {limit.tv_sec, limit.tv_nsec / 1000};                                                      \
        int ms = (int)(ns / MS);                                                                                       \
        (void)limit, (void)us, (void)ms;                                                                               \
        return outcome(expression, at_limit);                                                                          \
    }

CALL(nanosleep_rem, 0, nanosleep(&limit, &remainder_left))
CALL(usleep, 0, usleep((useconds_t)(ns / 1000)))
CALL(poll, 0, poll((struct pollfd[]){poll_pipe()}, 1, ms))
CALL(ppoll, 0, ppoll((struct pollfd[]){poll_pipe()}, 1, &limit, (sigset_t[]){mask_now()}))
CALL(select, 0, select(pipe_fds[0] + 1, set_of(pipe_fds[0]), NULL, NULL, &us))
CALL(pselect, 0, pselect(0, NULL, NULL, NULL, &limit, NULL))
CALL(epoll_wait, 0, epoll_wait(epoll_fd, &event, 1, ms))
CALL(epoll_pwait, 0, epoll_pwait(epoll_fd, &event, 1, ms, (sigset_t[]){mask_now()}))
CALL(epoll_pwait2, 0, epoll_pwait2(epoll_fd, &event, 1, &limit, NULL))
CALL(sem_timedwait, ETIMEDOUT, sem_timedwait(&semaphore, (struct timespec[]){at_ns(CLOCK_REALTIME, ns)}))
CALL(sem_clockwait, ETIMEDOUT,
     sem_clockwait(&semaphore, CLOCK_MONOTONIC, (struct timespec[]){at_ns(CLOCK_MONOTONIC, ns)}))
CALL(sigtimedwait, EAGAIN, sigtimedwait((sigset_t[]){mask_of(SIGWINCH)}, NULL, &limit))
CALL(semtimedop, EAGAIN, semtimedop(semaphores, (struct sembuf[]){{.sem_op = -1}}, 1, &limit))
CALL(recv, EAGAIN, recv(limited_socket(&us), &byte, 1, 0))
CALL(read_socket, EAGAIN, read(limited_socket(&us), &byte, 1))
CALL(recvmmsg, EAGAIN,
     recvmmsg(limited_socket(&us), (struct mmsghdr[]){{.msg_hdr = {.msg_iov = &one_byte, .msg_iovlen = 1}}}, 1, 0,
              NULL))
/* Without a limit: only signals end them. */
CALL(pause, 0, pause())
CALL(sigsuspend, 0, sigsuspend((sigset_t[]){mask_now()}))
CALL(msgrcv, 0, msgrcv(queue, &message, sizeof message.text, 0, 0))
CALL(semop, 0, semop(semaphores, (struct sembuf[]){{.sem_op = -1}}, 1))
CALL(epoll_forever, 0, epoll_wait(epoll_fd, &event, 1, -1))

static int call_sys_nanosleep(long ns)
{
    struct timespec limit = in_ns(ns);
#ifdef __x86_64__
    long result;
    __asm__ volatile("mov $35, %%eax; syscall" : "=&a"(result) : "D"(&limit), "S"(0l) : "rcx", "r11", "memory");
#else
    long result = kernel_call(SYS_nanosleep, (long)&limit, 0, 0, 0, 0, 0);
#endif
    return (int)-result;
}

#ifdef __x86_64__
/* How glibc makes calls that can be cancelled, since 2.41: as Debian 13 has compiled it, with several threads and with
 * one. The number is the argument on the stack. */
long call_cancellably(long first, long second, long third, long fourth, long fifth, long sixth, long number);
long call_alone(long first, long second, long third, long fourth, long fifth, long sixth, long number);
__asm__("call_cancellably:\n"
        "    pushq %rbx\n"
        "    leaq call_not_cancelled(%rip), %r11\n"
        "    pushq %r9\n"
        "    movq %rcx, %r9\n"
        "    movq %rsi, %rcx\n"
        "    pushq %r8\n"
        "    movq 0x20(%rsp), %rsi\n"
        "    movq %rdx, %r8\n"
        "    movq %rdi, %rdx\n"
        "    movq %r11, %rdi\n"
        "    call 1f\n"
        "    popq %rcx\n"
        "    popq %rsi\n"
        "    popq %rbx\n"
        "    ret\n"
        "1:  movl (%rdi), %eax\n" /* __syscall_cancel_arch */
        "    movq %rdi, %r11\n"
        "    movq %rsi, %rax\n"
        "    movq %rdx, %rdi\n"
        "    movq %rcx, %rsi\n"
        "    movq %r8, %rdx\n"
        "    movq %r9, %r10\n"
        "    movq 8(%rsp), %r8\n"
        "    movq 16(%rsp), %r9\n"
        "    movq %r11, 8(%rsp)\n"
        "    syscall\n"
        "    ret\n"
        "call_not_cancelled: .long 0\n"
        "call_alone:\n"
        "    movq %rcx, %r10\n"
        "    movq 8(%rsp), %rax\n"
        "    syscall\n"
        "    ret\n");

static int call_cancellable_nanosleep(long ns)
{
    struct timespec limit = in_ns(ns);
    return (int)-call_cancellably((long)&limit, 0, 0, 0, 0, 0, SYS_nanosleep);
}

static int call_nanosleep_alone(long ns)
{
    struct timespec limit = in_ns(ns);
    return (int)-call_alone((long)&limit, 0, 0, 0, 0, 0, SYS_nanosleep);
}
#endif

static int call_clock_nanosleep(long ns)
{
    struct timespec limit = in_ns(ns);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, NULL);
}

static int call_clock_nanosleep_abs(long ns)
{
    struct timespec limit = at_ns(CLOCK_MONOTONIC, ns);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &limit, NULL);
}

#ifdef SYS_select
static int call_sys_select(long ns)
{
    struct timeval limit = {ns / 1000000000l, ns % 1000000000l / 1000};
    register void *r10 __asm__("r10") = NULL;
    register void *r8 __asm__("r8") = &limit;
    long result;
    __asm__ volatile("mov $23, %%eax; syscall"
                     : "=&a"(result)
                     : "D"(0l), "S"(0l), "d"(0l), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return (int)-result;
}
#endif

/* A ring in which nothing ever completes. */
static int call_sys_uring(long ns)
{
    struct __kernel_timespec limit = {ns / 1000000000l, ns % 1000000000l};
    struct io_uring_getevents_arg argument = {.ts = (uint64_t)&limit};
#ifdef __x86_64__
    register uint64_t r10 __asm__("r10") = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
    register void *r8 __asm__("r8") = &argument;
    register uint64_t r9 __asm__("r9") = sizeof argument;
    long result;
    __asm__ volatile("mov $426, %%eax; syscall"
                     : "=&a"(result)
                     : "D"((long)ring_fd), "S"(0l), "d"(1l), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#else
    register long fd __asm__("x19") = ring_fd; /* as a function keeps its parameter */
    __asm__ volatile("" : "+r"(fd));
    long result = kernel_call(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
                              (long)&argument, sizeof argument);
#endif
    return result == -ETIME && limit.tv_sec == ns / 1000000000l ? 0 : (int)-result;
}

#ifdef __x86_64__
static int call_sys_getevents(long ns)
{
    struct timespec limit = in_ns(ns);
    char completed[32]; /* an io_event */
    register void *r10 __asm__("r10") = completed;
    register void *r8 __asm__("r8") = &limit;
    long result;
    __asm__ volatile("mov $208, %%eax; syscall"
                     : "=&a"(result)
                     : "D"(aio_context), "S"(1l), "d"(1l), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return (int)-result;
}
#endif

static int call_cond_timedwait(long ns)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec limit = at_ns(CLOCK_REALTIME, ns);
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&condition, &mutex, &limit);
    pthread_mutex_unlock(&mutex);
    return result == ETIMEDOUT ? 0 : 1000 + result;
}

enum {
    BY_KERNEL = 1,  /* put back by the kernel, which keeps its deadline */
    UNLIMITED = 2,  /* has no time limit */
    SURE = 4,       /* no signal of the program's can slip through: restart.h, guarantee S */
    UNANSWERED = 8, /* the C library repeats it after EINTR */
    UNCANCELLABLE = 16,
    IN_PLACE = 32,    /* as it was: the deadline is the call's own, or the kernel writes back what is left */
    LEFT = 64,        /* of the others: the kernel says what is left */
    FALLS_BACK = 256, /* put back by another call where the kernel lacks that by which it is put back otherwise */
    NEWER = 512,      /* older kernels and some emulators lack it */
    WIDENS = 128,     /* the C library makes a word of the first argument, where it stood: on aarch64 it is lost */
};
#ifdef SYS_poll
#define POLL_TRAITS BY_KERNEL | SURE
#else
#define POLL_TRAITS LEFT /* it is a ppoll */
#endif

static const struct call {
    const char *name;
    int (*make)(long ns);
    int traits;
} CALLS[] = {
    {"nanosleep(rem)", call_nanosleep_rem, BY_KERNEL | SURE},
    {"usleep", call_usleep, BY_KERNEL | SURE},
    {"nanosleep inline", call_sys_nanosleep, BY_KERNEL | SURE | UNCANCELLABLE},
#ifdef __x86_64__
    {"nanosleep of glibc 2.41", call_cancellable_nanosleep, BY_KERNEL | SURE | UNCANCELLABLE},
    {"nanosleep of glibc 2.41, one thread", call_nanosleep_alone, BY_KERNEL | SURE | UNCANCELLABLE},
#endif
    {"clock_nanosleep", call_clock_nanosleep, BY_KERNEL | SURE},
    {"clock_nanosleep abs", call_clock_nanosleep_abs, IN_PLACE},
    {"poll", call_poll, POLL_TRAITS},
    {"ppoll", call_ppoll, LEFT},
    {"select", call_select, LEFT},
#ifdef SYS_select
    {"select inline", call_sys_select, IN_PLACE | UNCANCELLABLE},
#endif
    {"pselect", call_pselect, LEFT},
    {"epoll_wait", call_epoll_wait, FALLS_BACK},
    {"epoll_pwait", call_epoll_pwait, FALLS_BACK},
    {"epoll_pwait2", call_epoll_pwait2, NEWER},
#ifdef __x86_64__
    {"io_getevents", call_sys_getevents, FALLS_BACK | UNCANCELLABLE},
#endif
    {"sem_timedwait", call_sem_timedwait, BY_KERNEL | SURE},
    {"sem_clockwait", call_sem_clockwait, BY_KERNEL | SURE},
    {"pthread_cond_timedwait", call_cond_timedwait, BY_KERNEL | UNANSWERED},
    {"sigtimedwait", call_sigtimedwait, 0},
    {"semtimedop", call_semtimedop, UNCANCELLABLE | WIDENS},
    {"recv", call_recv, 0},
    {"read socket", call_read_socket, 0},
    {"recvmmsg", call_recvmmsg, 0},
    {"pause", call_pause, UNLIMITED},
    {"sigsuspend", call_sigsuspend, UNLIMITED},
    {"epoll_wait forever", call_epoll_forever, UNLIMITED | FALLS_BACK},
    {"msgrcv", call_msgrcv, UNLIMITED},
    {"semop", call_semop, UNLIMITED | UNCANCELLABLE | WIDENS},
    {"io_uring_enter", call_sys_uring, UNCANCELLABLE}, /* the last: not every machine lets us have a ring */
};
static int call_count = sizeof CALLS / sizeof CALLS[0];

/* Signals of the tests' own and the objects that the calls wait for, of which nothing ever comes. */
static int open_objects(void **unused)
{
    (void)unused;
    epoll_fd = epoll_create1(0);
    queue = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    sem_init(&semaphore, 0, 0);
    syscall(SYS_io_setup, 1, &aio_context);
    ring_fd = (int)syscall(SYS_io_uring_setup, 1, &(struct io_uring_params){.flags = 0});
    call_count -= ring_fd < 0;
    sampler_open();
    return pipe(pipe_fds) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, socket_fds) != 0 || queue < 0 || semaphores < 0;
}

static int close_objects(void **unused)
{
    (void)unused;
    sampler_close();
    syscall(SYS_io_destroy, aio_context);
    msgctl(queue, IPC_RMID, NULL);
    return semctl(semaphores, 0, IPC_RMID);
}

#endif
