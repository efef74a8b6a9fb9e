/* Two threads wait for a detached task whose event another thread of the program fulfils after half a second. Nobody is
 * busy meanwhile, and nobody lacks a core. */
#include <omp.h>
#include <pthread.h>
#include <time.h>

static omp_event_handle_t event;
static int posted;

static void *fulfil_later(void *unused)
{
    while (!__atomic_load_n(&posted, __ATOMIC_ACQUIRE))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    omp_fulfill_event(event);
    return unused;
}

int main(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, fulfil_later, NULL))
        return 1;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t handle;
#pragma omp task detach(handle)
        {
            event = handle;
            __atomic_store_n(&posted, 1, __ATOMIC_RELEASE);
        }
#pragma omp taskwait
    }
    return pthread_join(other, NULL);
}
