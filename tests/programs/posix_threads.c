/* Threads of a program without OpenMP. Each works by its own CPU time, in a function of its own, and its first thread only
 * waits; times are in milliseconds.
 *
 *     posix_threads workers MS       two threads, for MS and MS / 2
 *     posix_threads ends MS          threads that return, leave (pthread_exit, thrd_exit) and are cancelled; each has data
 *                                    whose destructor works and locks
 *     posix_threads small MS         a thread with the smallest stack
 *     posix_threads short COUNT      COUNT threads, a few at a time
 *     posix_threads running MS       exits while threads run, some of them detached
 *     posix_threads left MS          main leaves by pthread_exit, another thread ends the process
 *     posix_threads forks MS         a thread forks; the child makes a thread, too
 *     posix_threads signals MS       a thread with all signals blocked takes what comes (sigtimedwait)
 *     posix_threads refused MS       pthread_create that fails, between two that do not
 *     posix_threads teams MS LIBRARY a thread works while the library is loaded and its sum_of_team() begins a region; another
 *                                    one begins afterwards */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "cpu_work.h"

#define NAMED  __attribute__((noinline, noclone))
#define BESIDE 8

static double ms;
static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int destroyed;
static volatile int over;

static inline __attribute__((always_inline)) void compute(double share)
{
    compute_ms(share * ms);
}

NAMED static void *alpha(void *argument)
{
    compute(1);
    return argument;
}

NAMED static void *beta(void *argument)
{
    compute(0.5);
    sink++;
    return argument;
}

static pthread_t made(const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    pthread_t thread;
    int status = pthread_create(&thread, attributes, start, argument);
    if (status != 0) {
        printf("create: %s\n", strerror(status));
        exit(1);
    }
    return thread;
}

static void *joined(pthread_t thread)
{
    void *result = NULL;
    pthread_join(thread, &result);
    return result;
}

static void workers(void)
{
    pthread_t one = made(NULL, alpha, "alpha"), other = made(NULL, beta, "beta");
    printf("%s ", (const char *)joined(one));
    printf("%s\n", (const char *)joined(other));
}

NAMED static void in_destructor(void *unused)
{
    compute(0.2);
    pthread_mutex_lock(&mutex);
    destroyed++;
    pthread_mutex_unlock(&mutex);
    (void)unused;
}

NAMED static void *returns(void *argument)
{
    pthread_setspecific(key, argument);
    compute(1);
    return argument;
}

NAMED static void *leaves(void *argument)
{
    pthread_setspecific(key, argument);
    compute(1);
    sink++;
    pthread_exit(argument);
}

NAMED static __attribute__((noreturn)) void *is_cancelled(void *argument)
{
    pthread_setspecific(key, argument);
    compute(1);
    sink += 2;
    for (;;)
        pause();
}

NAMED static int leaves_c11(void *argument)
{
    compute(1);
    sink += 3;
    thrd_exit(*(int *)argument);
}

NAMED static int returns_c11(void *argument)
{
    compute(1);
    sink += 4;
    return *(int *)argument + 1;
}

static void ends(void)
{
    int number = 40, result[2];
    thrd_t c11[2];
    pthread_key_create(&key, in_destructor);
    pthread_t threads[] = {made(NULL, returns, "returns"), made(NULL, leaves, "leaves"),
                           made(NULL, is_cancelled, "cancelled")};
    thrd_create(&c11[0], leaves_c11, &number);
    thrd_create(&c11[1], returns_c11, &number);
    printf("%s ", (const char *)joined(threads[0]));
    printf("%s ", (const char *)joined(threads[1]));
    pthread_cancel(threads[2]);
    printf("%d", joined(threads[2]) == PTHREAD_CANCELED);
    for (int i = 0; i < 2; i++)
        thrd_join(c11[i], &result[i]);
    printf(" %d %d %d\n", result[0], result[1], destroyed);
}

NAMED static void *on_small_stack(void *argument)
{
    volatile char own[4096];
    memset((char *)own, 'x', sizeof own);
    compute(1);
    for (size_t i = 0; i < sizeof own; i++)
        if (own[i] != 'x')
            return "overwritten";
    return argument;
}

static void small(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    printf("%s\n", (const char *)joined(made(&attributes, on_small_stack, "intact")));
}

NAMED static void *brief(void *argument)
{
    for (int i = 0; i < 1000; i++)
        sink += i;
    return argument;
}

static void brief_ones(int count)
{
    pthread_t threads[BESIDE];
    long sum = 0;
    for (int done = 0; done < count; done += BESIDE) {
        for (long i = 0; i < BESIDE; i++)
            threads[i] = made(NULL, brief, (void *)i);
        for (int i = 0; i < BESIDE; i++)
            sum += (long)joined(threads[i]);
    }
    printf("%ld\n", sum);
}

NAMED static void *for_ever(void *unused)
{
    for (;;)
        sink++;
    return unused;
}

static void running(void)
{
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    made(&detached, for_ever, NULL);
    made(&detached, beta, NULL);
    made(NULL, for_ever, NULL);
    joined(made(NULL, alpha, NULL));
    puts("exits");
}

NAMED static void *ends_all(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
    compute(1);
    puts("last");
    exit(7);
}

static void left(void)
{
    static pthread_t first;
    first = pthread_self();
    made(NULL, ends_all, &first);
    pthread_exit(NULL);
}

NAMED static void *in_child(void *argument)
{
    compute(1);
    sink += 5;
    return argument;
}

NAMED static void before_fork(void)
{
    compute(0.5);
    sink += 6;
}

NAMED static void *forks(void *argument)
{
    int status = 0;
    before_fork();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("%s\n", (const char *)joined(made(NULL, in_child, "in child")));
        fflush(stdout);
        exit(3);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    return argument;
}

NAMED static void *takes_signals(void *argument)
{
    sigset_t all;
    siginfo_t info;
    sigfillset(&all);
    compute(1);
    int got = sigtimedwait(&all, &info, &(struct timespec){.tv_nsec = 100000000});
    return got < 0 && errno == EAGAIN ? argument : "a signal";
}

static void signals(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread = made(NULL, takes_signals, "none");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    joined(made(NULL, alpha, NULL));
    puts(joined(thread));
}

static void refused(void)
{
    pthread_t thread;
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, (size_t)1 << 46);
    joined(made(NULL, alpha, NULL));
    printf("%s ", strerror(pthread_create(&thread, &huge, alpha, NULL)));
    puts(joined(made(NULL, beta, "goes on")));
}

NAMED static void *works_beside(void *argument)
{
    while (!over)
        compute(0.01);
    sink += 6;
    return argument;
}

static int teams(const char *path)
{
    pthread_t beside = made(NULL, works_beside, NULL);
    compute(0.2);
    void *library = dlopen(path, RTLD_NOW);
    int (*region)(void) = library ? (int (*)(void))dlsym(library, "sum_of_team") : NULL;
    if (!region || region() != 3)
        return 4;
    joined(made(NULL, beta, NULL));
    over = 1;
    joined(beside);
    puts("done");
    return 7;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"workers", workers}, {"ends", ends},       {"small", small},    {"running", running},
               {"left", left},       {"signals", signals}, {"refused", refused}};
    if (argc < 3)
        return 2;
    ms = atof(argv[2]);
    if (strcmp(argv[1], "teams") == 0 && argc > 3)
        return teams(argv[3]);
    if (strcmp(argv[1], "short") == 0)
        brief_ones(atoi(argv[2]));
    if (strcmp(argv[1], "forks") == 0)
        puts(joined(made(NULL, forks, "forked")));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0)
            all[i].run();
    return 7;
}
