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

#define DEEPEST 64 /* maximum depth of the directory tree that is removed; copied sources can be nested */

/* The unfinished paths. The list is changed only while signals are blocked, so that a signal handler always
 * finds it consistent. */
static struct unfinished {
    struct unfinished *next;
    pid_t writer; /* process that created the path; a forked child must not remove the files of its parent */
    char path[];
} *list;

static sigset_t held;
static int holds;

/* Removes a path and everything below it. Makes only system calls, because a signal handler calls it. */
static void unfinished_remove_tree(int folder, const char *name, int deeper)
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
                unfinished_remove_tree(directory, entry->d_name, deeper - 1);
            at += entry->d_reclen;
        }
    if (directory >= 0)
        close(directory);
    unlinkat(folder, name, AT_REMOVEDIR);
}

static void unfinished_remove_all(void)
{
    for (const struct unfinished *entry = list; entry; entry = entry->next)
        if (entry->writer == getpid())
            unfinished_remove_tree(AT_FDCWD, entry->path, DEEPEST);
}

/* Removes all unfinished paths, then ends the process by the signal it received. Shells, make and job
 * launchers check which signal ended a process. */
static void unfinished_remove_and_die(int number)
{
    unfinished_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

/* Installs the handler for every signal that ends a process by default. Leaves alone the signals that are
 * ignored (nohup) or already have a handler. */
static void unfinished_watch_signals(void)
{
    static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,   SIGTERM, SIGUSR1,
                                 SIGUSR2, SIGXCPU, SIGXFSZ, SIGABRT, SIGVTALRM, SIGSEGV, SIGBUS};
    struct sigaction action = {.sa_handler = unfinished_remove_and_die}, before;
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

/* Allocates the list entry before the path is created, because afterwards there might be no memory to record
 * the path. */
static struct unfinished *unfinished_begin(const char *path)
{
    static bool watched;
    struct unfinished *entry = memory_check(malloc(sizeof *entry + strlen(path) + 1));
    if (!watched) {
        watched = true;
        unfinished_watch_signals();
        atexit(unfinished_remove_all);
    }
    unfinished_hold();
    return entry;
}

/* Adds the entry to the list if the path could be created, and frees it otherwise. `path` may differ from the
 * path given to unfinished_begin, because mkdtemp changes it. */
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
    unfinished_remove_tree(AT_FDCWD, path, DEEPEST);
    errno = cause;
    unfinished_keep(path);
}
