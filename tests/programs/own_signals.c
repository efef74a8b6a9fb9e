/* A program with an interval timer and a handler of its own: its signals must all arrive, at their rate, and
 * only they. Both clocks are used, the real one and the profiling one, whose SIGPROF a profiler likes to take
 * for itself. */
#include "analytic.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t alarms, profs;

static void on_signal(int signal_number)
{
    if (signal_number == SIGALRM)
        alarms++;
    else
        profs++;
}

NAMED static void compute_under_signals(double seconds)
{
    spin_until(clock_s() + seconds);
    __asm__ volatile("");
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    struct itimerval every = {.it_interval = {.tv_usec = 10000}, .it_value = {.tv_usec = 10000}};
    setitimer(ITIMER_REAL, &every, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    double begin_s = clock_s();
#pragma omp parallel num_threads(2)
    compute_under_signals(1.0);
    struct itimerval never = {.it_interval = {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    setitimer(ITIMER_PROF, &never, NULL);
    double due = (clock_s() - begin_s) / pace / 0.01;
    /* At most the due number: more would be somebody else's signals in our handler. Pending ones may merge.
     */
    printf("alarms %s\n", alarms > 0 && alarms <= due + 2 ? "right" : "wrong");
    printf("profs %s\n", profs > 0 && profs <= 2 * due + 4 ? "right" : "wrong");
    return 0;
}
