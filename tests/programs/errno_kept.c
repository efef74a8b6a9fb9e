/* A critical section that two threads wait for, in a program whose file is gone: what the tool looks up then fails. errno stays what the program made
 * it. Prints how often it did not. */
#include <errno.h>
#include <unistd.h>

#include "analytic.h"

int main(int argc, char **argv)
{
    int changed = 0;
    double end_s = clock_s() + 0.6;
    if (argc > 1)
        unlink(argv[0]);
#pragma omp parallel num_threads(2) reduction(+ : changed)
    while (clock_s() < end_s) {
#pragma omp critical(contended)
        {
            spin_until(clock_s() + 0.02);
            errno = 4242;
        }
        changed += errno != 4242;
    }
    printf("changed %d times\n", changed);
    return 0;
}
