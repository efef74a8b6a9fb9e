/* What does little with OpenMP, by argument:
 *
 *     starts                     OpenMP has started, and no region begins
 *     starts becomes PROGRAM     the same, and it becomes another program (exec)
 *     starts titles              a region; it writes a title over its arguments, and its child begins a region */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int share(void)
{
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads += 1;
    return threads;
}

int main(int argc, char **argv)
{
    int threads = omp_get_max_threads();
    if (argc > 2 && strcmp(argv[1], "becomes") == 0)
        execv(argv[2], argv + 2);
    if (argc < 2 || strcmp(argv[1], "titles") != 0)
        return threads < 1;
    share();
    char *begin = argv[0], *end = argv[argc - 1] + strlen(argv[argc - 1]);
    for (char **variable = environ; *variable; variable++)
        if (*variable == end + 1)
            end = *variable + strlen(*variable); /* as setproctitle() does: variables lie behind arguments */
    memset(begin, 'x', (size_t)(end - begin));
    pid_t child = fork();
    if (child == 0)
        exit(share() != 2);
    int status = 1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
