/* Small constructs, each repeated REPEATS times in one thread between two marks of callgrind's (instructions.py). */
#include <omp.h>

#include <valgrind/callgrind.h>

#define REPEATS 1000
#define COUNT(name, ...)                            \
    for (int warm = 1; warm >= 0; warm--) {         \
        CALLGRIND_ZERO_STATS;                       \
        for (int i = 0; i < REPEATS; i++) {         \
            __VA_ARGS__                             \
        }                                           \
        if (!warm)                                  \
            CALLGRIND_DUMP_STATS_AT(name ":1000");  \
    }

static volatile int done;
static omp_lock_t lock;

static void inside(void)
{
    COUNT("barrier", _Pragma("omp barrier"))
    COUNT("single", _Pragma("omp single nowait") done = i;)
    COUNT("for", _Pragma("omp for nowait") for (int j = 0; j < 1; j++) done = j;)
    COUNT("critical", _Pragma("omp critical") done = i;)
    COUNT("lock", omp_set_lock(&lock); done = i; omp_unset_lock(&lock);)
    COUNT("task", _Pragma("omp task") done = i;)
    COUNT("task if(0)", _Pragma("omp task if(0)") done = i;)
    COUNT("taskwait", _Pragma("omp taskwait"))
}

int main(void)
{
    omp_init_lock(&lock);
    COUNT("parallel", _Pragma("omp parallel") done = i;)
    COUNT("lock's life", omp_lock_t other; omp_init_lock(&other); omp_destroy_lock(&other);)
#pragma omp parallel
    inside();
    return 0;
}
