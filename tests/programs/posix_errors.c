/* Prints what locks of POSIX threads and C11, other waits and system calls return, and what their bytes are when nobody
 * holds them: the same with the tool as without it. */
#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SHOW(call) show(#call, call)

static void show(const char *call, int status)
{
    printf("%s: %d\n", call, status);
}

static void show_bytes(const char *name, const void *object, size_t bytes)
{
    const unsigned char *at = object;
    printf("%s:", name);
    for (size_t i = 0; i < bytes; i++)
        printf(" %02x", at[i]);
    putchar('\n');
}

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec limit;
    clock_gettime(clock, &limit);
    limit.tv_nsec += ms * 1000000;
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    return limit;
}

static pthread_mutex_t mutex_of(int type, int robust, int protocol)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    memset(&mutex, 0, sizeof mutex);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutex_init(&mutex, &attributes);
    return mutex;
}

static int in_other_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, function, argument) || pthread_join(thread, &result))
        abort();
    return (int)(long)result;
}

static void *locks_and_ends(void *mutex)
{
    return (void *)(long)pthread_mutex_lock(mutex);
}

static void *unlocks(void *mutex)
{
    return (void *)(long)pthread_mutex_unlock(mutex);
}

static void *gives_up(void *mutex)
{
    struct timespec limit = in_ms(CLOCK_REALTIME, 30);
    return (void *)(long)pthread_mutex_timedlock(mutex, &limit);
}

static void *gives_up_by_clock(void *mutex)
{
    struct timespec limit = in_ms(CLOCK_MONOTONIC, 30);
    return (void *)(long)pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &limit);
}

static void show_mutexes(void)
{
    const struct timespec wrong = {.tv_nsec = -1}, past = {.tv_sec = 1};
    pthread_mutex_t normal = mutex_of(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    pthread_mutex_t careful = mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    pthread_mutex_t again = mutex_of(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    pthread_mutex_t inherits = mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    SHOW(pthread_mutex_lock(&normal));
    SHOW(pthread_mutex_trylock(&normal));
    SHOW(pthread_mutex_timedlock(&normal, &past));
    SHOW(pthread_mutex_timedlock(&normal, &wrong));
    SHOW(in_other_thread(gives_up, &normal));
    SHOW(in_other_thread(gives_up_by_clock, &normal));
    SHOW(pthread_mutex_unlock(&normal));
    SHOW(pthread_mutex_timedlock(&normal, &wrong));
    SHOW(pthread_mutex_unlock(&normal));
    SHOW(pthread_mutex_clocklock(&normal, CLOCK_PROCESS_CPUTIME_ID, &past));
    show_bytes("normal", &normal, sizeof normal);
    SHOW(pthread_mutex_lock(&careful));
    SHOW(pthread_mutex_lock(&careful));
    SHOW(in_other_thread(unlocks, &careful));
    SHOW(pthread_mutex_unlock(&careful));
    SHOW(pthread_mutex_unlock(&careful));
    show_bytes("errorcheck", &careful, sizeof careful);
    SHOW(pthread_mutex_lock(&again));
    SHOW(pthread_mutex_lock(&again));
    SHOW(in_other_thread(gives_up, &again));
    SHOW(pthread_mutex_unlock(&again));
    SHOW(in_other_thread(gives_up, &again));
    SHOW(pthread_mutex_unlock(&again));
    SHOW(pthread_mutex_unlock(&again));
    show_bytes("recursive", &again, sizeof again);
    SHOW(pthread_mutex_lock(&inherits));
    SHOW(pthread_mutex_lock(&inherits));
    SHOW(in_other_thread(gives_up, &inherits));
    SHOW(pthread_mutex_unlock(&inherits));
    show_bytes("inherit", &inherits, sizeof inherits);
}

static void show_robust(void)
{
    pthread_mutex_t robust = mutex_of(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    SHOW(in_other_thread(locks_and_ends, &robust));
    SHOW(pthread_mutex_lock(&robust));
    SHOW(pthread_mutex_consistent(&robust));
    SHOW(pthread_mutex_unlock(&robust));
    SHOW(in_other_thread(locks_and_ends, &robust));
    SHOW(pthread_mutex_lock(&robust));
    SHOW(pthread_mutex_unlock(&robust));
    SHOW(pthread_mutex_lock(&robust));
    SHOW(pthread_mutex_unlock(&robust));
}

static void show_rwlocks(void)
{
    const struct timespec wrong = {.tv_nsec = -1}, past = {.tv_sec = 1};
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    SHOW(pthread_rwlock_timedrdlock(&lock, &wrong));
    SHOW(pthread_rwlock_timedwrlock(&lock, &wrong));
    SHOW(pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past));
    SHOW(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past));
    SHOW(pthread_rwlock_timedrdlock(&lock, &past));
    SHOW(pthread_rwlock_rdlock(&lock));
    SHOW(pthread_rwlock_trywrlock(&lock));
    SHOW(pthread_rwlock_timedwrlock(&lock, &past));
    SHOW(pthread_rwlock_unlock(&lock));
    SHOW(pthread_rwlock_unlock(&lock));
    SHOW(pthread_rwlock_wrlock(&lock));
    SHOW(pthread_rwlock_wrlock(&lock));
    SHOW(pthread_rwlock_rdlock(&lock));
    SHOW(pthread_rwlock_timedrdlock(&lock, &past));
    SHOW(pthread_rwlock_unlock(&lock));
    show_bytes("rwlock", &lock, sizeof lock);
}

static void show_c11(void)
{
    struct timespec limit = in_ms(CLOCK_REALTIME, 30);
    mtx_t mutex;
    cnd_t condition;
    memset(&mutex, 0, sizeof mutex);
    SHOW(mtx_init(&mutex, mtx_timed));
    SHOW(cnd_init(&condition));
    SHOW(mtx_lock(&mutex));
    SHOW(mtx_trylock(&mutex));
    SHOW(mtx_timedlock(&mutex, &limit));
    SHOW(cnd_timedwait(&condition, &mutex, &limit));
    SHOW(mtx_unlock(&mutex));
    show_bytes("c11", &mutex, sizeof mutex);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int stands;

static void is_cancelled(void *unused)
{
    (void)unused;
    printf("the mutex of a cancelled wait is held: %d\n", pthread_mutex_trylock(&mutex) == EBUSY);
    pthread_mutex_unlock(&mutex);
}

static void *waits_for_ever(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(is_cancelled, NULL);
    __atomic_store_n(&stands, 1, __ATOMIC_RELEASE);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return unused;
}

static void show_conditions(void)
{
    const struct timespec past = {.tv_sec = 1};
    pthread_t thread;
    void *result;
    pthread_mutex_lock(&mutex);
    SHOW(pthread_cond_timedwait(&condition, &mutex, &past));
    SHOW(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &past));
    SHOW(pthread_mutex_trylock(&mutex));
    pthread_mutex_unlock(&mutex);
    pthread_create(&thread, NULL, waits_for_ever, NULL);
    while (!__atomic_load_n(&stands, __ATOMIC_ACQUIRE))
        ;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("cancelled: %d\n", result == PTHREAD_CANCELED);
    SHOW(pthread_mutex_lock(&mutex));
    SHOW(pthread_mutex_unlock(&mutex));
}

/* ---- semaphores, barriers, ends of threads ---- */

static sem_t semaphore;
static pthread_barrier_t barrier;

/* A request to cancel is acted upon even if there is no need to wait. */
static void *is_cancelled_at_once(void *unused)
{
    pthread_cancel(pthread_self());
    sem_wait(&semaphore);
    return unused;
}

static void show_waits(void)
{
    const struct timespec past = {.tv_sec = 1}, wrong = {.tv_nsec = -1};
    pthread_t thread;
    int value;
    sem_init(&semaphore, 0, 0);
    errno = 0;
    SHOW(sem_timedwait(&semaphore, &past));
    SHOW(errno);
    SHOW(sem_timedwait(&semaphore, &wrong));
    SHOW(errno);
    SHOW(sem_post(&semaphore));
    SHOW(sem_timedwait(&semaphore, &wrong));
    SHOW(sem_post(&semaphore));
    printf("cancelled: %d\n", in_other_thread(is_cancelled_at_once, NULL) == (int)(long)PTHREAD_CANCELED);
    SHOW(sem_getvalue(&semaphore, &value));
    SHOW(value);
    show_bytes("semaphore", &semaphore, sizeof semaphore);
    pthread_barrier_init(&barrier, NULL, 1);
    SHOW(pthread_barrier_wait(&barrier));
    show_bytes("barrier", &barrier, sizeof barrier);
    SHOW(pthread_join(pthread_self(), NULL));
    pthread_create(&thread, NULL, is_cancelled_at_once, NULL);
    SHOW(pthread_join(thread, NULL));
}

/* ---- system calls ---- */

static void interrupts(int signal)
{
    (void)signal;
}

enum { LIMIT_MS = 15 };

static bool has_passed(const struct timespec *time)
{
    const struct timespec now = in_ms(CLOCK_MONOTONIC, 0);
    return now.tv_sec > time->tv_sec || (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

static int socket_with_limit(int type)
{
    const struct timeval limit = {.tv_usec = LIMIT_MS * 1000};
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, type, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (bind(fd, (const struct sockaddr *)&local, sizeof local) || (type == SOCK_STREAM && listen(fd, 1)))
        abort();
    return fd;
}

/* Calls that SA_RESTART does not restart (signal(7)), by libc's syscall(): their time limits, and only these, end them. */
static void show_waits_by_syscall(void)
{
    static const char nobody[sizeof(sigset_t)];
    const struct timespec limit = {.tv_nsec = LIMIT_MS * 1000000};
    struct timespec left = limit, left_of_select = limit, until;
    struct sembuf below = {.sem_op = -1};
    uint32_t word = 1;
#ifdef SYS_futex_waitv
    struct futex_waitv word_wait = {.uaddr = (uint64_t)&word, .val = 1, .flags = FUTEX_32};
#endif
    struct io_uring_params ring = {0};
    struct io_uring_getevents_arg ring_limit = {.ts = (uint64_t)&limit};
    char byte;
    long poll_fd = epoll_create1(0), stream = socket_with_limit(SOCK_STREAM), packets = socket_with_limit(SOCK_DGRAM);
    long set = semget(IPC_PRIVATE, 1, 0600), uring = syscall(SYS_io_uring_setup, 1, &ring);
#define A(pointer) (long)(pointer)
    const struct {
        const char *name;
        long number, first, second, third, fourth, fifth, sixth;
    } calls[] = {
        {"futex", SYS_futex, A(&word), FUTEX_WAIT, 1, A(&limit), 0, 0},
        {"futex until", SYS_futex, A(&word), FUTEX_WAIT_BITSET, 1, A(&until), 0, FUTEX_BITSET_MATCH_ANY},
#ifdef SYS_futex_waitv
        {"futex_waitv", SYS_futex_waitv, A(&word_wait), 1, 0, A(&until), CLOCK_MONOTONIC, 0},
#endif
        {"clock_nanosleep", SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, A(&limit), 0, 0, 0},
        {"clock_nanosleep until", SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, A(&until), 0, 0, 0},
        {"ppoll", SYS_ppoll, 0, 0, A(&left), 0, 0, 0},
        {"pselect6", SYS_pselect6, 0, 0, 0, 0, A(&left_of_select), 0},
        {"epoll_pwait", SYS_epoll_pwait, poll_fd, A(&ring), 1, LIMIT_MS, 0, 0},
        {"semtimedop", SYS_semtimedop, set, A(&below), 1, A(&limit), 0, 0},
        {"rt_sigtimedwait", SYS_rt_sigtimedwait, A(&nobody), 0, A(&limit), 8, 0, 0},
        {"accept4", SYS_accept4, stream, 0, 0, 0, 0, 0},
        {"recvfrom", SYS_recvfrom, packets, A(&byte), 1, 0, 0, 0},
        {"io_uring_enter", SYS_io_uring_enter, uring, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
         A(&ring_limit), sizeof ring_limit},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct timespec half = in_ms(CLOCK_MONOTONIC, LIMIT_MS / 2);
        until = in_ms(CLOCK_MONOTONIC, LIMIT_MS);
        errno = 0;
        long result = syscall(calls[i].number, calls[i].first, calls[i].second, calls[i].third, calls[i].fourth,
                              calls[i].fifth, calls[i].sixth);
        int error = errno;
        printf("%s: %ld, errno %d, early %d\n", calls[i].name, result, error, !has_passed(&half));
    }
    printf("left: %d %d\n", (int)left.tv_nsec, (int)left_of_select.tv_nsec);
    semctl((int)set, 0, IPC_RMID);
}

static void show_syscalls(void)
{
    int word = 1, other = 1;
    const struct timespec soon = {.tv_nsec = 1}, long_time = {.tv_sec = 100};
    const struct itimerval once = {.it_value = {.tv_usec = 20000}};
    const struct sigaction action = {.sa_handler = interrupts}; /* which restarts nothing */
    errno = 0;
    SHOW((int)syscall(SYS_futex, &word, FUTEX_WAIT, 2, NULL));
    SHOW(errno);
    SHOW((int)syscall(SYS_futex, &word, FUTEX_WAIT, 1, &soon));
    SHOW(errno);
    SHOW((int)syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 1, NULL, NULL, 0)); /* no bit */
    SHOW(errno);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &once, NULL);
    SHOW((int)syscall(SYS_futex, &word, FUTEX_WAIT, 1, &long_time));
    SHOW(errno);
    errno = 0;
    SHOW((int)syscall(SYS_futex, &word, FUTEX_WAKE, 1));
    SHOW((int)syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &other, 2)); /* the word is another */
    SHOW(errno);
    SHOW((int)syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1, &other, FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 1)));
    SHOW(other);
    SHOW((int)syscall(-1));
    SHOW(errno);
    void *pages = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHOW(pages != MAP_FAILED);
}

int main(void)
{
#pragma omp parallel num_threads(2)
    usleep(20000);
    errno = 0;
    show_mutexes();
    show_robust();
    show_rwlocks();
    show_c11();
    show_conditions();
    printf("errno %d\n", errno);
    show_waits();
    show_syscalls();
    show_waits_by_syscall();
    return 0;
}
