#include "command/cli/running.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/profile/read.h"
#include "command/text/memory.h"

#define ACCEPTED "expected the process id of a program that is being measured"
/* most levels of child processes that are searched; a reused pid could otherwise cause an endless loop */
#define MOST_DEEP 32

/* A measurement file that a process has mapped. */
struct mapped {
    unsigned long long inode;
    char *path;
};

/* Reads lines of /proc/PID/maps up to the next mapping of a measurement file. Returns false at the end. */
static bool next_mapped_measurement(FILE *maps, char **line, size_t *room, struct mapped *mapped)
{
    static const char gone[] = " (deleted)";
    ssize_t length;
    while ((length = getline(line, room, maps)) > 0) {
        int at = 0;
        (*line)[length - 1] = '\0';
        if (sscanf(*line, "%*s %*s %*s %*s %llu %n", &mapped->inode, &at) != 1 || at == 0)
            continue;
        mapped->path = *line + at;
        char *end = *line + length - 1;
        if (end - mapped->path > (ssize_t)strlen(gone) && strcmp(end - strlen(gone), gone) == 0)
            *(end -= strlen(gone)) = '\0';
        if (mapped->inode && end - mapped->path > 6 && strcmp(end - 6, ".blame") == 0)
            return true;
    }
    return false;
}

/* Opens `path` if it has this inode and is the measurement of process `pid`; returns -1 otherwise. A forked
 * child also maps its parent's measurement, so the file's pid is compared. In a container, the file contains
 * `own`, the pid that the process has there. */
static int open_measurement_of(const char *path, unsigned long long inode, pid_t pid, pid_t own)
{
    struct profile_header header;
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0 && fstat(file, &status) == 0 && status.st_ino == inode && profile_read_header(path, &header) &&
        (header.pid == pid || header.pid == own))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* Returns the pid that a process has in its own pid namespace. */
static pid_t pid_in_own_namespace(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "re");
    pid_t own = pid;
    while (status && fgets(line, sizeof line, status)) {
        const char *last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
        if (last)
            own = (pid_t)strtol(last, NULL, 10);
    }
    if (status)
        fclose(status);
    return own;
}

/* Opens a mapped file by its path, in our file system or that of the process. If it has no path any more,
 * opens it through the process's descriptors. */
static int open_mapped(const struct mapped *mapped, pid_t pid, pid_t own)
{
    char *path = memory_text("/proc/%d/root%s", (int)pid, mapped->path);
    int file = open_measurement_of(mapped->path, mapped->inode, pid, own);
    if (file < 0)
        file = open_measurement_of(path, mapped->inode, pid, own);
    free(path);
    path = memory_text("/proc/%d/fd", (int)pid);
    DIR *folder = file < 0 ? opendir(path) : NULL;
    for (struct dirent *entry; folder && file < 0 && (entry = readdir(folder));) {
        char *link = memory_text("%s/%s", path, entry->d_name);
        struct stat status;
        if (stat(link, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == mapped->inode)
            file = open_measurement_of(link, mapped->inode, pid, own);
        free(link);
    }
    if (folder)
        closedir(folder);
    free(path);
    return file;
}

/* Opens the measurement of a process. Returns -1 with errno 0 if it has none, -1 with errno if its mappings
 * cannot be read. */
static int open_process_measurement(pid_t pid)
{
    char path[64], *line = NULL;
    size_t room = 0;
    struct mapped mapped;
    int file = -1;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return -1;
    pid_t own = pid_in_own_namespace(pid);
    unsigned long long before = 0; /* inode in the previous line: a file has several mappings */
    while (file < 0 && next_mapped_measurement(maps, &line, &room, &mapped)) {
        if (mapped.inode != before)
            file = open_mapped(&mapped, pid, own);
        before = mapped.inode;
    }
    int why = file < 0 && ferror(maps) ? errno : 0;
    free(line);
    fclose(maps);
    errno = why;
    return file;
}

static void find_measured_below(pid_t pid, int deep, struct running *found, int *count);

/* Searches the child processes that one thread of a process has started. */
static void find_measured_children(pid_t pid, const char *thread, int deep, struct running *found, int *count)
{
    char *path = memory_text("/proc/%d/task/%s/children", (int)pid, thread);
    FILE *list = fopen(path, "re");
    int child;
    while (list && fscanf(list, "%d", &child) == 1)
        find_measured_below((pid_t)child, deep + 1, found, count);
    if (list)
        fclose(list);
    free(path);
}

/* Counts a process, if it is measured, or else the measured processes below it. *found is the first one. */
static void find_measured_below(pid_t pid, int deep, struct running *found, int *count)
{
    int file = deep < MOST_DEEP ? open_process_measurement(pid) : -1;
    if (file >= 0 && (*count)++ == 0)
        *found = (struct running){pid, file};
    else if (file >= 0)
        close(file);
    if (file >= 0 || deep == MOST_DEEP)
        return;
    char *path = memory_text("/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]))
            find_measured_children(pid, entry->d_name, deep, found, count);
    if (folder)
        closedir(folder);
    free(path);
}

bool running_find(const char *command, const char *text, struct running *running)
{
    char *end, path[64];
    long number = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || number <= 0 || number > 1 << 30) {
        fprintf(stderr, "blame %s: %s: this is not a process id; " ACCEPTED "\n", command, text);
        return false;
    }
    snprintf(path, sizeof path, "/proc/%ld/maps", number);
    int maps = open(path, O_RDONLY | O_CLOEXEC);
    if (maps >= 0)
        close(maps);
    if (maps < 0 && (errno == ENOENT || errno == ESRCH))
        fprintf(stderr, "blame %s: %s: there is no such process; " ACCEPTED "\n", command, text);
    else if (maps < 0)
        fprintf(stderr, "blame %s: %s: its memory map cannot be read (%s)%s\n", command, text, strerror(errno),
                geteuid() != 0
                    ? ": the process belongs to another user or has privileges; run this command as that user, or as "
                      "root"
                    : ", not even by root: a container or a sandbox forbids it; run this command outside");
    if (maps < 0)
        return false;
    int count = 0;
    find_measured_below((pid_t)number, 0, running, &count);
    if (count == 0)
        fprintf(stderr,
                "blame %s: %s: neither this process nor any process that it started is being measured; start the "
                "program with blame run\n",
                command, text);
    if (count <= 1)
        return count == 1;
    close(running->file);
    fprintf(stderr,
            "blame %s: %s: %d processes that it started are being measured; give one of them (%d is the "
            "first)\n",
            command, text, count, (int)running->pid);
    return false;
}

bool running_measures(pid_t pid, const char *path)
{
    struct stat here, there;
    int file = open_process_measurement(pid);
    bool same = file >= 0 && fstat(file, &there) == 0 && stat(path, &here) == 0 && here.st_dev == there.st_dev &&
                here.st_ino == there.st_ino;
    if (file >= 0)
        close(file);
    return same;
}
