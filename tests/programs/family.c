/* A program that looks after its children while the tool ends its measurement, and then locks itself in, or ends. By argument:
 * plain, handler, ignored, nowait, subreaper, thread, opens, blocked; locked, chroot, user, few. */
#include "analytic.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;
static volatile int found; /* by the thread that waits for any child */

static void count_signal(int signal)
{
    (void)signal;
    signals = signals + 1;
}

static void *wait_for_any(void *unused)
{
    (void)unused;
    found = wait(NULL);
    return NULL;
}

static pid_t start_sleeper(void)
{
    pid_t pid = fork();
    while (pid == 0)
        pause();
    return pid;
}

static void set_up(const char *way)
{
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    if (strcmp(way, "ignored") == 0)
        action.sa_handler = SIG_IGN;
    if (strcmp(way, "nowait") == 0)
        action.sa_flags |= SA_NOCLDWAIT;
    if (strcmp(way, "plain") != 0)
        sigaction(SIGCHLD, &action, NULL);
    if (strcmp(way, "subreaper") == 0)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The measurement ends while another thread waits for a child of ours that does not end. */
static void end_beside_a_waiter(void)
{
    pthread_t waiter;
    pid_t sleeper = start_sleeper();
    pthread_create(&waiter, NULL, wait_for_any, NULL);
    omp_control_tool(omp_control_tool_end, 0, NULL);
    printf("waiting: %s\n", found ? "no" : "yes");
    kill(sleeper, SIGKILL);
    pthread_join(waiter, NULL);
    printf("found: %s\n", found == sleeper ? "its own" : "another");
    signals = signals - 1;
}

/* What starts a process ends the program. */
static void lock_in(void)
{
    static const unsigned calls[] = {SYS_clone, SYS_clone3, SYS_vfork, SYS_fork, SYS_execve};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            exit(125);
    }
}

/* Without a stderr, this gets its number. */
static void open_file(void)
{
    int fd = open("own", O_RDWR | O_CREAT, 0600);
    fprintf(stderr, "%d\n", fd);
}

/* Nothing of this is for others to find. */
static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (int signal = 1; signal < NSIG; signal++)
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "plain";
    set_up(way);
    if (strcmp(way, "opens") == 0)
        open_file();
#pragma omp parallel num_threads(2)
    spin_until(clock_s() + 0.02);
    if (strcmp(way, "locked") == 0)
        lock_in();
    else if (strcmp(way, "chroot") == 0 && argc > 2 && (chroot(argv[2]) != 0 || chdir("/") != 0))
        return 125;
    else if (strcmp(way, "user") == 0 && setuid(65534) != 0)
        return 125;
    else if (strcmp(way, "few") == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
    else if (strcmp(way, "blocked") == 0)
        block_signals();
    else if (strcmp(way, "thread") == 0)
        end_beside_a_waiter();
    else
        omp_control_tool(omp_control_tool_end, 0, NULL);
    errno = 0;
    pid_t child = waitpid(-1, NULL, WNOHANG);
    printf("signals: %d, children: %s\n", (int)signals,
           child > 0         ? "one ended"
           : child == 0      ? "one runs"
           : errno == ECHILD ? "none"
                             : "?");
    return 5;
}
