/* Usage: event_many [CALLS [NANOSECONDS]]: so many executions of an event, of that length (0: nothing
 * inside), in each of two threads; and a long event around. */
#include "analytic.h"
#include "blame.h"

NAMED static void calls(long count, double each_s)
{
    blame_event_begin("loop");
    for (long i = 0; i < count; i++) {
        blame_event_begin("short");
        if (each_s > 0)
            spin_until(clock_s() + each_s);
        blame_event_end("short");
    }
    blame_event_end("loop");
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 100000;
    double each_s = 1e-9 * (argc > 2 ? atof(argv[2]) : 0), sum_s = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum_s)
    {
        double begin_s = clock_s();
        calls(count, each_s);
        sum_s += clock_s() - begin_s;
    }
    printf("clocked short %ld %.6f\nclocked loop 2 %.6f\n", 2 * count, sum_s, sum_s);
    return 0;
}
