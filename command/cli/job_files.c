#include "command/cli/job_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job_directory.h"
#include "base/log.h"
#include "command/cli/progress.h"
#include "command/profile/balance_job.h"
#include "command/profile/job.h"
#include "command/profile/merge.h"
#include "command/profile/read.h"
#include "command/profile/write.h"
#include "command/text/memory.h"
#include "command/text/unfinished.h"

/* ---- merging the ranks ---- */

/* The files of a job's ranks are merged in groups of JOB_TREE_FILES, in the order of the list. Each group
 * gives a part of level 0. Part n of the next level is merged from parts 2n and 2n + 1, or is part 2n alone.
 * The shape of this tree depends only on the number of files, so the result is the same to the bit for any
 * number of processes. A process needs memory for two parts. Parts grow with the number of contexts that the
 * ranks have between them. */

#define JOB_TREE_FILES 64

#define PATH_BYTES 32

struct part {
    size_t first, count; /* level 0: indices of the merged files in the list */
    size_t left, right;  /* higher levels: indices of the two merged parts */
    /* descriptor of the file in memory that holds the part; -1 once it has been merged into another */
    int file;
    pid_t process; /* pid of the process that merges the part */
    enum { PART_OPEN, PART_BEGUN, PART_DONE } state;
};

struct work {
    const struct job_tree *tree;
    struct part *part;
    size_t count, leaves, running, files_done;
};

size_t job_tree_parts(const struct job_tree *tree)
{
    return (tree->count + JOB_TREE_FILES - 1) / JOB_TREE_FILES;
}

int job_tree_file(const char *command)
{
    int file = memfd_create("blame-part", MFD_CLOEXEC);
    if (file < 0)
        fprintf(stderr, "blame %s: cannot create a file in memory: %s\n", command, strerror(errno));
    return file;
}

struct profile *job_tree_read(const struct job_tree *tree, int file, int other)
{
    char path[2][PATH_BYTES];
    const char *paths[] = {path[0], path[1]};
    snprintf(path[0], PATH_BYTES, "/proc/self/fd/%d", file);
    snprintf(path[1], PATH_BYTES, "/proc/self/fd/%d", other);
    struct profile *joined = job_join_parts(paths, other < 0 ? 1 : 2);
    if (!joined)
        fprintf(stderr, "blame %s: not enough memory to reread a merged part of the job\n", tree->command);
    return joined;
}

/* Writes a profile to the file, which stays open, and frees the profile. Returns false after a message, or if
 * the profile is NULL. */
static bool write_job_part(const struct job_tree *tree, struct profile *profile, int file)
{
    if (!profile)
        return false;
    int copy = dup(file), wrong = copy < 0 ? errno : profile_write_fd(profile, copy);
    profile_free(profile);
    if (wrong)
        fprintf(stderr, "blame %s: not enough memory for a part of the job: %s\n", tree->command, strerror(wrong));
    return !wrong;
}

int job_tree_join(const struct job_tree *tree, int file, int other)
{
    int to = job_tree_file(tree->command);
    if (to >= 0 && !write_job_part(tree, job_tree_read(tree, file, other), to)) {
        close(to);
        to = -1;
    }
    close(file);
    close(other);
    return to;
}

static bool make_job_part(const struct work *work, const struct part *part)
{
    const struct job_tree *tree = work->tree;
    const struct part *parts = work->part;
    return write_job_part(tree,
                          part->count ? job_read_part(tree->paths + part->first, part->count, &tree->like)
                                      : job_tree_read(tree, parts[part->left].file, parts[part->right].file),
                          part->file);
}

/* Lists the parts of all levels. The last part is the whole job. */
static void plan_job_parts(struct work *work, size_t first, size_t count)
{
    work->leaves = count;
    work->part = memory_array(2 * count, sizeof *work->part);
    for (size_t i = 0; i < count; i++) {
        size_t begin = (first + i) * JOB_TREE_FILES, end = begin + JOB_TREE_FILES;
        work->part[work->count++] =
            (struct part){.first = begin, .count = (end < work->tree->count ? end : work->tree->count) - begin};
    }
    size_t *level = memory_array(count, sizeof *level);
    for (size_t i = 0; i < count; i++)
        level[i] = i;
    for (; count > 1; count = (count + 1) / 2)
        for (size_t i = 0; i < count; i += 2) {
            if (i + 1 < count)
                work->part[work->count++] = (struct part){.left = level[i], .right = level[i + 1]};
            level[i / 2] = i + 1 < count ? work->count - 1 : level[i];
        }
    free(level);
}

static void finish_job_part(struct work *work, struct part *part)
{
    part->state = PART_DONE;
    if (part->count) {
        work->files_done += part->count;
        if (work->tree->progress)
            work->tree->progress(work->files_done, work->tree->count);
        return;
    }
    close(work->part[part->left].file);
    close(work->part[part->right].file);
    work->part[part->left].file = work->part[part->right].file = -1;
}

/* Returns the next part to make: a part whose two inputs are ready, or else a part of level 0. Returns NULL
 * if every other part waits for inputs. */
static struct part *choose_job_part(const struct work *work)
{
    const struct part *parts = work->part;
    for (size_t i = work->leaves; i < work->count; i++)
        if (parts[i].state == PART_OPEN && parts[parts[i].left].state == PART_DONE &&
            parts[parts[i].right].state == PART_DONE)
            return &work->part[i];
    for (size_t i = 0; i < work->leaves; i++)
        if (parts[i].state == PART_OPEN)
            return &work->part[i];
    return NULL;
}

static bool begin_job_part(struct work *work, struct part *part)
{
    part->file = job_tree_file(work->tree->command);
    if (part->file < 0)
        return false;
    part->state = PART_BEGUN;
    if (work->tree->jobs == 1) {
        bool made = make_job_part(work, part);
        finish_job_part(work, part);
        return made;
    }
    fflush(NULL);
    part->process = fork();
    if (part->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(make_job_part(work, part) ? 0 : 1);
    }
    if (part->process < 0)
        fprintf(stderr, "blame %s: cannot start a process: %s; -j 1 merges without other processes\n",
                work->tree->command, strerror(errno));
    work->running += part->process > 0;
    return part->process > 0;
}

/* Waits until one process has ended. Returns false if its part was not made, after a message from this
 * process or that one. */
static bool await_job_part(struct work *work)
{
    int status;
    pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0)
        return errno == EINTR;
    for (size_t i = 0; i < work->count; i++) {
        struct part *part = &work->part[i];
        if (part->state != PART_BEGUN || part->process != ended)
            continue;
        work->running--;
        if (WIFSIGNALED(status))
            fprintf(stderr,
                    "blame %s: signal %d ended a process that merged a part of the job; if memory is scarce, use -j 1, "
                    "which needs the least\n",
                    work->tree->command, WTERMSIG(status));
        finish_job_part(work, part);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return true;
}

static void stop_job_parts(struct work *work)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->part[i].state == PART_BEGUN && work->part[i].process > 0)
            kill(work->part[i].process, SIGKILL);
    for (size_t i = 0; i < work->count; i++)
        if (work->part[i].state == PART_BEGUN && work->part[i].process > 0)
            waitpid(work->part[i].process, NULL, 0);
}

int job_tree_merge(const struct job_tree *tree, size_t first, size_t count)
{
    struct work work = {.tree = tree};
    bool good = true;
    plan_job_parts(&work, first, count);
    for (size_t i = 0; i < work.count; i++)
        work.part[i].file = -1;
    while (good && work.part[work.count - 1].state != PART_DONE) {
        struct part *next = work.running < (size_t)tree->jobs ? choose_job_part(&work) : NULL;
        good = next ? begin_job_part(&work, next) : await_job_part(&work);
    }
    if (!good)
        stop_job_parts(&work);
    int made = -1;
    if (good) {
        made = work.part[work.count - 1].file;
        work.part[work.count - 1].file = -1;
    }
    for (size_t i = 0; i < work.count; i++)
        if (work.part[i].file >= 0)
            close(work.part[i].file);
    free(work.part);
    return made;
}

/* ---- the files ---- */

int is_measurement(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 6 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 6, ".blame") == 0;
}

static int is_rank_measurement(const struct dirent *entry)
{
    return is_measurement(entry) && strcmp(entry->d_name, JOB_FILE) != 0;
}

struct job_files job_list_files(const char *directory)
{
    struct dirent **found = NULL;
    struct job_files files = {.count = scandir(directory, &found, is_rank_measurement, alphasort)};
    if (files.count < 0)
        files.count = 0;
    files.path = memory_array((size_t)files.count, sizeof *files.path);
    for (int i = 0; i < files.count; i++) {
        files.path[i] = memory_text("%s/%s", directory, found[i]->d_name);
        free(found[i]);
    }
    free(found);
    return files;
}

struct job_files job_find_files(const char *path, const struct profile *profile)
{
    struct stat status;
    struct job_files files = {0};
    if (!profile->header.merged)
        return files;
    char *directory = memory_text("%s", path);
    bool inside = stat(directory, &status) == 0 && !S_ISDIR(status.st_mode);
    files = job_list_files(inside ? dirname(directory) : directory);
    free(directory);
    return files;
}

void job_free_files(struct job_files *files)
{
    for (int i = 0; i < files->count; i++)
        free(files->path[i]);
    free(files->path);
}

bool job_is_there(const char *directory)
{
    char identity[JOB_IDENTITY_BYTES], *made = memory_text("%s/" JOB_FILE, directory);
    bool there = job_directory_identity(directory, identity) || access(made, F_OK) == 0;
    free(made);
    return there;
}

/* Removes the file of kept names, which refers to modules by their numbers in the previous merge. */
static void remove_kept_names(const char *output)
{
    size_t length = strlen(output), ending = strlen(".blame");
    if (length < ending || strcmp(output + length - ending, ".blame") != 0)
        return;
    char *names = memory_text("%.*s.symbols", (int)(length - ending), output);
    unlink(names);
    free(names);
}

/* Returns the number of processes that merge. The default is one for each core: more are not faster, and each
 * needs memory for two parts. */
static int choose_jobs(int jobs)
{
    cpu_set_t cores;
    if (jobs == 0)
        jobs = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    return jobs;
}

static struct profile *read_job_parts(struct job_tree *tree, char **why)
{
    tree->progress = progress_step;
    job_reference_find(&tree->like, tree->paths, tree->count);
    int made = job_tree_merge(tree, 0, job_tree_parts(tree));
    if (made < 0)
        return NULL;
    struct profile *part = job_tree_read(tree, made, -1);
    close(made);
    return part ? job_complete(part, why) : NULL;
}

struct profile *(*job_read_tree)(struct job_tree *tree, char **why) = read_job_parts;

/* Reads and merges the files. On failure, returns NULL after a message or with the reason in *why. */
static struct profile *read_rank_files(const char *command, const struct job_files *files, const char *identity,
                                       int jobs, char **why)
{
    struct job_tree tree = {.command = command,
                            .paths = (const char *const *)files->path,
                            .count = (size_t)files->count,
                            .like = {.identity = identity},
                            .jobs = choose_jobs(jobs)};
    if (job_tree_parts(&tree) == 1) {
        profile_read_progress = progress_step;
        return job_read(tree.paths, tree.count, identity, why);
    }
    struct profile *profile = job_read_tree(&tree, why);
    job_reference_free(&tree.like);
    return profile;
}

/* Writes the merged profile and sets its modification time to `listed`, when the files were listed. A rank's
 * file that appears during the merge is therefore newer. */
static bool job_write(const char *command, const char *directory, const struct profile *profile, const char *output,
                      const struct timespec *listed)
{
    remove_kept_names(output);
    int wrong = profile_write(profile, output);
    if (wrong)
        fprintf(stderr, "blame %s: %s: %s; blame merge %s --output FILE writes it elsewhere\n", command, output,
                strerror(wrong), log_word(directory, (char[LOG_WORD_BYTES]){0}));
    else
        utimensat(AT_FDCWD, output, (struct timespec[]){*listed, *listed}, 0);
    return !wrong;
}

bool job_merge(const char *command, const char *directory, const char *output, int jobs)
{
    char identity[JOB_IDENTITY_BYTES], *why = NULL;
    bool known = job_directory_identity(directory, identity);
    struct timespec listed; /* when the files were listed, on the file system's clock */
    clock_gettime(CLOCK_REALTIME_COARSE, &listed);
    struct job_files files = job_list_files(directory);
    if (!files.count) {
        fprintf(stderr, JOB_WITHOUT_FILES, command, directory);
        job_free_files(&files);
        return false;
    }
    progress_start(isatty(STDERR_FILENO) ? stderr : NULL, clock_now_ns);
    progress_phase("merging the ranks");
    struct profile *profile = read_rank_files(command, &files, known ? identity : NULL, jobs, &why);
    if (profile) {
        progress_phase("comparing the ranks");
        profile_read_progress = progress_step;
        job_add_balance(profile, (const char *const *)files.path, (size_t)files.count, known ? identity : NULL);
    }
    progress_end();
    job_free_files(&files);
    if (!profile) {
        if (why)
            fprintf(stderr, "blame %s: %s: no file of the job can be read: %s\n", command, directory, why);
        free(why);
        return false;
    }
    bool written = job_write(command, directory, profile, output, &listed);
    profile_free(profile);
    return written;
}

static bool is_older_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Returns whether a rank may have written since the merge, because one was still running then. Modification
 * times do not show this: writing through a mapping leaves them unchanged. Returns false if a rank's file is
 * missing, because a new merge would lose that rank. */
static bool may_have_grown(const char *made, const struct job_files *files)
{
    struct profile_header header;
    return profile_read_header(made, &header) && header.growing && (uint32_t)files->count >= header.merged;
}

/* Returns whether job.blame contains all files. It stays valid after ranks' files were removed. A copied file
 * may have an old modification time, so the time of its last status change is checked too if there are more
 * files than were merged. */
static bool job_is_current(const char *made, const struct job_files *files)
{
    struct stat job, rank;
    struct profile_header header;
    if (stat(made, &job) != 0)
        return false;
    bool known = profile_read_header(made, &header), more = known && (uint32_t)files->count > header.merged;
    /* Some ranks' files are missing. The rest may be copies, whose times say nothing. */
    if (known && (uint32_t)files->count < header.merged)
        return true;
    for (int i = 0; i < files->count; i++)
        if (stat(files->path[i], &rank) == 0 &&
            (is_older_time(&job.st_mtim, &rank.st_mtim) || (more && is_older_time(&job.st_mtim, &rank.st_ctim))))
            return false;
    return !may_have_grown(made, files);
}

/* Creates a temporary folder and returns the path at which this command merges the job, malloc'ed. Returns
 * NULL after a message. */
static char *make_job_elsewhere(const char *command, const char *directory)
{
    const char *place = getenv("TMPDIR");
    char *folder = memory_text("%s/blame-job-XXXXXX", place && *place ? place : "/tmp");
    if (!unfinished_temporary(folder)) {
        fprintf(stderr,
                "blame %s: %s: neither this directory nor %s (TMPDIR) can be written to: %s; use blame merge %s "
                "--output FILE, then read FILE\n",
                command, directory, place && *place ? place : "/tmp", strerror(errno),
                log_word(directory, (char[LOG_WORD_BYTES]){0}));
        free(folder);
        return NULL;
    }
    fprintf(stderr,
            "blame %s: %s: this directory cannot be written to, so the merged job is not kept after this command; "
            "blame merge %s --output FILE keeps it\n",
            command, directory, log_word(directory, (char[LOG_WORD_BYTES]){0}));
    char *made = memory_text("%s/" JOB_FILE, folder);
    free(folder);
    return made;
}

char *job_measurement(const char *command, const char *directory)
{
    char *made = memory_text("%s/" JOB_FILE, directory);
    struct job_files files = job_list_files(directory);
    bool good = job_is_current(made, &files);
    if (!good && access(directory, W_OK) != 0) {
        free(made);
        made = make_job_elsewhere(command, directory);
    }
    good = good || (made && job_merge(command, directory, made, 0));
    job_free_files(&files);
    if (good)
        return made;
    free(made);
    return NULL;
}
