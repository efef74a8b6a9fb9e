/* Runs argv[2 ...] in a sandbox that answers EPERM to the system calls of argv[1], which are separated by commas. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"mkdir", SYS_mkdir},
    {"mkdir", SYS_mkdirat},
    {"readlink", SYS_readlink},
    {"readlink", SYS_readlinkat},
    {"timer_create", SYS_timer_create},
    {"process_vm_readv", SYS_process_vm_readv},
    {"fallocate", SYS_fallocate},
    {"rename", SYS_rename},
    {"rt_sigpending", SYS_rt_sigpending},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait},
    {"madvise", SYS_madvise},
};

static int deny(unsigned number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 125;
    for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ","))
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
            if (strcmp(calls[i].name, name) == 0 && deny(calls[i].number) != 0)
                return 125;
    execv(argv[2], argv + 2);
    return 126;
}
