/* A program under a limit on its files (RLIMIT_FSIZE), by argument:
 *     leaves    it writes no file and has no handler: a SIGXFSZ that it did not cause kills it
 *     handles   its handler says so at each SIGXFSZ; it causes one itself, by writing at the limit
 *     dies      the same without a handler
 * argv[2]: the name of a file of its own. */
#include "analytic.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEPTH 3000

static void say(int signal_number)
{
    (void)signal_number;
    if (write(1, "SIGXFSZ\n", 8) != 8)
        abort();
}

/* Deep: profile.csv becomes larger than the measurement. */
NAMED static void compute_under_a_limit(int depth)
{
    if (depth > 0)
        compute_under_a_limit(depth - 1);
    else
        spin_until(clock_s() + 0.05);
    __asm__ volatile("");
}

static void write_at_the_limit(const char *name)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    int fd = open(name, O_WRONLY | O_CREAT, 0666);
    errno = 0;
    ssize_t written = pwrite(fd, "x", 1, (off_t)limit.rlim_cur);
    printf("written %zd, %s\n", written, errno == EFBIG ? "EFBIG" : "no EFBIG");
    close(fd);
    unlink(name);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    printf("begin\n");
    fflush(stdout);
    if (strcmp(argv[1], "handles") == 0)
        signal(SIGXFSZ, say);
#pragma omp parallel num_threads(2)
    compute_under_a_limit(DEPTH);
    if (strcmp(argv[1], "leaves") != 0)
        write_at_the_limit(argv[2]);
#pragma omp parallel num_threads(2)
    compute_under_a_limit(DEPTH);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    struct sigaction action;
    sigaction(SIGXFSZ, NULL, &action);
    printf("limit %llu, handler %s\n", (unsigned long long)limit.rlim_cur,
           action.sa_handler == say       ? "mine"
           : action.sa_handler == SIG_DFL ? "none"
                                          : "another");
    return 3;
}
