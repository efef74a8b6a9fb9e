/* A tool of libblame-pthreads.so's, in the program: prints what the layer reports of one thread's locks, and of two. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "../../base/pthreads_layer.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t careful, again;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t posted;
static uint32_t *word, number; /* number: a lock of a library's own, if one waits while it is 2 */
static int held;
static bool reports, joins;
static pthread_key_t key;
static sigset_t all, chosen;

static const char *name_of(const void *object)
{
    return object == &mutex     ? "mutex"
           : object == &careful ? "careful"
           : object == &again   ? "again"
           : object == &rwlock  ? "rwlock"
           : object == &spin    ? "spin"
           : object == &ready   ? "condition"
           : object == &posted  ? "semaphore"
           : object == &number  ? "number"
           : object             ? "?"
                                : "none";
}

static const char *state_of(const void *object)
{
    if (object != &mutex)
        return "";
    int status = pthread_mutex_trylock(&mutex);
    *word = 0;
    if (status == 0)
        pthread_mutex_unlock(&mutex);
    *word = 1;
    return status == EBUSY ? ", held" : ", free";
}

static bool wait_begins(uint32_t kind, const void *object, const uintptr_t *frame)
{
    printf("begins %u %s%s\n", kind, name_of(object), frame ? "" : ", no frame");
    __atomic_store_n(&held, 2, __ATOMIC_RELEASE);
    return true;
}

static void wait_ends(void)
{
    puts("ends");
}

static bool take(uint32_t kind, const void *object, struct pthreads_left *left)
{
    printf("take %u %s%s\n", kind, name_of(object), state_of(object));
    *left = (struct pthreads_left){{1, 2, 3}};
    return true;
}

static void book(uint32_t kind, const void *object, const struct pthreads_left *left, bool released)
{
    printf("book %u %s %g %g %g%s%s\n", kind, name_of(object), left->numbers[0], left->numbers[1], left->numbers[2],
           released ? "" : ", not released", released ? state_of(object) : "");
}

static void reacquires(const void *object)
{
    printf("reacquires %s\n", name_of(object));
}

/* A join begins while the other thread prints, so it is left out. */
static void sleeps(uint32_t awaited, const void *object)
{
    joins = awaited == PTHREADS_END;
    if (!joins)
        printf("sleeps %u %s\n", awaited, name_of(object));
}

static void slept(bool woken)
{
    if (!joins)
        puts(woken ? "woken" : "not woken");
}

static void wakes(const void *object)
{
    printf("wakes %s\n", name_of(object));
}

static bool word_waits(const void *object, uint32_t value)
{
    printf("waits for %s to differ from %u\n", name_of(object), value);
    return value == 2;
}

static void word_wakes(const void *object)
{
    printf("wakes one at %s\n", name_of(object));
}

static void *lives(void *text);
static void *leaves(void *text);
static int lives_c11(void *text);

static void starts(uintptr_t function)
{
    puts(function == (uintptr_t)lives       ? "it executes lives"
         : function == (uintptr_t)leaves    ? "it executes leaves"
         : function == (uintptr_t)lives_c11 ? "it executes lives_c11"
                                            : "it executes what?");
}

static bool creates(uintptr_t caller)
{
    puts(caller ? "creates" : "creates, no caller");
    return reports;
}

static void begins(void)
{
    puts("a thread begins");
}

static void thread_ends(void)
{
    puts("a thread ends");
}

static void restricts(void)
{
    puts("the program restricts itself");
}

static int own_signal(void)
{
    return SIGRTMAX;
}

static void destroyed(void *turn)
{
    printf("destructor %ld\n", (long)turn);
    if ((long)turn > 1)
        pthread_setspecific(key, (void *)((long)turn - 1));
}

static void *lives(void *text)
{
    pthread_setspecific(key, (void *)2l);
    puts(text);
    return text;
}

static void *leaves(void *text)
{
    puts(text);
    pthread_exit(text);
}

static int lives_c11(void *text)
{
    puts(text);
    return 3;
}

/* Waits for signals three times. Each time the tool's has come, or else another. */
static void wait_for_signals(const sigset_t *signals, int other)
{
    const struct timespec now = {0};
    siginfo_t info = {0};
    int got = 0;
    raise(SIGRTMAX);
    printf("%d ", sigtimedwait(signals, &info, &now) == SIGRTMAX);
    raise(other);
    printf("%d ", sigwait(signals, &got) == 0 && got == SIGRTMAX);
    raise(other);
    printf("%d\n", sigwaitinfo(signals, &info) == SIGRTMAX);
    while (sigtimedwait(&chosen, &info, &now) > 0)
        ;
}

static void use_signals(void)
{
    sigfillset(&all);
    sigemptyset(&chosen);
    sigaddset(&chosen, SIGRTMAX);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    wait_for_signals(&all, SIGUSR1);
    wait_for_signals(&chosen, SIGRTMAX);
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

static void use_threads(void)
{
    pthread_t thread;
    thrd_t c11;
    int result = 0;
    pthread_create(&thread, NULL, lives, "lives");
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, leaves, "leaves");
    pthread_join(thread, NULL);
    thrd_create(&c11, lives_c11, "lives (C11)");
    thrd_join(c11, &result);
    printf("result %d\n", result);
}

static void *holds(void *unused)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) != 2)
        ;
    usleep(10000);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void make(pthread_mutex_t *made, int type)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_init(made, &attributes);
}

static void use_all(void)
{
    const struct timespec past = {.tv_sec = 1};
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&careful);
    pthread_mutex_unlock(&careful);
    pthread_mutex_unlock(&careful);
    pthread_mutex_lock(&again);
    pthread_mutex_lock(&again);
    pthread_mutex_unlock(&again);
    puts("once more");
    pthread_mutex_unlock(&again);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&ready, &mutex, &past);
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&ready);
    pthread_cond_broadcast(&ready);
    sem_timedwait(&posted, &past);
    sem_post(&posted);
    sem_wait(&posted);
}

static void use_futex(void)
{
    syscall(SYS_futex, &number, FUTEX_WAIT, 1, NULL, NULL, 0);
    syscall(SYS_futex, &number, FUTEX_WAIT, 2, NULL, NULL, 0);
    syscall(SYS_futex, &number, FUTEX_WAKE, 2, NULL, NULL, 0);
    syscall(SYS_futex, &number, FUTEX_WAKE, 1, NULL, NULL, 0);
    word[0] = 1;
    syscall(SYS_futex, &number, FUTEX_WAKE, 1, NULL, NULL, 0);
    word[0] = 0;
}

int main(void)
{
    static const struct pthreads_tool tool = {sizeof tool, wait_begins, wait_ends,   take,       book,      reacquires,
                                              creates,     begins,      thread_ends, own_signal, restricts, sleeps,
                                              slept,       wakes,       starts,      word_waits, word_wakes};
    pthreads_layer_attach *attach = (pthreads_layer_attach *)dlsym(RTLD_DEFAULT, PTHREADS_LAYER_ATTACH);
    pthread_t thread;
    make(&careful, PTHREAD_MUTEX_ERRORCHECK);
    make(&again, PTHREAD_MUTEX_RECURSIVE);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    use_all();
    if (!attach)
        return puts("no layer"), 1;
    word = attach(&tool);
    puts("nothing is left");
    use_all();
    puts("a wait");
    pthread_create(&thread, NULL, holds, NULL);
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
        ;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    puts("a futex");
    use_futex();
    puts("something is left");
    word[0] = word[1] = 1;
    use_all();
    word[0] = word[1] = 0;
    puts("signals");
    use_signals();
    puts("threads that nobody asks for");
    pthread_key_create(&key, destroyed);
    use_threads();
    puts("threads that are reported");
    reports = true;
    use_threads();
    return 0;
}
