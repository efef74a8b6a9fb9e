/* A program without OpenMP that waits for a mutex through each way in which a call of pthread_mutex_lock can be bound, each in
 * a function of its own. A thread holds the mutex for HELD_MS each time. Prints how often each way was gone.
 *
 *     posix_bound LIBRARY
 *
 * LIBRARY is this source with -DLIBRARY: calls the function from a library that is loaded later, with RTLD_DEEPBIND. With -DOWN
 * the program has a pthread_mutex_lock of its own; with -DHEAP a calloc that must not be called before the program runs. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NAMED   __attribute__((noinline, noclone))
#define HELD_MS 100

typedef int lock_function(pthread_mutex_t *mutex);

/* A pointer in data: an object that computes the address in its code may call the function through the same entry. */
static lock_function *const volatile pointer = pthread_mutex_lock;

#ifndef SCOPE /* sanitizers refuse RTLD_DEEPBIND */
#define SCOPE RTLD_DEEPBIND
#endif

#ifdef LIBRARY
NAMED int by_library(pthread_mutex_t *mutex);
int by_library(pthread_mutex_t *mutex)
{
    int status = pthread_mutex_lock(mutex);
    return status + pthread_mutex_unlock(mutex);
}

lock_function *pointer_of_library(void);
lock_function *pointer_of_library(void)
{
    return pointer;
}
#else

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, held;
static lock_function *named, *found_in_libc, *of_library;

#ifdef OWN
static int own_calls;
int pthread_mutex_lock(pthread_mutex_t *object)
{
    static lock_function *next;
    if (!next)
        next = (lock_function *)dlsym(RTLD_NEXT, "pthread_mutex_lock");
    __atomic_fetch_add(&own_calls, 1, __ATOMIC_RELAXED);
    return next(object);
}
#endif

#ifdef HEAP
void *__libc_calloc(size_t count, size_t bytes);
static int runs;

static void prepare(void)
{
    runs = 1;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = prepare;

void *calloc(size_t count, size_t bytes)
{
    if (!runs)
        abort();
    return __libc_calloc(count, bytes);
}
#endif

static void *holder(void *rounds)
{
    struct timespec while_held = {0, HELD_MS * 1000000l};
    for (int i = 0; i < *(int *)rounds; i++) {
        sem_wait(&wanted);
        pthread_mutex_lock(&mutex);
        sem_post(&held);
        nanosleep(&while_held, NULL);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

NAMED static int by_call(void)
{
    int status = pthread_mutex_lock(&mutex);
    return status + pthread_mutex_unlock(&mutex);
}

NAMED static int by_name(void)
{
    int status = named(&mutex);
    return status + pthread_mutex_unlock(&mutex);
}

NAMED static int by_handle(void)
{
    int status = found_in_libc(&mutex);
    return status + pthread_mutex_unlock(&mutex);
}

NAMED static int by_library(void)
{
    return of_library(&mutex);
}

static void go(const char *name, int (*way)(void))
{
    sem_post(&wanted);
    sem_wait(&held);
    printf("%s %d\n", name, way());
}

int main(int argc, char **argv)
{
    int rounds = 4;
    pthread_t thread;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | SCOPE) : NULL;
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    if (!library || !libc)
        return 2;
    of_library = (lock_function *)dlsym(library, "by_library");
    named = (lock_function *)dlsym(RTLD_DEFAULT, "pthread_mutex_lock");
    found_in_libc = (lock_function *)dlsym(libc, "pthread_mutex_lock");
    lock_function *(*there)(void) = (lock_function * (*)(void)) dlsym(library, "pointer_of_library");
    sem_init(&wanted, 0, 0);
    sem_init(&held, 0, 0);
    volatile double sink = 0;
    for (clock_t end = clock() + CLOCKS_PER_SEC / 20; clock() < end;) /* so that there is a measurement */
        sink += 1;
    pthread_create(&thread, NULL, holder, &rounds);
    go("by_call", by_call);
    go("by_name", by_name);
    go("by_handle", by_handle);
    go("by_library", by_library);
    pthread_join(thread, NULL);
    printf("pointers are %s\n", pointer == there() ? "the same" : "not the same");
#ifdef OWN
    printf("%d calls of its own\n", own_calls);
#endif
    return 3;
}
#endif
