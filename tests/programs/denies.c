/* Runs argv[2 ...] in a sandbox that refuses the system calls of argv[1], which are separated by commas: they fail with EPERM, behind "nosys:" with
 * ENOSYS, and behind "kill:" they end the process. "openat.write" is that of files that are to be written, "mmap.shared" that of shared
 * mappings of files, "clone.process" all that starts a process, "from.335" all whose number is 335 or more: those that came after Linux 4.18. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name)  {#name, SYS_##name, ALWAYS, 0, 0}
#define ARGUMENT(n) ((unsigned)offsetof(struct seccomp_data, args[n]))

enum when { ALWAYS, ANY_BIT, NO_BIT };

static const struct {
    const char *name;
    unsigned number;
    enum when when; /* of the bits of an argument's lower half */
    unsigned argument, bits;
} calls[] = {
    CALL(access),
    CALL(clock_gettime),
    CALL(close_range),
    CALL(dup2),
    CALL(faccessat2),
    CALL(fallocate),
    CALL(fchmod),
    CALL(fcntl),
    CALL(ftruncate),
    CALL(getcwd),
    CALL(getpid),
    CALL(getrusage),
    CALL(gettid),
    CALL(kill),
    CALL(lseek),
    CALL(madvise),
    CALL(memfd_create),
    CALL(mincore),
    CALL(mkdir),
    {"mkdir", SYS_mkdirat, ALWAYS, 0, 0},
    CALL(mremap),
    CALL(newfstatat),
    CALL(perf_event_open),
    CALL(pipe2),
    CALL(poll),
    CALL(prctl),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(pwritev2),
    CALL(readlink),
    {"readlink", SYS_readlinkat, ALWAYS, 0, 0},
    CALL(rename),
    CALL(rmdir),
    CALL(rt_sigpending),
    CALL(rt_sigtimedwait),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(sendfile),
    CALL(statfs),
    CALL(sysinfo),
    CALL(timer_create),
    CALL(timer_delete),
    CALL(timer_settime),
    CALL(uname),
    CALL(unlink),
    CALL(wait4),
    CALL(writev),
    {"openat.write", SYS_openat, ANY_BIT, ARGUMENT(2), O_WRONLY | O_RDWR | O_CREAT},
    {"mmap.shared", SYS_mmap, ANY_BIT, ARGUMENT(3), MAP_SHARED},
    {"clone.process", SYS_clone, NO_BIT, ARGUMENT(0), CLONE_THREAD},
    {"clone.process", SYS_fork, ALWAYS, 0, 0},
    {"clone.process", SYS_vfork, ALWAYS, 0, 0},
    {"clone.process", SYS_clone3, ALWAYS, 0,
     0}, /* what it asks for is out of a filter's reach: always ENOSYS, and clone is called */
};

static int install(struct sock_filter *filter, size_t count)
{
    struct sock_fprog program = {(unsigned short)count, filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int deny_from(unsigned number, unsigned action)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(filter, sizeof(filter) / sizeof(filter[0]));
}

static int deny(size_t at, unsigned action)
{
    unsigned bits = calls[at].bits;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[at].number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, calls[at].argument),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, calls[at].when == NO_BIT, calls[at].when == ANY_BIT),
        BPF_STMT(BPF_RET | BPF_K, calls[at].number == SYS_clone3 ? SECCOMP_RET_ERRNO | ENOSYS : action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(filter, sizeof(filter) / sizeof(filter[0]));
}

/* Behind "kill:" or "nosys:". */
static char *read_action(char *list, unsigned *action)
{
    char *colon = strchr(list, ':');
    *action = !colon ? SECCOMP_RET_ERRNO | EPERM : *list == 'k' ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | ENOSYS;
    return colon ? colon + 1 : list;
}

static int deny_all(const char *name, unsigned action)
{
    unsigned number;
    if (sscanf(name, "from.%u", &number) == 1)
        return deny_from(number, action) == 0;
    int found = 0;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i].name, name) == 0 && deny(i, action) == 0)
            found++;
    return found;
}

int main(int argc, char **argv)
{
    unsigned action;
    if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 125;
    for (char *name = strtok(read_action(argv[1], &action), ","); name; name = strtok(NULL, ","))
        if (deny_all(name, action) == 0) {
            fprintf(stderr, "denies: %s: not known, or cannot be refused\n", name);
            return 125;
        }
    execv(argv[2], argv + 2);
    return 126;
}
