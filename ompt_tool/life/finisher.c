/* Runs the finisher (`blame finish`), which makes the reports. The program must never see a child that it did
 * not start. So there are two processes:
 *
 *     program --- keeper --- finisher
 *
 * The keeper shares the program's memory, and its end raises no signal. So the program's wait(), waitpid(-1)
 * and SIGCHLD handlers never see the keeper, in any thread, even if SIGCHLD is ignored. Only the tool waits
 * for it (__WCLONE). When a process executes another program, the kernel makes SIGCHLD the signal of its end
 * again (de_thread() in fs/exec.c). So the finisher, which executes `blame finish`, must be the keeper's
 * child. The keeper stays until the finisher has ended, because an orphaned finisher would become the
 * program's child if the program is a subreaper.
 *
 * The code of both processes in this file uses the program's memory while the program's threads run.
 * Therefore it makes only system calls, uses nothing of the C library and no thread-local storage, and blocks
 * all signals: otherwise the program's signal handlers would run in the wrong process. */
#include "ompt_tool/life/finisher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/entries.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/os.h"
#include "unwind/linked.h"

#define STACK_BYTES   16384
#define MAX_VARIABLES 32
#define LIMIT_S       600 /* time in s after which a finisher is considered to hang */
/* in bytes; with a lower memory limit, not even the dynamic loader can start the command */
#define LEAST_MEMORY (128u << 20)
#define LEAST_FILES  16 /* number of open files that the command needs to start */
/* size in bytes of the stack that libdw needs; the program's limit may be lower */
#define WANTED_STACK (8u << 20)

static struct {
    char command[PATH_MAX]; /* path of the command; empty if there is none */
    char library[PATH_MAX];
    long filters; /* number of seccomp filters when the tool started; -1: unknown */
} found = {.filters = -1};

/* The memory that the program, the keeper and the finisher share. */
struct finisher {
    const char *arguments[6];
    const char *environment[MAX_VARIABLES + 1];
    struct rlimit stack;
    long limit_s;
    bool mute;
    int error;  /* errno of the attempt to start the command; 0: it was started */
    int status; /* exit status, in the form in which wait() returns it */
    bool late;
    char keeper_stack[STACK_BYTES] __attribute__((aligned(16)));
    char finisher_stack[STACK_BYTES] __attribute__((aligned(16)));
};

/* Starts a process that executes the function, which must not return. The system call is made directly:
 * sanitizers take the C library's clone() for a fork, and would then change the program's memory. */
static long finisher_start_process(unsigned long flags, char *stack, void (*function)(struct finisher *),
                                   struct finisher *finisher)
{
#if defined(__x86_64__)
    register void (*run)(struct finisher *) __asm__("r12") = function;
    register struct finisher *argument __asm__("r13") = finisher;
    register long child_tid __asm__("r10") = 0, tls __asm__("r8") = 0;
    long result;
    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "andq $-16, %%rsp\n\t"
                     "movq %%r13, %%rdi\n\t"
                     "callq *%%r12\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "a"(SYS_clone), "D"(flags), "S"(stack + STACK_BYTES), "d"(0), "r"(child_tid), "r"(tls), "r"(run),
                       "r"(argument)
                     : "rcx", "r11", "cc", "memory");
    return result;
#elif defined(__aarch64__)
    register void (*run)(struct finisher *) __asm__("x19") = function;
    register struct finisher *argument __asm__("x20") = finisher;
    register long number __asm__("x8") = SYS_clone, result __asm__("x0") = (long)flags, parent_tid __asm__("x2") = 0;
    register long tls __asm__("x3") = 0, child_tid __asm__("x4") = 0;
    register char *stack_end __asm__("x1") = stack + STACK_BYTES;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x0, x20\n\t"
                     "blr x19\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(result)
                     : "r"(number), "r"(stack_end), "r"(parent_tid), "r"(tls), "r"(child_tid), "r"(run), "r"(argument)
                     : "cc", "memory");
    return result;
#endif
}

static void finisher_end_process(void)
{
    for (;;)
        kernel_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

struct signal_action {
    uintptr_t handler;
    unsigned long flags, restorer;
    uint64_t mask;
};

static bool finisher_signal_is_ignored(int signal)
{
    struct signal_action action;
    return kernel_call(SYS_rt_sigaction, signal, 0, (long)&action, sizeof(action.mask), 0, 0) == 0 &&
           action.handler == (uintptr_t)SIG_IGN;
}

static void finisher_set_default(int signal)
{
    const struct signal_action action = {0};
    kernel_call(SYS_rt_sigaction, signal, (long)&action, 0, sizeof(action.mask), 0, 0);
}

/* Sets all signals to their default actions, except the terminal's signals if they are ignored (in a
 * background job, or under nohup). */
static void finisher_reset_signals(void)
{
    for (int signal = 1; signal < _NSIG; signal++)
        if ((signal != SIGHUP && signal != SIGINT && signal != SIGQUIT && signal != SIGTSTP) ||
            !finisher_signal_is_ignored(signal))
            finisher_set_default(signal);
}

struct finisher_range {
    int least, directory;
};

/* Closes the descriptor of that number if it is in the range, except the directory itself. */
static bool finisher_close_entry(const char *name, void *argument)
{
    const struct finisher_range *range = argument;
    int fd = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        fd = fd * 10 + (*name - '0');
    if (*name == 0 && fd >= range->least && fd != range->directory)
        kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return true;
}

/* Closes all descriptors from `least` on. Linux before 5.9 has no close_range, but lists them. */
static void finisher_close_from(int least)
{
    struct finisher_range range = {.least = least};
#ifdef SYS_close_range
    if (kernel_call(SYS_close_range, least, ~0u, 0, 0, 0, 0) == 0)
        return;
#endif
    range.directory = (int)kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/fd", O_RDONLY | O_DIRECTORY, 0, 0, 0);
    if (range.directory < 0)
        return;
    entries_visit_open(range.directory, finisher_close_entry, &range);
    kernel_call(SYS_close, range.directory, 0, 0, 0, 0, 0);
}

/* Connects standard input and output to /dev/null. Also connects stderr to it if stderr is closed or `mute`
 * is true, because otherwise messages might go to a file that is opened later. Closes all other descriptors. */
static void finisher_set_descriptors(bool mute)
{
    long null = kernel_call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0);
    mute = mute || kernel_call(SYS_fcntl, STDERR_FILENO, F_GETFD, 0, 0, 0, 0) < 0 || null == STDERR_FILENO;
    for (int fd = 0; null >= 0 && fd <= (mute ? STDERR_FILENO : STDOUT_FILENO); fd++)
        /* if the two are the same, the call fails, which is right */
        kernel_call(SYS_dup3, null, fd, 0, 0, 0, 0);
    /* the program (node) may have marked stderr as close-on-exec */
    kernel_call(SYS_fcntl, STDERR_FILENO, F_SETFD, 0, 0, 0, 0);
    finisher_close_from(STDERR_FILENO + 1);
}

static void finisher_become_command(struct finisher *finisher)
{
    const uint64_t none = 0;
    finisher_reset_signals();
    finisher_set_descriptors(finisher->mute);
    kernel_call(SYS_prlimit64, 0, RLIMIT_STACK, (long)&finisher->stack, 0, 0, 0);
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof(none), 0, 0);
    long result =
        kernel_call(SYS_execve, (long)found.command, (long)finisher->arguments, (long)finisher->environment, 0, 0, 0);
    finisher->error = (int)-result;
    finisher_end_process();
}

static void finisher_keeper_main(struct finisher *finisher)
{
    const uint64_t child = 1ull << (SIGCHLD - 1);
    const struct timespec limit = {finisher->limit_s, 0}, moment = {1, 0};
    finisher_set_default(SIGCHLD); /* if SIGCHLD were ignored, the status would be lost */
    long pid = finisher_start_process(CLONE_VM | CLONE_VFORK | SIGCHLD, finisher->finisher_stack,
                                      finisher_become_command, finisher);
    if (pid < 0) {
        finisher->error = (int)-pid;
        finisher_end_process();
    }
    finisher_close_from(0); /* the keeper must not keep a pipe open whose readers wait for the end */
    while (kernel_call(SYS_wait4, pid, (long)&finisher->status, WNOHANG, 0, 0, 0) == 0) {
        const struct timespec *time = finisher->late ? &moment : &limit;
        if (kernel_call(SYS_rt_sigtimedwait, (long)&child, 0, (long)time, sizeof(child), 0, 0) != -EAGAIN)
            continue;
        if (finisher->late)
            break; /* not even SIGKILL has ended the process */
        finisher->late = true;
        kernel_call(SYS_kill, pid, SIGKILL, 0, 0, 0, 0);
    }
    finisher_end_process();
}

static long finisher_count_filters(void)
{
    static char text[4096];
    os_read_text("/proc/self/status", text, sizeof(text));
    const char *field = strstr(text, "Seccomp_filters:");
    return field ? strtol(field + strlen("Seccomp_filters:"), NULL, 10) : -1;
}

void finisher_find(void)
{
    static const char *const places[] = {"blame", "../bin/blame", "../../bin/blame"};
    char candidate[PATH_MAX + 32];
    struct stat status;
    struct linked_object own;
    found.command[0] = '\0';
    found.filters = finisher_count_filters();
    if (!linked_find((uintptr_t)&finisher_find, &own) ||
        !realpath(((const struct link_map *)own.link_map)->l_name, found.library))
        return;
    int folder = (int)(strrchr(found.library, '/') + 1 - found.library);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(candidate, sizeof(candidate), "%.*s%s", folder, found.library, places[i]);
        if (stat(candidate, &status) != 0 || !S_ISREG(status.st_mode) || !(status.st_mode & 0111))
            continue;
        if (!realpath(candidate, found.command)) /* this may fail in a sandbox that refuses faccessat2() */
            snprintf(found.command, sizeof(found.command), "%.*s", PATH_MAX - 1, candidate);
        return;
    }
}

/* Copies the environment variables that determine where the command finds its libraries and folders, and how
 * it writes. Omits variables that are meant for the program. */
static void finisher_choose_environment(struct finisher *finisher)
{
    static const char *const kept[] = {"PATH=",     "HOME=",        "TMPDIR=", "LD_LIBRARY_PATH=", "LANG=", "LC_ALL=",
                                       "LC_CTYPE=", "LC_MESSAGES=", "TERM=",   "COLUMNS=",         "TZ="};
    size_t count = 0;
    for (char **entry = environ; entry && *entry && count < MAX_VARIABLES; entry++)
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
            if (strncmp(*entry, kept[i], strlen(kept[i])) == 0)
                finisher->environment[count++] = *entry;
}

/* Returns false if the process has no right to write the file. A program that has given up rights (setuid)
 * may have lost access to the directory. `blame run` still has access, so it makes the reports instead. */
static bool finisher_may_write(const char *file)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    bool refused = fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS);
    if (fd >= 0)
        close(fd);
    return !refused;
}

/* Returns the reason for which no finisher should be started; NULL if one should be. */
static const char *finisher_why_not(const char *file, char *text, size_t bytes)
{
    struct rlimit memory, files;
    long filters = found.filters < 0 ? -1 : finisher_count_filters();
    if (!*found.command) {
        snprintf(text, bytes, "the blame command is not in the directory of %s", found.library);
        return text;
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < LEAST_FILES)
        return "too few open files are allowed (ulimit -n)";
    if (filters != found.filters)
        /* a system call filter may end a program that starts a process */
        return "the program has restricted itself (seccomp, chroot)";
    if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur < LEAST_MEMORY)
        return "too little memory is allowed (ulimit -v)";
    if (!finisher_may_write(file)) {
        snprintf(text, bytes, "the program may no longer write %s", file);
        return text;
    }
    return NULL;
}

/* Runs the keeper and waits for its end. If the keeper cannot be started, returns false with errno set. */
static bool finisher_run_keeper(struct finisher *finisher)
{
    const char *preloaded = getenv("LD_PRELOAD");
    /* valgrind does not support processes that share memory and run at the same time */
    unsigned long flags = preloaded && strstr(preloaded, "vgpreload") ? 0 : CLONE_VM;
    const uint64_t all = ~0ull;
    uint64_t mask;
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask, sizeof(mask), 0, 0);
    long pid = finisher_start_process(flags, finisher->keeper_stack, finisher_keeper_main, finisher);
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
    while (pid > 0 && kernel_call(SYS_wait4, pid, 0, __WCLONE, 0, 0, 0) == -EINTR)
        ;
    errno = pid < 0 ? (int)-pid : 0;
    return pid > 0;
}

/* Returns true if the finisher ended normally. Otherwise writes to `why` what happened. */
static bool finisher_judge(const struct finisher *finisher, char *why, size_t bytes)
{
    if (finisher->error)
        snprintf(why, bytes, "%s: %s", found.command, strerror(finisher->error));
    else if (finisher->late)
        snprintf(why, bytes, "they were not ready after %ld seconds", finisher->limit_s);
    else if (WIFSIGNALED(finisher->status))
        snprintf(why, bytes, "the process that writes them was killed by signal %d", WTERMSIG(finisher->status));
    else
        return true; /* the finisher has printed its own errors */
    return false;
}

bool finisher_run(const char *directory, const char *file, char *why, size_t why_bytes)
{
    const char *reason = finisher_why_not(file, why, why_bytes), *limit = secure_getenv("BLAME_TEST_FINISH_S");
    if (reason) {
        if (reason != why)
            snprintf(why, why_bytes, "%s", reason);
        return false;
    }
    struct finisher *finisher =
        mmap(NULL, sizeof(*finisher), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (finisher == MAP_FAILED) {
        snprintf(why, why_bytes, "%s", strerror(errno));
        return false;
    }
    memcpy(finisher->arguments, (const char *[]){"blame", "finish", directory, file}, 4 * sizeof(char *));
    if (log_was_open())
        finisher->arguments[4] = "unheard"; /* `blame run` prints the summary */
    finisher_choose_environment(finisher);
    finisher->mute = !log_is_open();
    finisher->limit_s = limit ? strtol(limit, NULL, 10) : LIMIT_S;
    getrlimit(RLIMIT_STACK, &finisher->stack);
    if (finisher->stack.rlim_cur < WANTED_STACK)
        finisher->stack.rlim_cur = finisher->stack.rlim_max < WANTED_STACK ? finisher->stack.rlim_max : WANTED_STACK;
    bool good = finisher_run_keeper(finisher);
    if (good)
        good = finisher_judge(finisher, why, why_bytes);
    else
        snprintf(why, why_bytes, "cannot start a process: %s", strerror(errno));
    os_unmap(finisher, sizeof(*finisher));
    return good;
}
