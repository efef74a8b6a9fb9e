#include "command/text/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/text/memory.h"

#define DEEPEST 64 /* deepest nesting that is removed; copied sources can be nested */

/* The list of unfinished paths. Changed only while signals are blocked, so a handler always finds it
 * consistent. */
static struct unfinished {
    struct unfinished *next;
    pid_t writer; /* the creating process; a fork must not remove its parent's files */
    char path[];
} *list;

static sigset_t held;
static int holds;

/* Removes a path with everything below it. Called by a signal handler, so it uses only system calls. */
static void remove_tree(int folder, const char *name, int deeper)
{
    _Alignas(struct dirent64) char entries[1024];
    if (unlinkat(folder, name, 0) == 0 || errno != EISDIR || deeper == 0)
        return;
    int directory = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t bytes = -1;
    while (directory >= 0 && (bytes = getdents64(directory, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < bytes;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                remove_tree(directory, entry->d_name, deeper - 1);
            at += entry->d_reclen;
        }
    if (directory >= 0)
        close(directory);
    unlinkat(folder, name, AT_REMOVEDIR);
}

static void remove_all(void)
{
    for (const struct unfinished *entry = list; entry; entry = entry->next)
        if (entry->writer == getpid())
            remove_tree(AT_FDCWD, entry->path, DEEPEST);
}

/* Cleans up and then dies of the signal, because shells, make and job launchers check for that. */
static void remove_and_die(int number)
{
    remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

/* Catches the ending signals that still have their default action. Signals that have a handler or are ignored
 * (nohup) keep it. */
static void watch_signals(void)
{
    static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,   SIGTERM, SIGUSR1,
                                 SIGUSR2, SIGXCPU, SIGXFSZ, SIGABRT, SIGVTALRM, SIGSEGV, SIGBUS};
    struct sigaction action = {.sa_handler = remove_and_die}, before;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
            sigaction(ending[i], &action, NULL);
}

void unfinished_hold(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (holds++ == 0)
        held = before;
}

void unfinished_release(void)
{
    int cause = errno;
    if (--holds == 0)
        sigprocmask(SIG_SETMASK, &held, NULL);
    errno = cause;
}

/* Allocates the entry before the path is created, because memory may be exhausted later. */
static struct unfinished *unfinished_begin(const char *path)
{
    static bool watched;
    struct unfinished *entry = memory_check(malloc(sizeof *entry + strlen(path) + 1));
    if (!watched) {
        watched = true;
        watch_signals();
        atexit(remove_all);
    }
    unfinished_hold();
    return entry;
}

/* Adds the entry under the path's final name, which mkdtemp may have changed. */
static bool unfinished_add(struct unfinished *entry, const char *path, bool made)
{
    int cause = errno;
    if (made) {
        entry->next = list;
        entry->writer = getpid();
        strcpy(entry->path, path);
        list = entry;
    } else {
        free(entry);
    }
    errno = cause;
    unfinished_release();
    return made;
}

FILE *unfinished_file(const char *path)
{
    struct unfinished *entry = unfinished_begin(path);
    FILE *file = fopen(path, "wxe");
    if (!file && errno == EEXIST && unlink(path) == 0)
        file = fopen(path, "wxe");
    unfinished_add(entry, path, file);
    return file;
}

bool unfinished_directory(const char *path)
{
    struct unfinished *entry = unfinished_begin(path);
    return unfinished_add(entry, path, mkdir(path, 0777) == 0);
}

bool unfinished_temporary(char *path)
{
    struct unfinished *entry = unfinished_begin(path);
    return unfinished_add(entry, path, mkdtemp(path));
}

void unfinished_keep(const char *path)
{
    unfinished_hold();
    for (struct unfinished **at = &list; *at; at = &(*at)->next)
        if (strcmp((*at)->path, path) == 0) {
            struct unfinished *entry = *at;
            *at = entry->next;
            free(entry);
            break;
        }
    unfinished_release();
}

void unfinished_remove(const char *path)
{
    int cause = errno;
    remove_tree(AT_FDCWD, path, DEEPEST);
    errno = cause;
    unfinished_keep(path);
}
