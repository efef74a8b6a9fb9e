/* Preloaded into a command: as on a kernel before 5.3, and in many a sandbox. */
#include <errno.h>
#include <sys/types.h>

int pidfd_open(pid_t pid, unsigned int flags);

int pidfd_open(pid_t pid, unsigned int flags)
{
    (void)pid, (void)flags;
    errno = ENOSYS;
    return -1;
}
