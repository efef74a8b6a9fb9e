#include "tune/try.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/text/format.h"
#include "report/text/memory.h"

#define PATIENCE_S  3.0   /* for one that was asked to end */
#define LOOK_S      0.2   /* so often: a signal may come just before the wait for the end */
#define LOOK_MORE_S 0.005 /* the same without a pidfd: on kernels before 5.3, in a sandbox, without a free number */
#define SIGNALLED   128  /* and the signal: a status */
#define FIXED       5    /* words before the program's */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void redirect(const char *path, int flags, int to)
{
    int fd = open(path, flags, 0600);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(127);
    close(fd);
}

/* A process group of its own, so that all of it can be ended; it does not outlive this one. */
static pid_t start(const struct try_request *request, char *const *words, const char *input)
{
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    redirect(input, O_RDONLY, STDIN_FILENO);
    redirect(input == request->output ? "/dev/null" : request->output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(request->errors, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setenv("BLAME_CSV", "0", 1);
    setenv("BLAME_SUMMARY", "0", 1);
    for (char *line = strdup(request->variables), *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        putenv(line);
    }
    execvp(words[0], words);
    _exit(127);
}

/* Waits for a while, at most until then. fd: its pidfd, or -1, which poll leaves out. */
static bool has_ended(pid_t pid, int fd, double until)
{
    siginfo_t info = {0};
    double left = fmax(0, fmin(until - now_s(), fd < 0 ? LOOK_MORE_S : LOOK_S));
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, (int)(1000 * left) + 1);
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Waits until it ends, its limit is over, or the user wants an end. */
static enum try_end wait_for(const struct try_request *request, pid_t pid, double begin)
{
    int fd = pidfd_open(pid, 0);
    double limit = request->limit_s > 0 ? begin + request->limit_s : INFINITY;
    enum try_end end = TRY_GOOD;
    while (end == TRY_GOOD && !has_ended(pid, fd, limit))
        end = *request->stop ? TRY_STOPPED : now_s() > limit ? TRY_LIMIT : TRY_GOOD;
    if (end != TRY_GOOD) {
        kill(-pid, SIGTERM);
        kill(-pid, SIGCONT);
        for (double patience = now_s() + PATIENCE_S; now_s() < patience && !has_ended(pid, fd, patience);)
            continue;
        kill(-pid, SIGKILL);
    }
    if (fd >= 0)
        close(fd);
    return end;
}

static struct try_result run(const struct try_request *request, char *const *words, const char *input)
{
    struct try_result result = {.end = TRY_NO_START};
    int status;
    double begin = now_s();
    pid_t pid = start(request, words, input);
    if (pid < 0)
        return result;
    setpgid(pid, pid);
    result.end = wait_for(request, pid, begin);
    result.seconds = now_s() - begin;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-pid, SIGKILL); /* what it left behind would run beside the next one */
    if (result.end == TRY_GOOD && WIFSIGNALED(status))
        result = (struct try_result){TRY_SIGNAL, WTERMSIG(status), result.seconds};
    else if (result.end == TRY_GOOD && WEXITSTATUS(status))
        result = (struct try_result){TRY_STATUS, WEXITSTATUS(status), result.seconds};
    return result;
}

struct try_result try_words(const struct try_request *request, char *const *words)
{
    return run(request, words, "/dev/null");
}

struct try_result try_shell(const struct try_request *request, const char *command)
{
    char *words[] = {"/bin/sh", "-c", (char *)command, NULL};
    return run(request, words, "/dev/null");
}

static bool is_right(const struct try_request *request)
{
    char *words[] = {"/bin/sh", "-c", (char *)request->check, NULL};
    return run(request, words, request->output).end == TRY_GOOD;
}

struct try_result try_run(const struct try_request *request)
{
    size_t count = 0;
    while (request->program[count])
        count++;
    char **words = memory_array(FIXED + count + 1, sizeof *words);
    words[0] = (char *)request->blame;
    words[1] = "run";
    words[2] = "--out";
    words[3] = (char *)request->profile;
    words[4] = "--";
    memcpy(words + FIXED, request->program, count * sizeof *words);
    struct try_result result = run(request, words, "/dev/null");
    free(words);
    if (result.end == TRY_STATUS && result.number > SIGNALLED && result.number - SIGNALLED <= SIGRTMAX) /* as blame run passes it on */
        result = (struct try_result){TRY_SIGNAL, result.number - SIGNALLED, result.seconds};
    if (result.end == TRY_GOOD && request->check && !is_right(request))
        result.end = *request->stop ? TRY_STOPPED : TRY_WRONG;
    return result;
}

char *try_result_words(const struct try_request *request, const struct try_result *result)
{
    switch (result->end) {
    case TRY_STATUS:
        return memory_text("exit status %d", result->number);
    case TRY_SIGNAL:
        return memory_text("killed by signal %d (%s)", result->number, strsignal(result->number));
    case TRY_LIMIT:
        return memory_text("longer than the limit of %s s", DECIMAL(request->limit_s, 1));
    case TRY_WRONG:
        return memory_text("its result is wrong, as %s says", request->check);
    case TRY_STOPPED:
        return memory_text("stopped");
    case TRY_NO_START:
        return memory_text("no process could be started");
    default:
        return memory_text("good");
    }
}
