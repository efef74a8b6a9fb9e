/* A thread waits in a loop while another works: spinning WAY MS [LIBRARY]. WAY is yields, pauses, once (one pause for each look) or both. With
 * LIBRARY, a pool's library of that name has the loop (-DLIBRARY), and not wait_here(). */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMED __attribute__((noinline, noclone, noipa))

typedef void waits(const char *way, atomic_int *done);

#if defined(__x86_64__)
#define RELAX __builtin_ia32_pause()
#else
#define RELAX __asm__ volatile("isb")
#endif

static inline void wait_in_loop(const char *way, atomic_int *done)
{
    if (strcmp(way, "yields") == 0)
        while (!atomic_load(done))
            sched_yield();
    else if (strcmp(way, "once") == 0)
        while (!atomic_load(done))
            RELAX;
    else if (strcmp(way, "pauses") == 0)
        while (!atomic_load(done)) {
            for (int i = 0; i < 16; i++)
                RELAX;
        }
    else
        while (!atomic_load(done)) {
            for (int i = 0; i < 16; i++)
                RELAX;
            sched_yield();
        }
}

#if defined(LIBRARY)
void wait_in_pool(const char *way, atomic_int *done)
{
    wait_in_loop(way, done);
}
#else
static atomic_int done;
static waits *wait_in_pool;
static volatile double sum;

NAMED static void wait_here(const char *way)
{
    wait_in_loop(way, &done);
}

NAMED static void works(double seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double end = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
    do {
        for (int i = 0; i < 2000; i++)
            sum += 1e-9 * i;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end);
}

static void *waiting_thread(void *way)
{
    if (wait_in_pool)
        wait_in_pool(way, &done);
    else
        wait_here(way);
    return NULL;
}

/* Until some samples must have found the thread in its loop. */
static void let_spin(pthread_t thread)
{
    struct timespec used = {0}, pause = {.tv_nsec = 1000000};
    clockid_t clock;
    pthread_getcpuclockid(thread, &clock);
    while (used.tv_sec == 0 && used.tv_nsec < 20000000) {
        nanosleep(&pause, NULL);
        clock_gettime(clock, &used);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *library = argc > 3 ? dlopen(argv[3], RTLD_NOW) : NULL;
    if (argc < 3 || (argc > 3 && !library))
        return 2;
    wait_in_pool = library ? (waits *)(uintptr_t)dlsym(library, "wait_in_pool") : NULL;
    pthread_create(&thread, NULL, waiting_thread, argv[1]);
    let_spin(thread);
    works(atof(argv[2]) / 1000);
    atomic_store(&done, 1);
    pthread_join(thread, NULL);
    return 0;
}
#endif
