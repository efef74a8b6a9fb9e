/* fork, without exec ("fork") or with an exec of this program ("exec"); parent and child both run OpenMP, and
 * each must have a profile of its own. */
#include "analytic.h"
#include <sys/wait.h>
#include <unistd.h>

NAMED static void parent_work(double seconds)
{
    spin_until(clock_s() + seconds);
    __asm__ volatile("");
}

NAMED static void child_work(double seconds)
{
    spin_until(clock_s() + seconds);
    __asm__ volatile("");
}

NAMED static int child(void)
{
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    {
        child_work(0.4);
        threads++;
    }
    return threads == 2 ? 7 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "child") == 0)
        return child();
#pragma omp parallel num_threads(2)
    parent_work(0.2);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (strcmp(argv[1], "exec") == 0) {
            execl(argv[0], argv[0], "child", (char *)NULL);
            _exit(127);
        }
        exit(child());
    }
#pragma omp parallel num_threads(2)
    parent_work(0.2);
    int status = 0;
    waitpid(pid, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
