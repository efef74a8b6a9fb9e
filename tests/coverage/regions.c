/* Parallel regions and what their threads do once, together or by one of them. */
#include "coverage.h"

static bool parallel(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += uneven(omp_get_thread_num());
    return sum == 3;
}

static bool nested(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
            sum += uneven(omp_get_thread_num()) * omp_get_level();
        } else {
            fast_share();
            sum += 10;
        }
    }
    return sum == 16;
}

static bool serialised(void)
{
    int sum = 0, size = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1;
#pragma omp parallel if (sum < 0) reduction(+ : sum)
    {
        size = omp_get_num_threads();
        sum += uneven(0);
    }
    return sum == 3 && size == 1;
}

NAMED static void resizing(void)
{
    work_for("resizing", 0.0007);
}

static bool num_threads(void)
{
    static const int sizes[] = {2, 1, 3, 2};
    int sum = 0;
    for (int i = 0; i < 4; i++) {
#pragma omp parallel num_threads(sizes[i]) reduction(+ : sum)
        {
            if (omp_get_thread_num() == 0)
                resizing();
            sum += 1;
        }
    }
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += uneven(omp_get_thread_num());
    return sum == 11;
}

static bool proc_bind(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) proc_bind(close) reduction(+ : sum)
    sum += uneven(omp_get_thread_num());
#pragma omp parallel num_threads(2) proc_bind(spread) reduction(+ : sum)
    sum += uneven(omp_get_thread_num());
    return sum == 6 && omp_get_proc_bind() != omp_proc_bind_false;
}

static bool master(void)
{
    int count = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        count += uneven(0);
#pragma omp barrier
    }
    return count == 1;
}

static bool masked(void)
{
    int count = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp masked filter(1)
        count += uneven(0) + omp_get_thread_num();
#pragma omp barrier
    }
    return count == 2;
}

static bool barrier(void)
{
    int seen[2] = {0, 0}, sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        int self = omp_get_thread_num();
        seen[self] = uneven(self);
#pragma omp barrier
        sum += seen[1 - self];
    }
    return sum == 3;
}

static bool single(void)
{
    int count = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        count += uneven(0);
    }
    return count == 1;
}

static bool single_copyprivate(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        int value;
#pragma omp single copyprivate(value)
        value = uneven(0) + 20;
        sum += value;
    }
    return sum == 42;
}

static bool single_nowait(void)
{
    int count = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp single nowait
        count += uneven(0);
    }
    return count == 1;
}

static bool sections(void)
{
    int first = 0, second = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp sections
        {
#pragma omp section
            first = uneven(0);
#pragma omp section
            second = uneven(1);
        }
    }
    return first == 1 && second == 2;
}

static bool sections_nowait(void)
{
    int first = 0, second = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp sections nowait
        {
#pragma omp section
            first = uneven(0);
#pragma omp section
            second = uneven(1);
        }
    }
    return first == 1 && second == 2;
}

static int flag, payload;

static bool flush(void)
{
    int got = 0;
#pragma omp parallel num_threads(2) shared(got)
    {
        if (omp_get_thread_num() == 0) {
            payload = 42 + 0 * uneven(0);
#pragma omp flush
#pragma omp atomic write
            flag = 1;
        } else {
            int set = 0;
            double begin_s = clock_s();
            while (!set) {
#pragma omp atomic read
                set = flag;
            }
#pragma omp flush
            record_interval(INTERVAL_RUNTIME, "main", NULL, begin_s, clock_s()); /* busy: it spins in user code */
            got = payload;
        }
    }
    return got == 42;
}

static int mine = 5;
#pragma omp threadprivate(mine)

static bool threadprivate(void)
{
    int sum = 0;
    mine = 7;
#pragma omp parallel num_threads(2) copyin(mine)
    mine += uneven(omp_get_thread_num());
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += mine;
    return sum == 17;
}

static const struct construct constructs[] = {
    {"parallel", parallel, 0},
    {"nested", nested, 3},
    {"serialised", serialised, 0},
    {"num_threads", num_threads, 3},
    {"proc_bind", proc_bind, 0},
    {"master", master, 0},
    {"masked", masked, 0},
    {"barrier", barrier, 0},
    {"single", single, 0},
    {"single_copyprivate", single_copyprivate, 0},
    {"single_nowait", single_nowait, 0},
    {"sections", sections, 0},
    {"sections_nowait", sections_nowait, 0},
    {"flush", flush, 0},
    {"threadprivate", threadprivate, 0},
};

COVERAGE_MAIN(constructs)
