/* Preloaded into a command: its CLOCK_MONOTONIC is what the file PLAYED_CLOCK says, in nanoseconds. How long something takes is then what
 * writes there, whatever else the machine does. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    const char *path = getenv("PLAYED_CLOCK");
    char text[32] = "";
    if (clock != CLOCK_MONOTONIC || !path)
        return (int)syscall(SYS_clock_gettime, clock, now);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        abort();
    close(fd);
    long long ns = atoll(text);
    *now = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}
