/* A program with an interval timer and a handler of its own: its signals must all arrive, at their rate, and
 * only they. Both clocks are used, the real one and the profiling one, whose SIGPROF a profiler likes to take
 * for itself. */
#include "analytic.h"
#include <signal.h>
#include <sys/time.h>

enum { FEW = 3 };

static volatile sig_atomic_t alarms, profs;

static void on_signal(int signal_number)
{
    if (signal_number == SIGALRM)
        alarms++;
    else
        profs++;
}

/* The profiling clock stands still while the machine is busy with others. */
NAMED static void compute_under_signals(double seconds)
{
    double limit_s = clock_s() + 100;
    spin_until(clock_s() + seconds);
    while ((alarms < FEW || profs < FEW) && clock_s() < limit_s)
        spin_until(clock_s() + 0.1);
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
    printf("alarms %s\n", alarms >= FEW && alarms <= due + 2 ? "right" : "wrong");
    printf("profs %s\n", profs >= FEW && profs <= 2 * due + 4 ? "right" : "wrong");
    return 0;
}
