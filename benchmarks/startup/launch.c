/* Runs a program and prints when it was started, when it was gone, and its peak memory. A program of its
 * own, because ru_maxrss starts from the size of the process that forks: python's would hide the child's. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    if (argc < 2) {
        fprintf(stderr, "usage: launch PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    long long start_ns = clock_ns();
    pid_t child = fork();
    if (child == 0) {
        execv(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("launch");
        return 1;
    }
    printf("start_ns %lld\nend_ns %lld\nmaxrss_kb %ld\n", start_ns, clock_ns(), usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
