#include "base/job_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/entries.h"

/* largest number that is tried as a suffix of the directory's name: .1, .2 ... */
#define MOST_ATTEMPTS 100000
/* number of checks of a directory without a mark; another process may be about to remove it, or to put the
 * mark back */
#define MARK_LOOKS 20
/* number of checks while the mark is beside the directory; the process that is removing the directory may be
 * without a core */
#define LEAVING_LOOKS 10000
#define LOOK_NS       1000000

static bool job_path(const char *directory, const char *behind, char *path, size_t bytes)
{
    int length = snprintf(path, bytes, "%s%s", directory, behind);
    if (length >= 0 && (size_t)length < bytes)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static bool job_mark_path(const char *directory, char *path, size_t bytes)
{
    return job_path(directory, "/" JOB_MARK, path, bytes);
}

static bool read_job_mark(const char *mark, char identity[JOB_IDENTITY_BYTES])
{
    int fd = open(mark, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, identity, JOB_IDENTITY_BYTES - 1);
    close(fd);
    identity[got > 0 ? got : 0] = '\0';
    return got > 0;
}

bool job_directory_identity(const char *path, char identity[JOB_IDENTITY_BYTES])
{
    char mark[PATH_MAX];
    return job_mark_path(path, mark, sizeof(mark)) && read_job_mark(mark, identity);
}

static bool write_job_mark(const char *path, const char *identity)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    size_t length = strlen(identity);
    bool good = write(fd, identity, length) == (ssize_t)length;
    int cause = good ? 0 : errno ? errno : ENOSPC;
    if (close(fd) != 0 && good) {
        cause = errno;
        good = false;
    }
    if (!good)
        unlink(path);
    errno = cause;
    return good;
}

/* Makes the directory under a temporary name and renames it, so that it appears together with its mark.
 * Returns true on success, otherwise false with errno set. EEXIST means that the name is taken. */
static bool job_make_marked_directory(const char *path, const char *identity, mode_t mode)
{
    char temporary[PATH_MAX], mark[PATH_MAX], host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof(host) - 1);
    int length = snprintf(temporary, sizeof(temporary), "%s.%s-%d", path, host, (int)getpid());
    if (length < 0 || (size_t)length >= sizeof(temporary) || !job_mark_path(temporary, mark, sizeof(mark))) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdir(temporary, mode) != 0) {
        /* the temporary directory is left from a process with the same number on this host, which was killed
         * before the renaming */
        if (errno == EEXIST)
            errno = EBUSY;
        return false;
    }
    bool made = write_job_mark(mark, identity) && rename(temporary, path) == 0;
    int cause = made ? 0 : errno;
    if (!made) {
        unlink(mark);
        rmdir(temporary);
    }
    errno = cause == ENOTEMPTY || cause == ENOTDIR ? EEXIST : cause;
    return made;
}

/* Returns true if another process is removing the directory. This is the case if the mark is beside it. */
static bool job_directory_is_being_left(const char *path, const char *identity)
{
    char taken[PATH_MAX], found[JOB_IDENTITY_BYTES];
    return job_path(path, JOB_LEAVING, taken, sizeof(taken)) && read_job_mark(taken, found) &&
           strcmp(found, identity) == 0;
}

/* A directory without a mark is checked repeatedly, because another process may be removing it right now. */
bool job_directory_is(const char *path, const char *identity)
{
    char found[JOB_IDENTITY_BYTES];
    struct stat there;
    for (int look = 0; look < MARK_LOOKS || (look < LEAVING_LOOKS && job_directory_is_being_left(path, identity));
         look++) {
        if (job_directory_identity(path, found))
            return strcmp(found, identity) == 0;
        if (stat(path, &there) != 0 || !S_ISDIR(there.st_mode))
            return false;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    /* the mark may have been put back after the last check */
    return job_directory_identity(path, found) && strcmp(found, identity) == 0;
}

/* Returns 1 if the directory belongs to this job, 0 if it belongs to another job, -1 if it cannot be made. */
static int job_directory_try(const char *path, const char *identity, mode_t mode)
{
    for (int again = 0; again < MARK_LOOKS; again++) {
        struct stat there;
        if (lstat(path, &there) == 0) {
            if (job_directory_is(path, identity))
                return 1;
            if (lstat(path, &there) == 0)
                return 0; /* the directory still exists, so it belongs to another job */
        } else {
            if (job_make_marked_directory(path, identity, mode))
                return 1;
            if (errno != EEXIST)
                return -1;
        }
    }
    return 0; /* other processes keep making and removing the directory */
}

bool job_directory_join(const char *wanted, const char *identity, mode_t mode, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s", wanted);
    for (int number = 1; number <= MOST_ATTEMPTS; number++) {
        int taken = job_directory_try(path, identity, mode);
        if (taken)
            return taken > 0;
        int length = snprintf(path, bytes, "%s.%d", wanted, number);
        if (length < 0 || (size_t)length >= bytes) {
            errno = ENAMETOOLONG;
            return false;
        }
    }
    errno = EEXIST;
    return false;
}

bool job_directory_tell(const char *path)
{
    char told[PATH_MAX];
    if (!job_path(path, "/" JOB_TOLD, told, sizeof(told)))
        return false;
    int fd = open(told, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno != EEXIST;
    close(fd);
    return true;
}

static bool job_directory_is_of_mark(const char *name, void *alone)
{
    return *(bool *)alone = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, JOB_MARK) == 0;
}

static bool job_directory_has_only_mark(const char *path)
{
    bool alone = true;
    return entries_visit(path, job_directory_is_of_mark, &alone) && alone;
}

/* Waits until no other process is removing the directory, whose mark our mark would otherwise overwrite.
 * Returns false if it takes too long. */
static bool job_directory_nobody_leaves(const char *taken)
{
    struct stat there;
    for (int look = 0; look < MARK_LOOKS; look++) {
        if (lstat(taken, &there) != 0)
            return errno == ENOENT;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    return false;
}

void job_directory_leave(const char *path)
{
    char before[JOB_IDENTITY_BYTES], identity[JOB_IDENTITY_BYTES], mark[PATH_MAX], taken[PATH_MAX];
    if (!job_mark_path(path, mark, sizeof(mark)) || !job_path(path, JOB_LEAVING, taken, sizeof(taken)) ||
        !job_directory_nobody_leaves(taken) || !job_directory_has_only_mark(path) ||
        !job_directory_identity(path, before) ||
        /* if several processes leave at the same time, only one of them can rename the mark */
        rename(mark, taken) != 0)
        return;
    bool same = read_job_mark(taken, identity) && strcmp(identity, before) == 0;
    if (same && rmdir(path) == 0)
        unlink(taken);
    else /* another process has joined in the meantime, or the directory now belongs to another job */
        rename(taken, mark);
}
