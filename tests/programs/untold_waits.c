/* A doacross loop: libomp tells nobody of a thread that waits for an earlier iteration. It is busy, then, and counts as such
 * for others; what it spends there is known all the same, from where samples hit it. */
#include "analytic.h"

static double waited_s[2];

NAMED static void iteration(void)
{
    work_for("iteration", 0.0251);
}

int main(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 0; i < 40; i++) {
            double asked_s = clock_s();
#pragma omp ordered depend(sink : i - 1)
            double got_s = clock_s();
            record_interval(INTERVAL_RUNTIME, "main", NULL, asked_s, got_s);
            waited_s[omp_get_thread_num()] += got_s - asked_s;
            iteration();
#pragma omp ordered depend(source)
        }
    }
    print_expectations(2);
    expect("overhead", "<untold wait>", waited_s[0] + waited_s[1]);
    return 0;
}
