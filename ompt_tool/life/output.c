/* Makes the output directory, which belongs to this process alone or to its job, and opens the measurement
 * file. */
#include "ompt_tool/life/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entries.h"
#include "base/launcher.h"
#include "base/log.h"
#include "base/os.h"
#include "cct/arena.h"
#include "ompt_tool/life/launch.h"
#include "ompt_tool/session/job.h"
#include "ompt_tool/session/session.h"

#define LETTERS      "ephrj%"
#define MOST_NAME    160
#define MAX_ATTEMPTS 100000 /* largest number that is appended to a directory's name: ".1", ".2" ... */
/* maximum number of attempts to join the job's directory while other processes are removing it */
#define MOST_LEFT 20
/* maximum difference in ns between two boot times computed for one machine; the clocks are read one after
 * another, and may be adjusted in between */
#define SAME_BOOT_NS 1000000000

static struct job job; /* all zero: the process belongs to no job */

static void output_append(char *text, size_t bytes, const char *more)
{
    size_t used = strlen(text);
    if (used < bytes)
        snprintf(text + used, bytes - used, "%s", more);
}

/* Returns the program's name for use in a file name. A long name is truncated after a whole UTF-8 character,
 * so that the file name's 255 bytes also have room for the rest. */
static const char *output_program_name(void)
{
    static char name[MOST_NAME + 1];
    const char *whole = session.program;
    size_t length = strnlen(whole, sizeof(name));
    if (length < sizeof(name))
        return whole;
    for (length = MOST_NAME; length > MOST_NAME - 4 && ((unsigned char)whole[length] & 0xc0) == 0x80; length--)
        ;
    memcpy(name, whole, length);
    return name;
}

/* Writes the pattern with these replacements: %e by the program, %p by the pid, %h by the host, %r by the MPI
 * rank, %j by the job, and %% by a percent sign. Everything else is copied. */
static void output_expand(const char *pattern, char *text, size_t bytes)
{
    char number[24], host[HOST_NAME_MAX + 1] = "";
    text[0] = '\0';
    for (const char *at = pattern; *at; at++) {
        char single[3] = {*at, '\0', '\0'};
        const char *piece = single;
        if (*at == '%' && at[1] && strchr(LETTERS, at[1])) {
            switch (*++at) {
            case 'e':
                piece = output_program_name();
                break;
            case 'p':
                piece = log_decimal((uint64_t)getpid(), number);
                break;
            case 'h':
                gethostname(host, sizeof(host) - 1);
                piece = host;
                break;
            case 'r':
                piece = launcher_rank() ? launcher_rank() : "0";
                break;
            case 'j': /* a process that belongs to no job is its own job */
                piece = *job.name ? job.name : log_decimal((uint64_t)getpid(), number);
                break;
            default:
                piece = "%";
            }
        }
        output_append(text, bytes, piece);
    }
}

static void output_check_pattern(const char *pattern)
{
    for (const char *at = pattern; (at = strchr(at, '%')); at += 2)
        if (!at[1] || !strchr(LETTERS, at[1])) {
            log_line_of_job("BLAME_OUT=", pattern,
                            ": expected e, p, h, r, j or % after each %; other letters are kept as they are", NULL);
            return;
        }
}

/* Makes the folders above `path` that do not exist. */
static void output_make_folders_above(const char *path)
{
    char folder[sizeof(session.directory)];
    const char *name = path + strspn(path, "/"), *slash;
    for (; (slash = strchr(name, '/')) && slash[strspn(slash, "/")]; name = slash + strspn(slash, "/")) {
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
        mkdir(folder, 0777);
    }
}

/* Returns true if the path is an existing directory to whose name no number can be appended, because the path
 * ends in a slash, in . or in .. */
static bool output_is_unnamed(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    return (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0) && access(path, F_OK) == 0;
}

/* Returns true if the path is a device or a pipe, beside which no directory should be made. */
static bool output_is_device(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode);
}

/* Returns true if the job's processes share a directory. They do not if BLAME_OUT contains the process or the
 * rank, or if the user wants CSV files of each process (BLAME_CSV=1). */
static bool output_is_shared(void)
{
    const char *csv = secure_getenv("BLAME_CSV");
    for (const char *at = session.options.out; at && (at = strchr(at, '%')); at += 2)
        if (at[1] == 'p' || at[1] == 'r')
            return false;
        else if (!at[1])
            break;
    return !(csv && strcmp(csv, "1") == 0);
}

/* Makes a relative name relative to the directory in which the user started `blame run`, because the program
 * may have changed its current directory. Does nothing if this process cannot enter that directory. */
static void output_begin_in_folder(char *name, size_t bytes)
{
    const char *folder = secure_getenv("BLAME_FOLDER");
    size_t length = folder ? strlen(folder) : 0;
    char own[PATH_MAX];
    if (*name == '/' || !folder || *folder != '/' || access(folder, X_OK) != 0 || length + strlen(name) + 2 > bytes ||
        (getcwd(own, sizeof(own)) && strcmp(own, folder) == 0))
        return;
    memmove(name + length + 1, name, strlen(name) + 1);
    memcpy(name, folder, length);
    name[length] = '/';
}

/* Chooses the directory's name by BLAME_OUT, or the default name. Returns false, after printing a line on
 * stderr, if no directory can have that name. */
static bool output_choose_name(char *wanted, size_t bytes)
{
    const char *name = *job.identity ? "blame-%e-%j" : launcher_rank() ? "blame-%e-%r-%p" : "blame-%e-%p";
    if (session.options.out)
        output_check_pattern(session.options.out);
    output_expand(session.options.out ? session.options.out : name, wanted, bytes);
    output_begin_in_folder(wanted, bytes);
    if (output_is_unnamed(wanted)) {
        output_append(wanted, bytes, "/");
        size_t length = strlen(wanted);
        output_expand(name, wanted + length, bytes - length);
    }
    if (!output_is_device(wanted))
        return true;
    log_line_of_job("BLAME_OUT=", wanted,
                    ": this is a device or a pipe; expected the name of a directory; nothing is measured", NULL);
    return false;
}

/* Returns true if the file was made on this machine since the machine booted. (Another machine that shares
 * the folder has booted at another time.) */
static bool output_is_of_this_machine(const struct profile_header *header)
{
    int64_t booted_ns = header->start_realtime_ns - (int64_t)header->start_ns;
    return llabs(booted_ns - (clock_realtime_ns() - (int64_t)clock_now_ns())) < SAME_BOOT_NS;
}

/* Returns true if this process made the file before it executed its present program (exec), and measured
 * nothing, because it began no region. */
static bool output_is_left_by_us(const char *path)
{
    struct profile_header header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ours = fd >= 0 && read(fd, &header, sizeof(header)) == sizeof(header) &&
                memcmp(header.magic, PROFILE_MAGIC, sizeof(header.magic)) == 0 && header.version == PROFILE_VERSION &&
                header.pid == getpid() && header.wants_region && !header.in_job &&
                header.start_ns + OS_PROCESS_START_UNSURE_NS >= os_process_start_ns() &&
                output_is_of_this_machine(&header);
    if (fd >= 0)
        close(fd);
    return ours;
}

/* A directory in which this process may have left a profile, and how that file's name ends. */
struct left_profile {
    const char *path;
    char end[32];
};

static bool output_remove_if_left(const char *name, void *argument)
{
    const struct left_profile *left = argument;
    char file[PATH_MAX];
    size_t length = strlen(name), end = strlen(left->end);
    bool named = length > end && strcmp(name + length - end, left->end) == 0;
    if (named && snprintf(file, sizeof(file), "%s/%s", left->path, name) < (int)sizeof(file) &&
        output_is_left_by_us(file)) {
        unlink(file);
        rmdir(left->path);
    }
    return true;
}

/* If this process left a profile without a region there before exec, removes the profile, so that the present
 * program can use the directory's name. */
static void output_remove_left_profile(const char *path)
{
    struct left_profile left = {.path = path};
    snprintf(left.end, sizeof(left.end), "-%d.blame", (int)getpid());
    entries_visit(path, output_remove_if_left, &left);
}

/* Makes a directory for this process alone. If the name is taken, appends a number; an existing directory is
 * never used. */
static bool output_make_own(const char *wanted)
{
    if (launch_notes())
        output_remove_left_profile(wanted);
    snprintf(session.directory, sizeof(session.directory), "%s", wanted);
    for (int i = 1; i <= MAX_ATTEMPTS; i++) {
        if (mkdir(session.directory, session.options.private ? 0700 : 0777) == 0)
            return true;
        if (errno != EEXIST)
            break;
        snprintf(session.directory, sizeof(session.directory), "%s.%d", wanted, i);
    }
    return false;
}

/* Returns true if a file of this user may be in that directory. If the file must be private, the directory
 * must belong to the user. Otherwise returns false with errno set. */
static bool output_may_lie_in(const struct stat *directory)
{
    errno = EPERM;
    return !session.options.private || directory->st_uid == geteuid();
}

/* Reads the status of the directory that was just made into *made. A user who may write to the folder above
 * could have replaced the directory by a link, or by another directory. If so, returns false with errno set. */
static bool output_look_at_directory(struct stat *made)
{
    if (lstat(session.directory, made) != 0)
        return false;
    if (S_ISDIR(made->st_mode))
        return output_may_lie_in(made);
    errno = ENOTDIR;
    return false;
}

/* Makes the directory's path absolute, because the program may change its current directory later. realpath() would
 * use the heap for long paths. */
static void output_make_absolute(void)
{
    char absolute[sizeof(session.directory)];
    int fd = open(session.directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && os_file_path(fd, absolute, sizeof(absolute)) && absolute[0] == '/')
        strcpy(session.directory, absolute);
    if (fd >= 0)
        close(fd);
}

static mode_t output_file_mode(void)
{
    return session.options.private ? 0600 : 0666;
}

/* Opens the measurement file in memory or in TMPDIR, because shared mappings of files on a network file
 * system stall. The file is moved to its place at the end. */
static bool output_open_elsewhere(void)
{
    const char *places[] = {"/dev/shm", secure_getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (!places[i])
            continue;
        snprintf(session.file, sizeof(session.file), "%s/%s-%d.blame", places[i], output_program_name(), (int)getpid());
        if (arena_open(session.file, output_file_mode()))
            return true;
    }
    return false;
}

static bool output_is_network(void)
{
    return os_is_network_path(session.directory) || secure_getenv("BLAME_TEST_NETWORK");
}

/* Creates an empty file of this name, so that no other process of the job uses the name. Returns false with
 * errno set on failure. */
static bool output_claim_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, output_file_mode());
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

/* Counts only measurement files, not marks and not logs of stacks. */
static bool output_count_file(const char *name, void *count)
{
    size_t length = strlen(name);
    *(uint32_t *)count += name[0] != '.' && length > 6 && strcmp(name + length - 6, ".blame") == 0;
    return true;
}

static uint32_t output_count_files(void)
{
    uint32_t count = 0;
    entries_visit(session.directory, output_count_file, &count);
    return count;
}

/* Opens the file of this rank; if that exists, the file of the rank's next process. A process without a rank
 * takes the next free rank number. Returns false with errno set on failure. */
static bool output_open_in_job(void)
{
    uint32_t *counted = job.ranked ? &session.process : &job.rank;
    bool network = output_is_network();
    if (!job.ranked)
        job.rank = output_count_files();
    for (int i = 0; i < MAX_ATTEMPTS; i++, ++*counted) {
        char *path = network ? session.target : session.file;
        int used = snprintf(path, sizeof(session.target), "%s/" JOB_RANK_FORMAT, session.directory, job.rank);
        if (session.process) /* replaces ".blame" */
            snprintf(path + used - strlen(".blame"), 32, ".%u.blame", session.process);
        if (network ? output_claim_file(path) : arena_open(path, output_file_mode()))
            return !network || output_open_elsewhere();
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* Joins the job's directory and opens a file in it. If another process removes the directory because it
 * leaves, joins again. Returns false with errno set on failure. */
static bool output_join_job(const char *wanted)
{
    struct stat status;
    for (int i = 0; i < MOST_LEFT; i++) {
        session.process = 0;
        if (!job_directory_join(wanted, job.identity, session.options.private ? 0700 : 0777, session.directory,
                                sizeof(session.directory)))
            return false;
        output_make_absolute();
        if (stat(session.directory, &status) == 0 && !output_may_lie_in(&status))
            return false;
        bool opened = output_open_in_job();
        if (opened && job_directory_is(session.directory, job.identity))
            return true;
        int cause = opened ? ENOENT : errno;
        if (opened)
            arena_abandon();
        if (opened)
            unlink(session.file);
        unlink(session.target);
        job_directory_leave(session.directory);
        errno = cause;
        if (cause != ENOENT)
            return false;
    }
    return false;
}

static bool output_open_own(void)
{
    snprintf(session.file, sizeof(session.file), "%s/%s-%d.blame", session.directory, output_program_name(),
             (int)getpid());
    return output_is_network() ? output_open_elsewhere() : arena_open(session.file, output_file_mode());
}

/* Opens the file in the directory that was just made. If the file is then found to be in another directory,
 * removes it and returns false. */
static bool output_open_inside(const struct stat *made)
{
    struct stat directory, file;
    if (!output_open_own())
        return false;
    if (lstat(session.directory, &directory) == 0 && directory.st_dev == made->st_dev &&
        directory.st_ino == made->st_ino && lstat(session.file, &file) == 0 && S_ISREG(file.st_mode))
        return true;
    arena_abandon();
    unlink(session.file);
    errno = ESTALE;
    return false;
}

bool output_open(void)
{
    char wanted[sizeof(session.directory) - 16]; /* leaves room for a number that is appended to the name */
    session.target[0] = '\0';
    session.job = NULL;
    session.process = 0;
    bool shared = job_find(&job) && output_is_shared();
    if (!shared)
        *job.identity = '\0';
    if (!output_choose_name(wanted, sizeof(wanted)))
        return false;
    output_make_folders_above(wanted);
    if (shared && output_join_job(wanted)) {
        session.job = &job;
        return true;
    }
    int why = shared ? errno : 0;
    *job.identity = '\0';
    if (!output_make_own(wanted)) {
        log_line("BLAME_OUT=", wanted, ": cannot create this directory: ", strerror(errno), "; nothing is measured",
                 NULL);
        return false;
    }
    struct stat made;
    bool good = output_look_at_directory(&made), opened = false;
    if (good) {
        output_make_absolute();
        opened = output_open_inside(&made);
    }
    int cause = errno;
    if (opened) {
        if (why)
            log_line(wanted, ": cannot be the directory of the job: ", strerror(why), "; this process writes to ",
                     session.directory, NULL);
        return true;
    }
    if (good && cause != ESTALE)
        rmdir(session.directory);
    log_line(session.directory, ": cannot write to this directory: ", strerror(cause), "; nothing is measured", NULL);
    return false;
}
