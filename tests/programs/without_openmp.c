/* A program without OpenMP. What it does is known by its CPU time and by how long it sleeps: computes for `hot` and `warm`,
 * sleeps in `nap`, all in milliseconds.
 *
 *     without_openmp HOT WARM NAP [fork | abort | openmp LIBRARY | reads | takes | forbids HOW |
 *         races LIBRARY MS]
 *
 * fork: a child computes as long as hot(). openmp: loads the library afterwards, whose sum_of_team() begins a region.
 * reads: reads a file instead of hot(), and is in the C library all that time. takes: first takes all real-time signals
 * that are in use already, and says whether timers send more than one. forbids: between hot() and warm(), forbids itself all
 * system calls but those to write and to end, by prctl() or by syscall(); hot() is measured if it takes long enough. races: another thread
 * loads the library when the process has used that much CPU time, while hot() runs. */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu_work.h"

#define NAMED __attribute__((noinline, noclone))

NAMED static void hot(double ms)
{
    compute_ms(ms);
}

NAMED static void warm(double ms)
{
    compute_ms(ms);
    sink++;
}

NAMED static void read_zeros(double ms)
{
    static char bytes[1 << 16];
    int file = open("/dev/zero", O_RDONLY);
    double end_s = cpu_s() + ms / 1000;
    while (cpu_s() < end_s)
        for (int i = 0; i < 100; i++)
            if (read(file, bytes, sizeof(bytes)) < 0)
                return;
    close(file);
}

static volatile sig_atomic_t timers;

static void on_taken(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    timers += info->si_code == SI_TIMER;
}

static void take_signals(void)
{
    struct sigaction own = {.sa_sigaction = on_taken, .sa_flags = SA_SIGINFO | SA_RESTART}, old;
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_DFL)
            sigaction(signal, &own, NULL);
}

#define ALLOWED(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int forbid(const char *how)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOWED(SYS_write),
        ALLOWED(SYS_exit_group),
        ALLOWED(SYS_clock_gettime),
        ALLOWED(SYS_newfstatat),
        ALLOWED(SYS_getrandom),
        ALLOWED(SYS_brk),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return 1;
    return strcmp(how, "prctl") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
                                     : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

NAMED static void in_child(double ms)
{
    compute_ms(ms);
    sink += 2;
}

NAMED static void nap(double ms)
{
    struct timespec left = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000};
    if (nanosleep(&left, NULL))
        puts("interrupted");
}

static int begin_region(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    int (*region)(void) = library ? (int (*)(void))dlsym(library, "sum_of_team") : NULL;
    return region ? region() : 0;
}

/* arguments: path of the library, CPU time in ms */
static void *race(void *arguments)
{
    struct timespec used = {0};
    while ((double)used.tv_sec * 1e3 + 1e-6 * (double)used.tv_nsec < atof(((char **)arguments)[1]))
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return begin_region(((char **)arguments)[0]) == 3 ? arguments : NULL;
}

int main(int argc, char **argv)
{
    const char *end = argc > 4 ? argv[4] : "";
    if (argc < 4)
        return 2;
    pthread_t racer = 0;
    void *won = NULL;
    if (strcmp(end, "races") == 0 && (argc < 7 || pthread_create(&racer, NULL, race, argv + 5)))
        return 2;
    if (strcmp(end, "takes") == 0)
        take_signals();
    (strcmp(end, "reads") == 0 ? read_zeros : hot)(atof(argv[1]));
    if (strcmp(end, "forbids") == 0 && forbid(argv[5]) != 0)
        return 5;
    if (timers > 1)
        puts("signals of timers");
    warm(atof(argv[2]));
    if (strcmp(end, "forbids") != 0)
        nap(atof(argv[3]));
    if (strcmp(end, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            in_child(atof(argv[1]));
            exit(3);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
    }
    if (strcmp(end, "openmp") == 0 && argc > 5) {
        if (begin_region(argv[5]) != 3)
            return 4;
    }
    if (racer && (pthread_join(racer, &won) || !won))
        return 6;
    puts("done");
    fflush(stdout);
    if (strcmp(end, "abort") == 0)
        abort();
    return 7;
}
