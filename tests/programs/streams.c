/* A program with few of its standard streams, or that takes their numbers for files of its own. By argument: numbers, files. */
#include "analytic.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Which numbers are free, and what reading and writing the standard ones does. */
static void tell_numbers(void)
{
    char byte;
    ssize_t in = read(0, &byte, 1);
    int in_error = in < 0 ? errno : 0;
    ssize_t out = write(1, "x", 1);
    int out_error = out < 0 ? errno : 0;
    ssize_t bad = write(2, "y", 1);
    int bad_error = bad < 0 ? errno : 0;
    int first = open("seen", O_WRONLY | O_CREAT, 0600), second = dup(first);
    dprintf(second, "%zd %d, %zd %d, %zd %d, %d %d\n", in, in_error, out, out_error, bad, bad_error, first, second);
}

/* As daemons do. */
static void take_numbers(void)
{
    static const char *const names[] = {"zero", "one", "two"};
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    for (int fd = 0; fd < 3; fd++)
        if (open(names[fd], O_RDWR | O_CREAT, 0600) != fd)
            exit(125);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "numbers";
#pragma omp parallel num_threads(2)
    spin_until(clock_s() + 0.02);
    if (strcmp(way, "numbers") == 0)
        tell_numbers();
    else
        take_numbers();
    return 5;
}
