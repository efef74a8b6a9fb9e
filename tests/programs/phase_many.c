/* Usage: phase_many [INSTANCES [MICROSECONDS]]: so many numbered executions of one phase. Prints their number
 * and the seconds from begin to end of all of them, and of the longest. */
#include "analytic.h"
#include "blame.h"

int main(int argc, char **argv)
{
    long instances = argc > 1 ? atol(argv[1]) : 100;
    double each_s = 1e-6 * (argc > 2 ? atof(argv[2]) : 1000), sum_s = 0, longest_s = 0;
#pragma omp parallel num_threads(2)
    spin_until(clock_s()); /* an empty region would be left out */
    for (long i = 0; i < instances; i++) {
        blame_iteration_begin("step", i);
        double begin_s = clock_s();
        spin_until(begin_s + each_s);
        double seconds = clock_s() - begin_s;
        blame_iteration_end("step");
        sum_s += seconds;
        longest_s = seconds > longest_s ? seconds : longest_s;
    }
    printf("clocked step %ld %.6f\nlongest step %.6f\n", instances, sum_s, longest_s);
    return 0;
}
