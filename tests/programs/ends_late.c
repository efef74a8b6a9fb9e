/* Teams of different sizes, and threads that take 30 ms to end. libgomp ends the threads that a team does not need, and all
 * but the first one of a nested team. With an argument the teams are nested: 2 threads have teams of 3. */
#include <omp.h>
#include <time.h>

extern void *__dso_handle;
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library);

static void sleep_ms(long ms)
{
    struct timespec time = {0, ms * 1000000};
    nanosleep(&time, 0);
}

static void end_late(void *unused)
{
    (void)unused;
    sleep_ms(30);
}

static void be_late(void)
{
    static __thread int is_late;
    if (!is_late && omp_get_thread_num())
        is_late = !__cxa_thread_atexit_impl(end_late, 0, &__dso_handle);
}

static void team(int size)
{
#pragma omp parallel num_threads(size)
    {
        be_late();
        if (!omp_get_thread_num())
            sleep_ms(4);
    }
}

static void nested_teams(void)
{
#pragma omp parallel num_threads(2)
    team(3);
}

static void teams(void)
{
    team(4);
    team(2);
    team(1);
}

int main(int count, char **argument)
{
    (void)argument;
    omp_set_max_active_levels(2);
    for (int i = 0; i < 10; i++)
        count > 1 ? nested_teams() : teams();
    return 0;
}
