/* A program that keeps time with the clock: each 5 ms, from the same moment on, quarter() computes for a quarter of the time
 * and rest() for the rest of it. Steps that are over before they begin, as there was no core, are left out. */
#include "analytic.h"

#define WHOLE_S 2.0
#define STEP_S  0.005

NAMED static void quarter(double begin_s)
{
    spin_until(begin_s + STEP_S / 4);
}

NAMED static void rest(double begin_s)
{
    spin_until(begin_s + STEP_S);
}

int main(void)
{
    double quarter_s = 0, rest_s = 0;
#pragma omp parallel num_threads(1) reduction(+ : quarter_s, rest_s)
    {
        double begin_s = clock_s() + STEP_S, end_s = begin_s + WHOLE_S;
        spin_until(begin_s);
        for (double now_s = clock_s(); now_s < end_s; begin_s += STEP_S) {
            if (now_s >= begin_s + STEP_S)
                continue;
            quarter(begin_s);
            double between_s = clock_s();
            rest(begin_s);
            quarter_s += between_s - now_s;
            now_s = clock_s();
            rest_s += now_s - between_s;
        }
    }
    expect("work", "quarter", quarter_s);
    expect("work", "rest", rest_s);
    return 0;
}
