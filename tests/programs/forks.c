/* fork, without exec ("fork") or with an exec of this program ("exec"); parent and child both run OpenMP, and
 * each must have a profile of its own. "clone", "_Fork": past fork() and what the runtime does there, so that the parent has no other
 * threads yet; "leave": such a child that ends by exit() at once. "twice": the child forks at once, ends, and leaves the work to its
 * child, as daemons do; "thread": a thread of the program's own, which never runs OpenMP, forks. "vfork": a child by that, whose exec fails,
 * ends by exit(). "title": the parent has written a title over its arguments
 * and environment, as setproctitle() does. */
#include "analytic.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
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

static pid_t fork_twice(void)
{
    pid_t pid = fork(), next = pid == 0 ? fork() : 0;
    int status = 0;
    if (pid == 0 && next != 0)
        _exit(waitpid(next, &status, 0) == next && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    return pid;
}

static void *fork_aside(void *pid)
{
    *(pid_t *)pid = fork();
    if (*(pid_t *)pid == 0)
        exit(child());
    return NULL;
}

static pid_t fork_in_a_thread(void)
{
    pthread_t thread;
    pid_t pid = -1;
    if (pthread_create(&thread, NULL, fork_aside, &pid) == 0)
        pthread_join(thread, NULL);
    return pid;
}

static pid_t start_child(const char *way)
{
    if (strcmp(way, "twice") == 0)
        return fork_twice();
    if (strcmp(way, "thread") == 0)
        return fork_in_a_thread();
    if (strcmp(way, "_Fork") == 0)
        return _Fork();
    if (strcmp(way, "vfork") == 0) {
        pid_t pid = vfork();
        if (pid == 0) {
            execl("/nonexistent", "nonexistent", (char *)NULL);
            exit(7); /* _exit() would be right */
        }
        return pid;
    }
    if (strcmp(way, "clone") == 0 || strcmp(way, "leave") == 0)
        return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    return fork();
}

/* The environment is copied first, as it lies behind the arguments. */
static void write_title(char **argv)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char *end = environ[count - 1] + strlen(environ[count - 1]), **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = strdup(environ[i]);
    environ = copy;
    memset(argv[0], '-', (size_t)(end - argv[0]));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "child") == 0)
        return child();
    bool told = strcmp(argv[1], "fork") == 0 || strcmp(argv[1], "exec") == 0 || strcmp(argv[1], "vfork") == 0 ||
                strcmp(argv[1], "twice") == 0 || strcmp(argv[1], "thread") == 0;
    if (strcmp(argv[1], "title") == 0)
        write_title(argv);
#pragma omp parallel num_threads(told ? 2 : 1)
    parent_work(0.2);
    fflush(stdout);
    pid_t pid = start_child(argv[1]);
    if (pid == 0) {
        if (strcmp(argv[1], "leave") == 0)
            exit(7);
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
