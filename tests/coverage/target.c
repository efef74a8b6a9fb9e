/* Target regions without a device run on the host; with nowait on the runtime's hidden helper threads. */
#include "coverage.h"

static int share_of(int index)
{
    return uneven(index);
}

/* Called through a pointer: no compiler looks for device code of it. */
static int (*volatile const host_share)(int) = share_of;

static bool target(void)
{
    int (*share)(int) = host_share;
    int host = 0, sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum++;
#pragma omp target map(tofrom : host) firstprivate(share)
    host = omp_is_initial_device() ? share(0) : -1;
    return host == 1 && sum == 2;
}

/* The helper counts as a thread while it runs the task: two threads. */
static bool target_nowait(void)
{
    int (*share)(int) = host_share;
    int host = 0;
#pragma omp target map(tofrom : host) firstprivate(share) nowait
    host = omp_is_initial_device() ? share(0) : -1;
    uneven(1);
#pragma omp taskwait
    return host == 1;
}

static bool target_depend(void)
{
    int (*share)(int) = host_share;
    int host = 0;
#pragma omp target map(tofrom : host) firstprivate(share) nowait depend(out : host)
    host = share(1);
#pragma omp target map(tofrom : host) firstprivate(share) nowait depend(inout : host)
    host = host == 2 ? share(0) : 0;
#pragma omp taskwait
    return host == 1;
}

static bool target_parallel(void)
{
    int (*share)(int) = host_share;
    int seen[2] = {0, 0};
#pragma omp target parallel for num_threads(2) map(tofrom : seen) firstprivate(share)
    for (int i = 0; i < 2; i++)
        seen[i] = share(i);
    return seen[0] == 1 && seen[1] == 2;
}

static const struct construct constructs[] = {
    {"target", target, 0},
    {"target_nowait", target_nowait, 0},
    {"target_depend", target_depend, 0},
    {"target_parallel", target_parallel, 0},
};

COVERAGE_MAIN(constructs)
